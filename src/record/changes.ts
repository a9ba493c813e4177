import { type CollectionEntry, entryName } from '../failures/places.ts';
import type { SnippetUse } from '../snippets/snippet-use.ts';
import type { Manifest, RecordedContent, RecordedFile, RecordedSnippet } from './manifest.ts';

/** Contents of the snippets of a manifest, in its order; `undefined` for children. */
export type Contents = readonly (RecordedContent | undefined)[];

/** A snippet of a manifest, and where the site shows it. */
export interface SnippetUsage {
  recorded: RecordedSnippet;
  /** The names of files, each once. */
  pages: string[];
  collections: CollectionEntry[];
}

/** A snippet with other content than before, and where the site shows what it was. */
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

/** Finds the snippets of which a file or a collection shows other content than the current. */
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

/** Finds the snippets of which a file shows other content than the current, each once. */
export function findStaleSnippets(manifest: Manifest, file: RecordedFile, contents: Contents): number[] {
  const isStale = (index: number) => displayedHash(manifest, file, index) !== contents[index]?.hash;
  return [...new Set(file.shows.filter(isStale))];
}

/** The hash of the content that a file shows of a snippet; `undefined` for children. */
export function displayedHash(manifest: Manifest, file: RecordedFile, index: number): string | undefined {
  const staleHash = file.staleContentHashes?.[index];
  if (staleHash === undefined) return manifest.snippets[index]?.content?.hash;
  return staleHash ?? undefined;
}

/**
 * The uses of a site by its manifest. No place counts as one with children: a place that shows them has
 * changed as soon as the service has the snippet, so a snippet that cannot be fetched fails the command.
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
