import type { LiveDataCollection, LiveDataEntry } from 'astro';
import type { LiveLoader } from 'astro/loaders';
import { definedRequest, type SnippetDefinition } from '../client/define-snippet.ts';
import type { Params } from '../client/params.ts';
import { SnippetError } from '../client/snippet-error.ts';
import { createRequest, type SnippetRequest } from '../client/snippet-request.ts';
import { isSnippetFailure, UserError, userError } from '../failures/errors.ts';
import { LiveSnippetError } from './live-error.ts';
import { type LiveSnippetOptions, parseLiveOptions } from './live-options.ts';
import { type LiveSnippetData, LiveSnippets, type LiveSurroundings } from './live-snippets.ts';

/** What `getLiveEntry` takes: an id, or a snippet from `defineSnippet`, with the params to pass. */
export type LiveSnippetFilter =
  | { id: number | string; params?: Params | undefined }
  | { of: SnippetDefinition; params?: Params | undefined };

/** What `getLiveCollection` takes: the service has no list of snippets, so their ids have to be named. */
export interface LiveSnippetsFilter {
  ids: readonly (number | string)[];
  params?: Params | undefined;
}

/** The loader of a live collection of snippets. */
export interface LiveSnippetLoader
  extends LiveLoader<LiveSnippetData, LiveSnippetFilter, LiveSnippetsFilter, LiveSnippetError> {
  /** @internal Forgets the contents of a snippet. */
  forget(id: number): void;
}

/** Makes the loader, with all that it takes from Astro's runtime passed in. @throws SnippetError `invalid-options` */
export function createLiveLoader(
  options: LiveSnippetOptions,
  surroundings: LiveSurroundings,
): LiveSnippetLoader {
  const snippets = new LiveSnippets(parseLiveOptions(options), surroundings);

  const loadEntry = (filter: LiveSnippetFilter) =>
    asResult(async () => {
      const request = await requestOf(filter);
      const data = await snippets.get(request).catch(ignoreMissing);
      return data && toEntry(request, data);
    });

  return {
    name: 'astro-snippets',
    forget: (id) => snippets.forget(id),
    loadEntry: ({ filter }) => loadEntry(filter),
    loadCollection: ({ filter, collection }) =>
      asResult(async () => {
        if (!filter?.ids) {
          throw userError(
            'invalid-options',
            `The service has no list of snippets, so the live collection ${collection} has none either.`,
            `Name the snippets: getLiveCollection('${collection}', { ids: [42] }).`,
          );
        }
        const { ids, params } = filter;
        const requests = ids.map((id) => createRequest(id, params));
        const found = await Promise.all(
          requests.map(async (request) => {
            const data = await snippets.get(request).catch(ignoreMissing);
            return data ? [toEntry(request, data)] : [];
          }),
        );
        return { entries: found.flat(), cacheHint: cacheHintOf(requests) } satisfies LiveDataCollection;
      }),
  };
}

/** A snippet that does not exist is no error: Astro says that there is no such entry. */
function ignoreMissing(error: unknown): undefined {
  if (error instanceof SnippetError && error.code === 'not-found') return undefined;
  throw error;
}

/** Turns our errors into results. Any other is a mistake in code, which Astro reports with its stack. */
async function asResult<Result>(load: () => Promise<Result>): Promise<Result | { error: LiveSnippetError }> {
  try {
    return await load();
  } catch (error) {
    const isOurs = isSnippetFailure(error) || error instanceof UserError;
    if (!isOurs || error.code === undefined) throw error;
    return { error: new LiveSnippetError(error, error.code) };
  }
}

async function requestOf(filter: LiveSnippetFilter): Promise<SnippetRequest> {
  if ('of' in filter) return definedRequest(filter.of, filter.params);
  return createRequest(filter.id, filter.params);
}

function toEntry(request: SnippetRequest, data: LiveSnippetData): LiveDataEntry<LiveSnippetData> {
  return {
    id: `${request.id}`,
    data,
    rendered: { html: data.content },
    cacheHint: cacheHintOf([request]),
  };
}

/**
 * The tags by which pages that show a snippet are purged from a cache, whatever its params. There is no `lastModified`:
 * the service does not say when a snippet was changed.
 */
const cacheHintOf = (requests: readonly SnippetRequest[]) => ({
  tags: [...new Set(requests.map(({ id }) => `snippet-${id}`))],
});
