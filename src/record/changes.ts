import type { SnippetRequest } from '../client/snippet-request.ts';
import {
  type FetchedSnippet,
  type FetchedSnippets,
  type SnippetFetcher,
  warningsOf,
} from '../snippets/fetch-snippets.ts';
import type { SnippetUse } from '../snippets/file-embeds.ts';
import { hashOf, type Manifest, pagesOf, requestsOf } from './manifest.ts';

/** A snippet whose content differs from what the site shows. */
export interface ChangedSnippet {
  request: SnippetRequest;
  /** The pages that show other content. */
  pages: string[];
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
  const pages = pagesWithOtherContent(manifest, hashes);
  const changed = uses.flatMap(({ request }, index) => {
    const on = pages.get(index);
    return on === undefined ? [] : [{ request, pages: [...on] }];
  });
  return { snippets, changed, warnings: warningsOf(changedOf(fetched, changed), uses) };
}

/** Without children: where a site shows them, it waits for the snippet. */
function usesOf(manifest: Manifest): SnippetUse[] {
  const embeds = manifest.pages.flatMap((page) => page.embeds);
  const asHtml = new Set(embeds.filter(({ form }) => form.as === 'html').map(({ snippet }) => snippet));
  const around = new Map<number, Set<string>>();
  for (const { form, snippet } of embeds) {
    if (form.around !== undefined) around.set(snippet, (around.get(snippet) ?? new Set()).add(form.around));
  }
  const shownOn = pagesOf(manifest);
  return requestsOf(manifest).map((request, index) => {
    const places = shownOn[index] ?? new Set();
    const surroundings = around.get(index) ?? new Set();
    return { request, places, placesWithoutChildren: places, asHtml: asHtml.has(index), surroundings };
  });
}

/** By the index of a snippet, the pages where its content has another hash. */
function pagesWithOtherContent({ pages }: Manifest, hashes: readonly string[]): Map<number, Set<string>> {
  const found = new Map<number, Set<string>>();
  for (const { name, embeds } of pages) {
    for (const { snippet, content } of embeds) {
      if (content === hashes[snippet]) continue;
      const on = found.get(snippet) ?? new Set();
      found.set(snippet, on.add(name));
    }
  }
  return found;
}

function changedOf(fetched: FetchedSnippets, changed: readonly ChangedSnippet[]): FetchedSnippets {
  const keys = new Set(changed.map(({ request }) => request.key));
  return new Map([...fetched].filter(([key]) => keys.has(key)));
}
