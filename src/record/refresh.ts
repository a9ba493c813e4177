import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { count } from '../client/format.ts';
import { compose } from '../embed/inline.ts';
import { replace } from '../embed/replace.ts';
import { listNames } from '../failures/report.ts';
import { fileKind } from '../file-kinds.ts';
import { allowInTag, type SourceRules, sourcesOf } from '../html/content-security-policy.ts';
import { contentIn } from '../html/rules.ts';
import type { Progress } from '../progress.ts';
import { entryName } from '../snippets/collection-entry.ts';
import type { FetchedSnippet } from '../snippets/fetch-snippets.ts';
import { temporaryFile, writeAtomically } from '../write-atomically.ts';
import {
  asBefore,
  contentRecord,
  type FileState,
  hashOf,
  imageFiles,
  kindsIn,
  type Manifest,
  type ManifestFile,
  outputOf,
  placesIn,
  type RenewingPage,
  sourceNames,
  type UnpackedState,
  writeManifest,
} from './manifest.ts';
import { dropUnusedKinds, type Place, PlacePacker } from './places.ts';
import { type DerivedFile, findDerivedFiles } from './side-products/derived-files.ts';
import {
  listPageCopies,
  notACopy,
  type PageCopy,
  pageCopyOf,
  readPageCopy,
} from './side-products/page-copies.ts';
import { siteFolders } from './side-products/site-folders.ts';
import { listTemporaryImages, writeImages } from './write-images.ts';

/** A page that shows a changed snippet. Without its bytes: those of all pages may not fit into memory. */
export interface RefreshedPage {
  page: ManifestFile;
  next: UnpackedState;
  /** How long it is, or is going to be, whichever is longer; in bytes. */
  maxLength: number;
  /** Files that hold the page, too, and are written with it. */
  copies: PageCopy[];
  /** Makes the page that is going to be written from the one that the plan was made for. */
  renewed(before: Buffer): Buffer;
}

/** A page of a plan, as it is and as it is going to be. */
export interface ComparedPage extends Pick<RefreshedPage, 'page' | 'next'> {
  before: Buffer;
  after: Buffer;
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
  /** Files that were made from these pages, and that only the command that made them can renew. */
  stale: DerivedFile[];
}

/**
 * After a refresh that was killed, or during one, finds out whether each page is in the state before or after it. Each
 * page is complete in either state. Changes nothing.
 */
export async function recover(file: string, manifest: Manifest): Promise<Manifest> {
  const renewing = await recoverCopies(file, manifest);
  if (manifest.files.every(({ next }) => next === undefined)) return { ...manifest, renewing };
  const output = outputOf(file, manifest);
  const files = await Promise.all(
    manifest.files.map(async ({ next, ...page }): Promise<ManifestFile> => {
      if (next === undefined) return page;
      const bytes = await readFile(join(output, page.name)).catch(() => undefined);
      return bytes !== undefined && hashOf(bytes) === next.hash ? { ...page, ...next } : page;
    }),
  );
  return { ...manifest, files, renewing };
}

/** The pages of a refresh that was killed whose copies are not all written. */
async function recoverCopies(file: string, manifest: Manifest): Promise<Manifest['renewing']> {
  if (manifest.renewing === undefined) return undefined;
  const folders = siteFolders(file, manifest);
  const unfinished: RenewingPage[] = [];
  for (const renewing of manifest.renewing) {
    const page = await readFile(join(outputOf(file, manifest), renewing.page)).catch(() => undefined);
    const isFinished = listPageCopies(folders, renewing.page).every(
      (copy) => page !== undefined && readPageCopy(copy, page.length)?.equals(page) === true,
    );
    if (!isFinished) unfinished.push(renewing);
  }
  return unfinished.length === 0 ? undefined : unfinished;
}

