import type { SnippetRequest } from '../client/snippet-request.ts';
import type { FetchedSnippets } from './fetch-snippets.ts';
import type { SnippetUse } from './file-embeds.ts';

/** An entry of a collection that shows a snippet. */
export interface CollectionEntry {
  collection: string;
  entry: string;
}

/** How people know an entry of a collection. */
export function entryName({ collection, entry }: CollectionEntry): string {
  return `${collection} (collection), entry "${entry}"`;
}

/**
 * A hook of the integration that fetches snippets for a loader. Astro loads a loader together with the site's code; the
 * key, and the client that uses it, stay with the integration.
 *
 * @throws AstroError with one report of every snippet that could not be fetched.
 */
export type FetchHook = (options: {
  uses: readonly SnippetUse[];
  /** The collection that is loaded. */
  collection: string;
  /** What each of its entries shows. */
  entries: ReadonlyMap<string, SnippetRequest>;
}) => Promise<FetchedSnippets>;

declare global {
  namespace Astro {
    interface IntegrationHooks {
      'astro-snippets:fetch'?: FetchHook;
    }
  }
}
