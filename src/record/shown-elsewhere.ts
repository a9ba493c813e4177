import type { SnippetRequest } from '../client/snippet-request.ts';
import { entryName } from '../snippets/collection-entry.ts';
import { type ManifestFlaw, nowhere, readManifest, requestsOf, shownOn } from './manifest.ts';

/** Where the last build showed a snippet, apart from one page. */
export interface ShownElsewhere {
  /** Why that is not known. */
  flaw?: string;
  /** When that was, or the last refresh since then; in milliseconds since the epoch. */
  builtAt?: number;
  pages: PageElsewhere[];
  /** The number of pages that are left out. */
  more: number;
  /** The names of entries of collections. */
  entries: string[];
}

interface PageElsewhere {
  path: string;
  /** Whether it shows the snippet with other params than the page does. */
  hasOtherParams: boolean;
}

// A snippet may be on every page of a large site.
const mostPages = 100;

/**
 * Where the last build showed a snippet, with any params.
 *
 * @param manifest the path of the record.
 * @param pathOf the path of the URL of a file.
 * @param page the path of the page that is left out, in the same form.
 */
export async function shownElsewhere(
  manifest: string,
  { id, key }: SnippetRequest,
  pathOf: (file: string) => string,
  page: string,
): Promise<ShownElsewhere> {
  const { manifest: found, flaw } = await readManifest(manifest);
  if (found === undefined) return { flaw: flaws[flaw], pages: [], more: 0, entries: [] };
  const shown = shownOn(found);
  const pages = new Map<string, PageElsewhere>();
  const entries = new Set<string>();
  for (const [index, request] of requestsOf(found).entries()) {
    if (request.id !== id) continue;
    const { pages: files, collections } = shown[index] ?? nowhere;
    for (const entry of collections) entries.add(entryName(entry));
    for (const file of files) {
      const path = pathOf(file);
      const hasOtherParams = request.key !== key && pages.get(path)?.hasOtherParams !== false;
      pages.set(path, { path, hasOtherParams });
    }
  }
  pages.delete(page);
  const sorted = [...pages.values()].sort((a, b) => Number(a.hasOtherParams) - Number(b.hasOtherParams));
  return {
    builtAt: Date.parse(found.refreshedAt ?? found.builtAt),
    pages: sorted.slice(0, mostPages),
    more: Math.max(0, sorted.length - mostPages),
    entries: [...entries].slice(0, mostPages),
  };
}

const flaws: Readonly<Record<ManifestFlaw, string>> = {
  absent: 'There is no record of a build yet. Run astro build once.',
  damaged: 'The record of the last build is damaged. Run astro build once.',
  'other-version': 'The last build was made with another version of astro-snippets. Run astro build once.',
};