/** The files that a refresh writes first: for what it has announced, and images. A killed one may have left them. */
export function temporaryFiles(file: string, manifest: Manifest): string[] {
  const output = outputOf(file, manifest);
  const folders = siteFolders(file, manifest);
  const pages = manifest.files.flatMap(({ name, next }) => (next === undefined ? [] : join(output, name)));
  const renewing = manifest.renewing ?? [];
  const copies = renewing.flatMap(({ page }) => listPageCopies(folders, page).map((copy) => copy.file));
  const assets = manifest.rules.images?.assets.folder;
  const images =
    assets === undefined ? [] : listTemporaryImages(folders.map(({ directory }) => join(directory, assets)));
  return [...[...pages, ...copies].map(temporaryFile), ...images];
}

export interface PlanOptions {
  /** Where people are: names of files begin there. By default, in the folder of the record. */
  cwd?: string | undefined;
  progress?: Progress | undefined;
  /** Called with each page that a refresh is going to write. */
  onPage?(page: ComparedPage): void;
  /** How many bytes of new pages are kept until they are written. Others are made again then. */
  maxKeptBytes?: number;
}

// Making a page again takes as long as reading it; keeping all pages of a large site takes too much memory.
const keptBytesDefault = 64 * 1024 * 1024;

/**
 * Computes what a build would make of each page whose snippets have changed. Writes nothing.
 *
 * @param snippets those of the manifest, in its order; `undefined` for an optional one that does not exist.
 */
export async function planRefresh(
  file: string,
  manifest: Manifest,
  snippets: readonly (FetchedSnippet | undefined)[],
  { cwd, progress = () => {}, onPage, maxKeptBytes = keptBytesDefault }: PlanOptions = {},
): Promise<RefreshPlan> {
  const output = outputOf(file, manifest);
  const hashes = snippets.map((snippet) => snippet && hashOf(snippet.content));
  const isOld = ({ snippet, content }: Pick<Place, 'snippet' | 'content'>) => content !== hashes[snippet];
  const ids = manifest.snippets.map(({ id }) => id);
  const inPages: Renewal = { ids, snippets, hashes, rules: manifest.rules };
  const inOtherFiles: Renewal = {
    ...inPages,
    snippets: snippets.map((snippet) => contentIn(false, snippet)),
  };
  const plan: RefreshPlan = { pages: [], toBuild: [], stale: [] };
  const reasonForAll = reasonForStyles(manifest, snippets);
  const folders = siteFolders(file, manifest, cwd);
  const renewing = new Map(manifest.renewing?.map((one) => [one.page, one]));
  const oldKinds = manifest.kinds.map(isOld);
  const outdated = manifest.files.filter(
    (page) => renewing.has(page.name) || page.places.some((value, at) => at % 2 === 0 && oldKinds[value]),
  );
  let keptBytes = 0;
  for (const [index, page] of outdated.entries()) {
    progress(() => `${index} of ${count(outdated.length, 'page')} compared`);
    const before = await readFile(join(output, page.name)).catch(() => undefined);
    const reason = reasonToBuild(page, before, manifest, snippets) ?? reasonForAll;
    if (reason !== undefined) plan.toBuild.push({ name: page.name, reason });
    else if (before !== undefined) {
      const copies = listPageCopies(folders, page.name);
      const others = otherCopies(copies, page, before, renewing.get(page.name));
      if (others.length > 0) plan.toBuild.push(...others);
      else {
        const renewal = fileKind(page.name) === 'html' ? inPages : inOtherFiles;
        const renewFrom = (bytes: Buffer) =>
          renew(bytes, { ...page, places: placesIn(manifest, page) }, renewal);
        const { after, next } = renewFrom(before);
        onPage?.({ page, next, before, after });
        keptBytes += after.length;
        const kept = keptBytes > maxKeptBytes ? undefined : after;
        const maxLength = Math.max(before.length, after.length);
        plan.pages.push({
          page,
          next,
          maxLength,
          copies,
          renewed: (bytes) => kept ?? renewFrom(bytes).after,
        });
      }
    }
  }
  for (const entry of manifest.collections.filter(isOld)) {
    const reason = 'shows a changed snippet, and which pages use this entry is not known';
    plan.toBuild.push({ name: entryName(entry), reason });
  }
  plan.stale = findDerivedFiles(
    folders,
    plan.pages.flatMap(({ page: { name, hash }, next }) =>
      hash === next.hash ? [] : [{ name, before: () => readIfThere(join(output, name)) }],
    ),
  );
  return plan;
}

