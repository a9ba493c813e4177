import type { AstroIntegrationLogger } from 'astro';
import type { CacheEntry } from '../cache/cache-entry.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { createSource } from '../create-source.ts';
import type { Settings } from '../options.ts';
import { hashOf, type Manifest, readManifest } from '../publish/manifest.ts';
import type { SnippetSource } from '../snippet-source.ts';
import { consequenceOf } from '../wanted/consequence.ts';
import { snippetKey } from '../wanted/snippet-key.ts';
import { AskOnce } from './ask-once.ts';
import { describeNotice } from './summary.ts';

export interface BuildBeginning {
  /** The record of the build before, where there is one. */
  before: Manifest | undefined;
  /**
   * What the build asks: the source that has been asked early, or one that is made now.
   *
   * @throws AstroError when the key or the addresses are not set.
   */
  source(who: string): SnippetSource;
  /** Begins to ask for a snippet, before anybody waits for it. What becomes of it is seen by whoever does. */
  ask(snippet: { id: number; params?: string | undefined }): void;
  /** Calls `erase` before a warning is written, so that it does not end in the middle of a progress bar. */
  beforeWarning(erase: () => void): void;
  end(): Promise<void>;
}

/**
 * Reads what the last build showed, and begins to ask for it, while Astro still bundles. A snippet that is not
 * embedded any more costs a request and nothing else; one that fails here is asked for again when a page needs it.
 */
export async function beginBuild(
  manifest: string,
  settings: Settings,
  logger: AstroIntegrationLogger,
): Promise<BuildBeginning> {
  const before = await readManifest(manifest);
  // With an answer that would be the same for each, such as to a key that is not valid, asking early ends.
  const ended = new AbortController();
  let erase = () => {};
  let source: SnippetSource | undefined;
  const warn = (line: string) => {
    erase();
    logger.warn(line);
  };
  const beginning: BuildBeginning = {
    before,
    source(who) {
      source ??= new AskOnce(
        createSource(settings, who, {
          warn,
          onNotice: (notice) => warn(describeNotice(notice)),
          isSuperseded: supersededBy(before),
        }),
      );
      return source;
    },
    ask({ id, params }) {
      if (!canAsk(settings) || ended.signal.aborted) return;
      const { signal } = ended;
      const early = beginning.source('The site');
      early.get(id, params === undefined ? undefined : JSON.parse(params), { signal }).catch((error) => {
        if (error instanceof SnippetError && consequenceOf(error.code) === 'end') ended.abort();
      });
    },
    beforeWarning(call) {
      erase = call;
    },
    async end() {
      await source?.close();
    },
  };
  for (const snippet of before?.snippets ?? []) beginning.ask(snippet);
  return beginning;
}

function canAsk({ apiKey, renderBaseUrl, retrieveBaseUrl }: Settings): boolean {
  return apiKey !== undefined && (renderBaseUrl !== undefined || retrieveBaseUrl !== undefined);
}

/** An answer is too old when the site has shown another one since: a refresh asks the service itself. */
function supersededBy(
  before: Manifest | undefined,
): (id: number, params: string | undefined, entry: CacheEntry) => boolean {
  const shown = new Map(
    before?.snippets.map(({ id, params, content }) => [snippetKey(id, params), content] as const),
  );
  return (id, params, { content, fetchedAt }) => {
    const known = shown.get(snippetKey(id, params));
    return known !== undefined && fetchedAt < known.fetchedAt && hashOf(content) !== known.hash;
  };
}
