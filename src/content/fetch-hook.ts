import type { PreparedSnippet } from '../html-rules/apply-rules.ts';
import type { WantedSnippet } from '../wanted/page-embeds.ts';

/**
 * A hook of the integration, through which a loader has snippets fetched. Astro loads a loader together with the
 * site's code; the key, and the client that holds it, stay on the integration's side.
 *
 * @param options `who` says what needs the snippets, as the beginning of a sentence.
 * @throws AstroError with the report of every snippet that cannot be had.
 */
export type FetchHook = (options: {
  who: string;
  snippets: readonly WantedSnippet[];
  warn(line: string): void;
}) => Promise<ReadonlyMap<WantedSnippet, PreparedSnippet>>;

declare global {
  namespace Astro {
    interface IntegrationHooks {
      'astro-snippets:fetch'?: FetchHook;
    }
  }
}