/**
 * Why only a build can update any page: the name of a style sheet, which is in every page, changes with the classes that
 * it is made for.
 */
function reasonForStyles(
  manifest: Manifest,
  snippets: readonly (FetchedSnippet | undefined)[],
): string | undefined {
  if (manifest.classes === undefined) return undefined;
  const made = new Set(manifest.classes);
  const before = new Set(manifest.snippets.flatMap(({ content }) => content?.classes ?? []));
  const now = new Set(snippets.flatMap((snippet) => snippet?.classes ?? []));
  const changed = [
    ...[...now].filter((name) => !before.has(name) || !made.has(name)),
    ...[...before].filter((name) => !now.has(name)),
  ];
  if (changed.length === 0) return undefined;
  return `needs style sheets that only a build makes: snippets now have other classes (${listNames(changed, namesShown)})`;
}

const namesShown = 5;

/** Copies of a page that hold something else: a refresh cannot tell what they are. */
function otherCopies(
  copies: readonly PageCopy[],
  { name, hash }: ManifestFile,
  before: Buffer,
  renewing: RenewingPage | undefined,
): PageToBuild[] {
  const known = new Set([hash, ...(renewing?.hashes ?? [])]);
  const maxLength = Math.max(before.length, renewing?.maxLength ?? 0);
  return copies.flatMap((copy) => {
    const page = readPageCopy(copy, maxLength);
    const isCopy = page !== undefined && known.has(hashOf(page));
    return isCopy ? [] : [{ name: copy.name, reason: notACopy(copy, name) }];
  });
}

