import { type CollectionEntry, entryName } from '../failures/places.ts';
import type { Manifest, ManifestFile, RecordedContent, RecordedSnippet } from './manifest.ts';

/** What the snippets of a manifest show; `undefined` for children. */
export type Contents = readonly (RecordedContent | undefined)[];

/** `undefined` where the file shows children. */
export function displayedHash(
  { snippets }: Manifest,
  { staleContentHashes }: ManifestFile,
  snippet: number,
): string | undefined {
  const known = staleContentHashes?.[snippet];
  return known === undefined ? snippets[snippet]?.content?.hash : (known ?? undefined);
}

/** The snippets of a file with other contents now, each once. */
export const findStaleSnippets = (manifest: Manifest, file: ManifestFile, now: Contents): number[] => [
  ...new Set(file.shows.filter((index) => displayedHash(manifest, file, index) !== now[index]?.hash)),
];

export type SnippetUsage = ReturnType<typeof findUsage>[number];

/** The snippets of a manifest, and where each is shown; with `now`, only what changes. */
export function findUsage(
  manifest: Manifest,
  now?: Contents,
): {
  recorded: RecordedSnippet;
  pages: string[];
  collections: CollectionEntry[];
  /** `undefined` if it no longer exists. */
  newHash: string | undefined;
}[] {
  const shown = manifest.snippets.map((recorded, index) => ({
    recorded,
    pages: [] as string[],
    collections: [] as CollectionEntry[],
    /** `undefined` if it no longer exists. */
    newHash: now?.[index]?.hash,
  }));
  for (const file of manifest.files) {
    const indexes = now ? findStaleSnippets(manifest, file, now) : new Set(file.shows);
    for (const index of indexes) shown[index]?.pages.push(file.name);
  }
  for (const { collection, entry, snippet, content } of manifest.collections) {
    if (!now || content !== now[snippet]?.hash) shown[snippet]?.collections.push({ collection, entry });
  }
  return now ? shown.filter(({ pages, collections }) => pages.length + collections.length > 0) : shown;
}

/** What is fetched. Without children: where the site shows them, it waits for the snippet. */
export function usesFromManifest(manifest: Manifest): {
  request: RecordedSnippet;
  places: string[];
  placesWithoutChildren: string[];
  optionalPlaces: Set<string>;
  asHtml: boolean;
}[] {
  const uses = findUsage(manifest).map(({ recorded: request, pages, collections }) => {
    const places = [...pages, ...collections.map(entryName)];
    const optionalPlaces = new Set<string>();
    return { request, places, placesWithoutChildren: places, optionalPlaces, asHtml: !request.asText };
  });
  for (const { name, optional = [] } of manifest.files) {
    for (const index of optional) uses[index]?.optionalPlaces.add(name);
  }
  return uses;
}
