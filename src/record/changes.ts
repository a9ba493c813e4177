import { type CollectionEntry, entryName } from '../failures/report.ts';
import type { SnippetUse } from '../snippets/file-embeds.ts';
import type { Manifest, ManifestContent, ManifestFile, RecordedSnippet } from './manifest.ts';

export interface ShownSnippet {
  recorded: RecordedSnippet;
  /** The names of files of the output, each once. */
  pages: string[];
  collections: CollectionEntry[];
  /** The hash of its content now; `undefined` if it is optional and no longer exists. */
  newHash: string | undefined;
}

/** What the snippets of a manifest show, in its order; `undefined` for children. */
export type Contents = readonly (ManifestContent | undefined)[];

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

/** What is fetched. Without children: where the site shows them, it waits for the snippet, unless that does not exist. */
export function usesOf(manifest: Manifest): SnippetUse[] {
  const uses = shownOn(manifest).map(({ recorded: request, pages, collections }) => {
    const places = [...pages, ...collections.map(entryName)];
    const optionalPlaces = new Set<string>();
    return { request, places, placesWithoutChildren: places, optionalPlaces, asHtml: !request.asText };
  });
  for (const { name, optional = [] } of manifest.files) {
    for (const index of optional) uses[index]?.optionalPlaces.add(name);
  }
  return uses;
}
