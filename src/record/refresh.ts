import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compose } from '../embed/inline.ts';
import { replace } from '../embed/replace.ts';
import { allowInTag, sourcesOf } from '../html/content-security-policy.ts';
import { entryName } from '../snippets/collection-entry.ts';
import type { FetchedSnippet } from '../snippets/fetch-snippets.ts';
import { writeAtomically } from '../write-atomically.ts';
import {
  asBefore,
  contentRecord,
  type FileState,
  hashOf,
  kindsIn,
  type Manifest,
  type ManifestFile,
  outputOf,
  placesIn,
  sourceNames,
  writeManifest,
} from './manifest.ts';
import { dropUnusedKinds, type Place, PlacePacker } from './places.ts';

type UnpackedState = Omit<FileState, 'places'> & { places: Place[] };

/** A page that shows a changed snippet, as it is and as it is going to be. */
export interface RefreshedPage {
  page: ManifestFile;
  before: Buffer;
  after: Buffer;
  next: UnpackedState;
}

/** A page, or an entry of a collection, that shows a changed snippet and that only a build can update. */
export interface PageToBuild {
  name: string;
  /** The end of a sentence that begins with the name. */
  reason: string;
}

export interface RefreshPlan {
  pages: RefreshedPage[];
  toBuild: PageToBuild[];
}

/**
 * After a refresh that was killed, finds out whether each page is in the state before or after it. Each page is
 * complete in either state. Temporary files are removed.
 */
export async function recover(file: string, manifest: Manifest): Promise<Manifest> {
  const output = outputOf(file, manifest);
  const files = await Promise.all(
    manifest.files.map(async ({ next, ...page }): Promise<ManifestFile> => {
      if (next === undefined) return page;
      await rm(temporaryFile(join(output, page.name)), { force: true });
      const bytes = await readFile(join(output, page.name)).catch(() => undefined);
      return bytes !== undefined && hashOf(bytes) === next.hash ? { ...page, ...next } : page;
    }),
  );
  return { ...manifest, files };
}

/**
 * Computes what a build would make of each page whose snippets have changed. Writes nothing.
 *
 * @param snippets those of the manifest, in its order.
 */
export async function planRefresh(
  file: string,
  manifest: Manifest,
  snippets: readonly FetchedSnippet[],
): Promise<RefreshPlan> {
  const output = outputOf(file, manifest);
  const hashes = snippets.map(({ content }) => hashOf(content));
  const isOld = ({ snippet, content }: Pick<Place, 'snippet' | 'content'>) => content !== hashes[snippet];
  const plan: RefreshPlan = { pages: [], toBuild: [] };
  for (const page of manifest.files) {
    if (!kindsIn(manifest, page).some(isOld)) continue;
    const before = await readFile(join(output, page.name)).catch(() => undefined);
    const reason = reasonToBuild(page, before, manifest, snippets);
    if (reason !== undefined) plan.toBuild.push({ name: page.name, reason });
    else if (before !== undefined) {
      const places = placesIn(manifest, page);
      plan.pages.push({ page, before, ...renew(before, { ...page, places }, snippets, hashes) });
    }
  }
  for (const entry of manifest.collections.filter(isOld)) {
    const reason = 'shows a changed snippet, and which pages use this entry is not known';
    plan.toBuild.push({ name: entryName(entry), reason });
  }
  return plan;
}

/** Why only a build can update a page. */
function reasonToBuild(
  file: ManifestFile,
  bytes: Buffer | undefined,
  manifest: Manifest,
  snippets: readonly FetchedSnippet[],
): string | undefined {
  const { hash, policies } = file;
  const { rules, snippets: recorded } = manifest;
  if (bytes === undefined || hashOf(bytes) !== hash) return 'was changed after the build';
  if (rules.sanitizes) return 'shows content that only a build sanitizes';
  const shown = kindsIn(manifest, file).flatMap(({ form, snippet }) => (form.as === 'html' ? snippet : []));
  const needsOtherSources = (snippet: number) =>
    String(sourceNames(snippets[snippet]?.inlineCode) ?? []) !==
    String(recorded[snippet]?.content?.sources ?? []);
  if (rules.policy === 'hash' && policies === undefined && shown.some(needsOtherSources)) {
    return 'has its policy in headers, which only a build writes';
  }
  return undefined;
}

/**
 * Writes the pages of a plan. Each is replaced as a whole, and the manifest announces what is going to be written, so
 * that the process can be killed at any moment.
 */
export async function writeRefresh(
  file: string,
  manifest: Manifest,
  snippets: readonly FetchedSnippet[],
  { pages: refreshed }: RefreshPlan,
): Promise<void> {
  const output = outputOf(file, manifest);
  const packer = new PlacePacker(manifest.kinds);
  const nexts = new Map<ManifestFile, FileState>(
    refreshed.map(({ page, next }) => [page, { ...next, places: packer.pack(next.places) }]),
  );
  const announced = manifest.files.map((page) => ({ ...page, next: nexts.get(page) }));
  await writeManifest(file, { ...manifest, kinds: packer.kinds, files: announced });
  for (const { page, after } of refreshed) {
    const target = join(output, page.name);
    await writeAtomically(target, after, temporaryFile(target));
  }
  const written = new Set(refreshed.flatMap(({ next }) => next.places.map(({ snippet }) => snippet)));
  const files = manifest.files.map((page) => ({ ...page, ...nexts.get(page) }));
  await writeManifest(file, {
    ...manifest,
    refreshedAt: new Date().toISOString(),
    snippets: manifest.snippets.map((recorded, index) => {
      const snippet = snippets[index];
      if (snippet === undefined) return recorded;
      const content = contentRecord(snippet);
      // Content that was written nowhere is not what the site shows.
      return content.hash === recorded.content?.hash || written.has(index)
        ? { ...recorded, content }
        : recorded;
    }),
    before: asBefore(manifest),
    ...dropUnusedKinds(packer.kinds, files),
  });
}

/** A fixed name, so that one left behind by a killed process is found and removed. */
function temporaryFile(page: string): string {
  return `${page}.refresh.tmp`;
}

/** The page with the new contents in it, and its new state for the manifest. */
function renew(
  before: Buffer,
  { places, policies = [] }: UnpackedState,
  snippets: readonly FetchedSnippet[],
  hashes: readonly string[],
): { next: UnpackedState; after: Buffer } {
  const composed = places.map((shown) => {
    const { start, end, form } = shown;
    const { html = '', text = '' } = snippets[shown.snippet] ?? {};
    return { start, end, bytes: compose({ html, text }, form), shown };
  });
  const sources = sourcesOf(
    places.flatMap(({ form, snippet }) => (form.as === 'text' ? [] : (snippets[snippet] ?? []))),
  );
  const allowed = policies.map((policy) => ({ ...policy, bytes: allowInTag(policy.tag, sources) }));
  const pieces = [...composed, ...allowed].sort((a, b) => a.start - b.start);
  const { file: after, places: replaced } = replace(before, pieces);
  const placesAfter: Place[] = [];
  const policiesAfter: NonNullable<FileState['policies']> = [];
  for (const [index, place] of replaced.entries()) {
    const piece = pieces[index];
    if (piece === undefined) continue;
    if ('shown' in piece) {
      placesAfter.push({ ...piece.shown, ...place, content: hashes[piece.shown.snippet] });
    } else policiesAfter.push({ tag: piece.tag, ...place });
  }
  const next = { hash: hashOf(after), places: placesAfter };
  return { after, next: policiesAfter.length === 0 ? next : { ...next, policies: policiesAfter } };
}
