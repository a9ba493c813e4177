import { count } from '../client/format.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import type { Progress } from '../progress.ts';
import {
  type FetchedSnippet,
  type FetchedSnippets,
  type SnippetFetcher,
  warningsOf,
} from '../snippets/fetch-snippets.ts';
import type { SnippetUse } from '../snippets/file-embeds.ts';
import { hashOf, type Manifest, namesOf, nowhere, requestsOf, type Shown, shownOn } from './manifest.ts';

/** A snippet whose content differs from what the site shows, and where the site shows other content. */
export interface ChangedSnippet extends Shown {
  request: SnippetRequest;
  /** Whether it no longer exists, so that its embeds, which are optional, show their children. */
  isMissing: boolean;
  /** The hash of its content now; `undefined` if it no longer exists. */
  newHash: string | undefined;
}

export interface Changes {
  /** All snippets of the manifest, in its order; `undefined` for an optional one that does not exist. */
  snippets: (FetchedSnippet | undefined)[];
  /** The hash of the content of each of them. */
  hashes: (string | undefined)[];
  changed: ChangedSnippet[];
  /** Flaws of changed snippets that do not keep them from being shown. */
  warnings: string[];
}

/**
 * Fetches every snippet of the manifest, and finds those that have changed.
 *
 * @throws AstroError with one report if a snippet could not be fetched.
 */
export async function findChanges(
  manifest: Manifest,
  fetcher: SnippetFetcher,
  { signal, progress = () => {} }: { signal?: AbortSignal | undefined; progress?: Progress | undefined } = {},
): Promise<Changes> {
  const uses = usesOf(manifest);
  const onSettled = (done: number) => progress(() => `${done} of ${count(uses.length, 'snippet')} fetched`);
  const fetched = await fetcher.fetch(uses, { signal, onSettled });
  const snippets = uses.map(({ request }) => fetched.get(request.key));
  const hashes = snippets.map((snippet) => snippet && hashOf(snippet.content));
  const outdated = shownOn(manifest, hashes);
  const changed = uses.flatMap(({ request }, index) => {
    const { pages = [], collections = [] } = outdated[index] ?? {};
    const isMissing = snippets[index] === undefined;
    const change = { request, pages, collections, isMissing, newHash: hashes[index] };
    return pages.length + collections.length === 0 ? [] : [change];
  });
  return { snippets, hashes, changed, warnings: warningsOf(changedOf(fetched, changed), uses) };
}

/**
 * What a site needs, in the order of its snippets. Without children: where it shows them, it waits for the snippet,
 * unless that does not exist.
 */
export function usesOf(manifest: Manifest): SnippetUse[] {
  const shown = shownOn(manifest);
  const optional = new Map<number, Set<string>>();
  for (const { name, optional: indexes = [] } of manifest.files) {
    for (const index of indexes) optional.set(index, (optional.get(index) ?? new Set()).add(name));
  }
  return requestsOf(manifest).map((request, index) => {
    const places = namesOf(shown[index] ?? nowhere);
    const optionalPlaces = optional.get(index);
    return {
      request,
      places,
      placesWithoutChildren: places,
      ...(optionalPlaces !== undefined && { optionalPlaces }),
      asHtml: !manifest.snippets[index]?.asText,
    };
  });
}

function changedOf(fetched: FetchedSnippets, changed: readonly ChangedSnippet[]): FetchedSnippets {
  const keys = new Set(changed.map(({ request }) => request.key));
  return new Map([...fetched].filter(([key]) => keys.has(key)));
}
