import type { EarlierPlaces } from '../failures/describe-failures.ts';
import { shownName } from '../failures/name-snippet.ts';
import { type CollectionEntry, entryName } from '../failures/places.ts';
import { fileKind } from '../files/file-kind.ts';
import type { SnippetUse } from '../snippets/snippet-use.ts';
import type { EditLink, Manifest, RecordedContent, RecordedFile, RecordedSnippet } from './manifest.ts';

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
  /** What alone has changed, if not the content: copies of its images, or the name in edit links. */
  only?: 'images' | 'name' | undefined;
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

/** Finds where a site has shown a snippet, with any params. Places that showed its children do not count. */
export function findEarlierPlaces(manifest: Manifest | undefined): EarlierPlaces {
  let placesById: Map<number, Set<string>> | undefined;
  return (id) => {
    // Most runs have no failure to explain, so the manifest is only searched for the first.
    placesById ??= manifest ? findPlacesById(manifest) : new Map();
    return [...(placesById.get(id) ?? [])];
  };
}

function findPlacesById(manifest: Manifest): Map<number, Set<string>> {
  const placesById = new Map<number, Set<string>>();
  for (const { recorded, pages, collections } of findUsage(manifest)) {
    if (!recorded.content) continue;
    const places = placesById.get(recorded.id) ?? new Set();
    placesById.set(recorded.id, places);
    for (const place of [...pages, ...collections.map(entryName)]) places.add(place);
  }
  return placesById;
}

/** Finds the snippets whose old content some file or collection still shows. */
export function findChangedSnippets(manifest: Manifest, currentContents: Contents): ChangedSnippet[] {
  const snippets = manifest.snippets.map((recorded, index): ChangedSnippet => {
    const current = currentContents[index];
    const only = describeChange(recorded.content, current);
    return { recorded, pages: [], collections: [], newHash: pageHashOf(current), only };
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

function describeChange(old?: RecordedContent, current?: RecordedContent): ChangedSnippet['only'] {
  if (!old || old.hash !== current?.hash || old.pageHash === current.pageHash) return undefined;
  return imageLines(old) === imageLines(current) ? 'name' : 'images';
}

/** A line for each image of a content, with the name of its copy. */
export const imageLines = ({ images = [] }: { images?: RecordedContent['images'] }): string =>
  images.map(({ url, copy }) => `${url} ${copy?.file ?? ''}\n`).join('');

/** Finds the snippets whose old content a file still shows, by their indexes, each once. */
export function findStaleSnippets(manifest: Manifest, file: RecordedFile, contents: Contents): number[] {
  const isStale = (index: number) =>
    displayedHash(manifest, file, index) !== shownHash(file.name, contents[index]);
  return [...new Set(file.shows.filter(isStale))];
}

/** The hash of what a file of this name shows of a content. Only pages show images and edit links. */
export function shownHash(name: string, content: RecordedContent | undefined): string | undefined {
  return fileKind(name) === 'html' ? pageHashOf(content) : content?.hash;
}

/** The hash of what pages show of a content. */
export const pageHashOf = (content: RecordedContent | undefined): string | undefined =>
  content?.pageHash ?? content?.hash;

/** The hash of the snippet content that a file shows; `undefined` if it shows the embed's children. */
export function displayedHash(manifest: Manifest, file: RecordedFile, index: number): string | undefined {
  const staleHash = file.staleContentHashes?.[index];
  if (staleHash === undefined) return shownHash(file.name, manifest.snippets[index]?.content);
  return staleHash ?? undefined;
}

/** The edit links of a site with the current names. A name that was not sent, as variant B sends none, stays. */
export function currentLinks(
  { linked, snippets }: Manifest,
  fetched: ReadonlyMap<string, { name?: string | undefined }>,
): Manifest['linked'] {
  if (!linked) return undefined;
  const links: Record<string, EditLink> = { ...linked };
  for (const { id, key } of snippets) {
    const name = fetched.get(key)?.name;
    if (name) links[id] = { ...links[id], name: shownName(id, name) || undefined };
  }
  return links;
}

/**
 * Lists where each snippet of a manifest is needed. No file or entry counts as one with children: one that
 * shows them has to change once the service has the snippet, so a snippet that cannot be fetched is an error.
 */
export function usesFromManifest(manifest: Manifest): SnippetUse[] {
  const uses = findUsage(manifest).map(({ recorded, pages, collections }): SnippetUse => {
    const places = [...pages, ...collections.map(entryName)];
    return {
      request: recorded,
      places,
      placesWithoutChildren: places,
      optionalPlaces: new Set(),
      asHtml: !recorded.asText,
      asUrl: recorded.asUrl,
      inTemplate: recorded.inTemplate,
    };
  });
  for (const { name, optional = [] } of manifest.files) {
    for (const index of optional) uses[index]?.optionalPlaces?.add(name);
  }
  return uses;
}