/** Why only a build can update a page. */
function reasonToBuild(
  file: ManifestFile,
  bytes: Buffer | undefined,
  manifest: Manifest,
  snippets: readonly (FetchedSnippet | undefined)[],
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

export interface WriteOptions {
  /** Whether a command is going to renew what was made from the pages: until it has succeeded, the manifest says so. */
  hasCommand?: boolean;
  /** Returns the bytes of an image that was downloaded, by its name. */
  readImage?(name: string): Promise<Uint8Array | undefined>;
  progress?: Progress | undefined;
}

/**
 * Writes the pages of a plan, and their copies. Each is replaced as a whole, and the manifest announces what is going to
 * be written, so that the process can be killed at any moment. The images that they show are written before them.
 *
 * @returns pages that are no longer those the plan was made for. They are left alone.
 */
export async function writeRefresh(
  file: string,
  manifest: Manifest,
  snippets: readonly (FetchedSnippet | undefined)[],
  {
    pages: planned,
    hasCommand = false,
    readImage = async () => undefined,
    progress = () => {},
  }: RefreshPlan & WriteOptions,
): Promise<PageToBuild[]> {
  const output = outputOf(file, manifest);
  // First, since a page must not show what is not there. An image that no page shows does no harm.
  const indexes = new Set(planned.flatMap(({ next }) => next.places.map(({ snippet }) => snippet)));
  const assets = manifest.rules.images?.assets.folder;
  if (assets !== undefined) {
    const folders = siteFolders(file, manifest).map(({ directory }) => join(directory, assets));
    const shown = [...indexes].map((index) => snippets[index]);
    await writeImages(folders, imageFiles(shown), readImage);
  }
  const packer = new PlacePacker(manifest.kinds);
  const nexts = new Map<ManifestFile, FileState>(
    planned.map(({ page, next }) => [page, { ...next, places: packer.pack(next.places) }]),
  );
  const announced = manifest.files.map((page) => ({ ...page, next: nexts.get(page) }));
  const pending = hasCommand || undefined;
  const names = new Set(planned.map(({ page }) => page.name));
  const others = manifest.renewing?.filter(({ page }) => !names.has(page)) ?? [];
  const renewing = [...others, ...planned.flatMap((one) => announceCopies(one, manifest))];
  await writeManifest(file, {
    ...manifest,
    kinds: packer.kinds,
    files: announced,
    renewing: renewing.length === 0 ? undefined : renewing,
    pending,
  });
  const refreshed: RefreshedPage[] = [];
  const leftAlone: PageToBuild[] = [];
  for (const [index, one] of planned.entries()) {
    progress(() => `${index} of ${count(planned.length, 'page')} written`);
    const { page, copies } = one;
    const target = join(output, page.name);
    const now = await readFile(target).catch(() => undefined);
    if (now === undefined || hashOf(now) !== page.hash) {
      leftAlone.push({ name: page.name, reason: 'was changed while it was refreshed' });
      nexts.delete(page);
      continue;
    }
    refreshed.push(one);
    const after = one.renewed(now);
    await writeAtomically(target, after, temporaryFile(target));
    await Promise.all(
      copies.map(async (copy) =>
        writeAtomically(copy.file, await pageCopyOf(after, copy), temporaryFile(copy.file)),
      ),
    );
  }
  const written = new Set(refreshed.flatMap(({ next }) => next.places.map(({ snippet }) => snippet)));
  const files = manifest.files.map((page) => ({ ...page, ...nexts.get(page) }));
  await writeManifest(file, {
    ...manifest,
    renewing: others.length === 0 ? undefined : others,
    pending,
    refreshedAt: new Date().toISOString(),
    snippets: manifest.snippets.map((recorded, index) => {
      const snippet = snippets[index];
      const { id, params } = recorded;
      if (snippet === undefined) return written.has(index) ? { id, params, missing: true } : recorded;
      const content = contentRecord(snippet);
      // Content that was written nowhere is not what the site shows.
      return content.hash === recorded.content?.hash || written.has(index)
        ? { id, params, content }
        : recorded;
    }),
    before: asBefore(manifest),
    ...dropUnusedKinds(packer.kinds, files),
  });
  return leftAlone;
}

/** What the copies of a page may hold until it is written: as it is, as it is going to be, or what a killed refresh wrote. */
function announceCopies(
  { page, next, maxLength, copies }: RefreshedPage,
  manifest: Manifest,
): RenewingPage[] {
  if (copies.length === 0) return [];
  const earlier = manifest.renewing?.find((one) => one.page === page.name);
  const hashes = new Set([...(earlier?.hashes ?? []), page.hash, next.hash]);
  const longest = Math.max(maxLength, earlier?.maxLength ?? 0);
  return [{ page: page.name, hashes: [...hashes], maxLength: longest }];
}

function readIfThere(file: string): Buffer | undefined {
  return existsSync(file) ? readFileSync(file) : undefined;
}

/** What pages show now. All lists are in the order of the snippets. */
export interface Renewal {
  ids: readonly number[];
  snippets: readonly (FetchedSnippet | undefined)[];
  /** The hashes of what the service sent. */
  hashes: readonly (string | undefined)[];
  rules: SourceRules;
}

/** The page with the new contents in it, and its new state for the manifest. */
export function renew(
  before: Buffer,
  { places, policies = [] }: UnpackedState,
  { ids, snippets, hashes, rules }: Renewal,
): { next: UnpackedState; after: Buffer } {
  const composed = places.map((shown) => {
    const { start, end, form, children = '' } = shown;
    const snippet = snippets[shown.snippet];
    const bytes =
      snippet === undefined ? Buffer.from(children, 'latin1') : compose(snippet, form, ids[shown.snippet]);
    return { start, end, bytes, shown };
  });
  const sources = sourcesOf(
    places.flatMap(({ form, snippet }) => (form.as === 'text' ? [] : (snippets[snippet] ?? []))),
    rules,
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
