import type { SnippetRequest } from '../client/snippet-request.ts';
import {
  type FetchedSnippet,
  type FetchedSnippets,
  type SnippetFetcher,
  warningsOf,
} from '../snippets/fetch-snippets.ts';
import type { SnippetUse } from '../snippets/file-embeds.ts';
import { hashOf, type Manifest, namesOf, requestsOf, type Shown, shownOn } from './manifest.ts';

/** A snippet whose content differs from what the site shows, and where the site shows other content. */
export interface ChangedSnippet extends Shown {
  request: SnippetRequest;
}

export interface Changes {
  /** All snippets of the manifest, in its order. */
  snippets: FetchedSnippet[];
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
  signal?: AbortSignal,
): Promise<Changes> {
  const uses = usesOf(manifest);
  const fetched = await fetcher.fetch(uses, { signal });
  const snippets = uses.map(({ request }) => fetched.get(request.key) as FetchedSnippet);
  const hashes = snippets.map(({ content }) => hashOf(content));
  const outdated = shownOn(manifest, ({ snippet, content }) => content !== hashes[snippet]);
  const changed = uses.flatMap(({ request }, index) => {
    const { pages = [], collections = [] } = outdated[index] ?? {};
    return pages.length + collections.length === 0 ? [] : [{ request, pages, collections }];
  });
  return { snippets, changed, warnings: warningsOf(changedOf(fetched, changed), uses) };
}

/** Without children: where a site shows them, it waits for the snippet. */
function usesOf(manifest: Manifest): SnippetUse[] {
  const kinds = manifest.kinds.filter(({ form }) => form.as === 'html');
  const asHtml = new Set([...kinds, ...manifest.collections].map(({ snippet }) => snippet));
  const around = new Map<number, Set<string>>();
  for (const { form, snippet } of manifest.kinds) {
    if (form.around !== undefined) around.set(snippet, (around.get(snippet) ?? new Set()).add(form.around));
  }
  const shown = shownOn(manifest);
  return requestsOf(manifest).map((request, index) => {
    const places = namesOf(shown[index] ?? { pages: [], collections: [] });
    const surroundings = around.get(index) ?? new Set();
    return { request, places, placesWithoutChildren: places, asHtml: asHtml.has(index), surroundings };
  });
}

function changedOf(fetched: FetchedSnippets, changed: readonly ChangedSnippet[]): FetchedSnippets {
  const keys = new Set(changed.map(({ request }) => request.key));
  return new Map([...fetched].filter(([key]) => keys.has(key)));
}
