import { count } from '../client/format.ts';
import { type CollectionEntry, entryName, shownWarnings } from '../failures/report.ts';
import type { FetchedSnippets, SnippetFetcher } from '../snippets/fetch-snippets.ts';
import type { SnippetUse } from '../snippets/file-embeds.ts';
import {
  contentRecord,
  type Manifest,
  type ManifestContent,
  type ManifestFile,
  type RecordedSnippet,
} from './manifest.ts';
import type { Progress } from './progress.ts';

export interface Shown {
  /** The names of files of the output, each once. */
  pages: string[];
  collections: CollectionEntry[];
}

export interface ShownSnippet extends Shown {
  recorded: RecordedSnippet;
  /** The hash of its content now; `undefined` if it is optional and no longer exists. */
  newHash: string | undefined;
}

/** What the snippets of a manifest show, in its order; `undefined` for children. */
export type Contents = readonly (Pick<ManifestContent, 'hash'> | undefined)[];

/** `undefined` where the file shows children. */
export function hashShown(
  { snippets }: Pick<Manifest, 'snippets'>,
  { older }: ManifestFile,
  snippet: number,
): string | undefined {
  const known = older?.[snippet];
  return known === undefined ? snippets[snippet]?.content?.hash : (known ?? undefined);
}

/** The snippets of which a file shows another content than it would now, each once. */
export function outdatedIn(manifest: Manifest, file: ManifestFile, now: Contents): number[] {
  return [...new Set(file.shows.filter((index) => hashShown(manifest, file, index) !== now[index]?.hash))];
}

/** The snippets of a manifest, in their order, and where each is shown. With `now`, those that change, and where. */
export function shownOn(manifest: Manifest, now?: Contents): ShownSnippet[] {
  const shown = manifest.snippets.map((recorded, index): ShownSnippet => {
    return { recorded, pages: [], collections: [], newHash: now?.[index]?.hash };
  });
  for (const file of manifest.files) {
    for (const index of now === undefined ? file.shows : outdatedIn(manifest, file, now)) {
      const pages = shown[index]?.pages;
      // A file may show a snippet twice.
      if (pages?.at(-1) !== file.name) pages?.push(file.name);
    }
  }
  for (const { collection, entry, snippet, content } of manifest.collections) {
    if (now === undefined || content !== now[snippet]?.hash)
      shown[snippet]?.collections.push({ collection, entry });
  }
  return now ? shown.filter(({ pages, collections }) => pages.length + collections.length > 0) : shown;
}

export interface Changes {
  /** By the keys of requests, without those of optional snippets that do not exist. */
  fetched: FetchedSnippets;
  /** The same, as a manifest has it, in its order. */
  now: (ManifestContent | undefined)[];
  /** Those whose content differs from what the site shows, and where it shows other content. */
  changed: ShownSnippet[];
  /** Flaws of changed snippets that do not keep them from being shown. */
  warnings: string[];
}

/** Fetches every snippet, and finds those that have changed. @throws AstroError if one could not be fetched. */
export async function findChanges(
  manifest: Manifest,
  fetcher: SnippetFetcher,
  { signal, progress }: { signal: AbortSignal | undefined; progress: Progress },
): Promise<Changes> {
  const uses = usesOf(manifest);
  const onSettled = (done: number) => progress(() => `${done} of ${count(uses.length, 'snippet')} fetched`);
  const fetched = await fetcher.fetch(uses, { signal, onSettled });
  const now = manifest.snippets.map(({ key }) => {
    const snippet = fetched.get(key);
    return snippet && contentRecord(snippet);
  });
  const changed = shownOn(manifest, now);
  const keys = new Set(changed.map(({ recorded }) => recorded.key));
  const changedUses = uses.filter(({ request }) => keys.has(request.key));
  return { fetched, now, changed, warnings: shownWarnings(fetched, changedUses) };
}

/** Without children: where the site shows them, it waits for the snippet, unless that does not exist. */
function usesOf(manifest: Manifest): SnippetUse[] {
  const uses = shownOn(manifest).map(({ recorded, pages, collections }): SnippetUse => {
    const places = [...pages, ...collections.map(entryName)];
    return { request: recorded, places, placesWithoutChildren: places, asHtml: !recorded.asText };
  });
  for (const { name, optional = [] } of manifest.files) {
    for (const index of optional) {
      const use = uses[index];
      if (use !== undefined) use.optionalPlaces = (use.optionalPlaces ?? new Set()).add(name);
    }
  }
  return uses;
}
