import { type CollectionEntry, entryName } from '../failures/places.ts';
import type { SnippetUse } from '../snippets/snippet-use.ts';
import type { Manifest, RecordedContent, RecordedFile, RecordedSnippet } from './manifest.ts';

/** Contents of a manifest's snippets, in its order; `undefined` where embeds show their children. */
export type Contents = readonly (RecordedContent | undefined)[];

/** A snippet of a manifest, and where the site shows it. */
export interface SnippetUsage {
  recorded: RecordedSnippet;
  /** The names of files, each once. */
  pages: string[];
  collections: CollectionEntry[];
}

/** A snippet whose content has changed, and where the site still shows the old content. */
export interface ChangedSnippet extends SnippetUsage {
  /** The hash of its current content; `undefined` if the snippet no longer exists. */
  newHash: string | undefined;
}

/** Finds where each snippet of a manifest is shown. */
export function findUsage(manifest: Manifest): SnippetUsage[] {
  const usages: SnippetUsage[] = manifest.snippets.map((recorded) => {
    return { recorded, pages: [], collections: [] };
  });
  for (const { name, shows } of manifest.files) {
    for (const index of new Set(shows)) usages[index]?.pages.push(name);
  }
  for (const { collection, entry, snippet } of manifest.collections) {
    usages[snippet]?.collections.push({ collection, entry });
  }
  return usages;
}

/** Finds the snippets whose old content some file or collection still shows. */
export function findChangedSnippets(manifest: Manifest, currentContents: Contents): ChangedSnippet[] {
  const snippets = manifest.snippets.map((recorded, index): ChangedSnippet => {
    return { recorded, pages: [], collections: [], newHash: currentContents[index]?.hash };
  });
  for (const file of manifest.files) {
    const stale = findStaleSnippets(manifest, file, currentContents);
    for (const index of stale) snippets[index]?.pages.push(file.name);
  }
  for (const { collection, entry, snippet, content } of manifest.collections) {
    if (content === currentContents[snippet]?.hash) continue;
    snippets[snippet]?.collections.push({ collection, entry });
  }
  return snippets.filter(({ pages, collections }) => pages.length + collections.length > 0);
}

/** Finds the snippets whose old content a file still shows, by their indexes, each once. */
export function findStaleSnippets(manifest: Manifest, file: RecordedFile, contents: Contents): number[] {
  const isStale = (index: number) => displayedHash(manifest, file, index) !== contents[index]?.hash;
  return [...new Set(file.shows.filter(isStale))];
}

/** The hash of the snippet content that a file shows; `undefined` if it shows the embed's children. */
export function displayedHash(manifest: Manifest, file: RecordedFile, index: number): string | undefined {
  const staleHash = file.staleContentHashes?.[index];
  if (staleHash === undefined) return manifest.snippets[index]?.content?.hash;
  return staleHash ?? undefined;
}

/**
 * Lists where each snippet of a manifest is needed. No file or entry counts as one with children: one that
 * shows them has to change once the service has the snippet, so a snippet that cannot be fetched is an error.
 */
export function usesFromManifest(manifest: Manifest): SnippetUse[] {
  const uses = findUsage(manifest).map(({ recorded, pages, collections }): SnippetUse => {
    const places = [...pages, ...collections.map(entryName)];
    const asHtml = !recorded.asText;
    return { request: recorded, places, placesWithoutChildren: places, optionalPlaces: new Set(), asHtml };
  });
  for (const { name, optional = [] } of manifest.files) {
    for (const index of optional) uses[index]?.optionalPlaces?.add(name);
  }
  return uses;
}
