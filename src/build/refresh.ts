import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { count } from '../client/format.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import type { FileKind } from '../embed/scan.ts';
import { entryName, listNames } from '../failures/report.ts';
import { fileKind } from '../files/kinds.ts';
import { listTemporaryFiles, temporaryFile } from '../files/write.ts';
import { type Changes, hashShown, outdatedIn } from '../record/changes.ts';
import {
  asBefore,
  contentRecord,
  hashOf,
  type Manifest,
  type ManifestFile,
  outputOf,
  requestsOf,
  sourceNames,
  writeManifest,
} from '../record/manifest.ts';
import { Pack } from '../record/pack.ts';
import type { Progress } from '../record/progress.ts';
import { writeImages } from '../record/write-images.ts';
import type { FetchedSnippet } from '../snippets/fetch-snippets.ts';
import { type FileEmbed, readEmbeds } from '../snippets/file-embeds.ts';
import { EditLinks } from './edit-links/edit-links.ts';
import { type InlinedPage, pageInliner } from './inline-page.ts';
import { lookAtOutput, writtenAgain } from './output-state.ts';
import { type DerivedFile, findDerivedFiles } from './side-products/derived-files.ts';
import type { OldContent } from './side-products/old-texts.ts';
import {
  hashOfCopy,
  listPageCopies,
  notACopy,
  type PageCopy,
  pageCopyOf,
  shownPath,
  siteFolders,
} from './side-products/page-copies.ts';
import { StagedFiles } from './staged-files.ts';

/** A page that a refresh writes. Without its bytes: those of all pages may not fit into memory. */
export interface RefreshedPage {
  page: ManifestFile;
  /** The hash of what is going to be written. */
  hash: string;
  /** The snippets of which it shows another content then, by their indexes in the manifest. */
  changed: readonly number[];
  /** Files that hold the page, too, and are written with it. */
  copies: PageCopy[];
  /** Makes what is going to be written. */
  made(): Buffer;
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
  /** Files that something else has changed since, and that this refresh does not write. */
  changed: string[];
  /** Files that were made from these pages, and that only the command that made them can renew. */
  stale: DerivedFile[];
  /** Closes the pages as they were generated. */
  close(): void;
}

/**
 * After a refresh that was killed, or during one, finds out whether each page is in the state before or after it. Each
 * page is complete in either state. Changes nothing.
 */
export async function recover(file: string, manifest: Manifest): Promise<Manifest> {
  if (manifest.files.every(({ next }) => next === undefined)) return manifest;
  const output = outputOf(file, manifest);
  const folders = siteFolders(file, manifest);
  const files = await Promise.all(
    manifest.files.map(async (page): Promise<ManifestFile> => {
      const { next, older: _, ...current } = page;
      const last = next?.at(-1);
      if (next === undefined || last === undefined) return page;
      const bytes = await readFile(join(output, page.name)).catch(() => undefined);
      if (bytes === undefined || hashOf(bytes) !== last) return page;
      const isWhole = listPageCopies(folders, page).every((copy) => hashOfCopy(copy, [bytes]) === last);
      const states = [...new Set([page.hash, ...next])];
      const written = { ...current, hash: last, past: [page.hash, ...(page.past ?? [])] };
      return isWhole ? written : { ...written, next: states };
    }),
  );
  return { ...manifest, files };
}

/** Whether a refresh that was killed has written a page, and not all of its copies. See {@link recover}. */
export function lacksCopies({ hash, next }: ManifestFile): boolean {
  return next?.at(-1) === hash;
}

/** The files that a refresh writes first: for what it has announced, and images. A killed one may have left them. */
export function temporaryFiles(file: string, manifest: Manifest): string[] {
  const output = outputOf(file, manifest);
  const folders = siteFolders(file, manifest);
  const announced = manifest.files.filter(({ next }) => next !== undefined);
  const pages = announced.flatMap((page) => [
    join(output, page.name),
    ...listPageCopies(folders, page).map((copy) => copy.file),
  ]);
  const assets = manifest.rules.images?.assets.folder;
  const images =
    assets === undefined ? [] : listTemporaryFiles(folders.map(({ directory }) => join(directory, assets)));
  return [...pages.map(temporaryFile), ...images];
}

export interface PlanOptions {
  /** Where people are: names of files begin there. By default, in the folder of the record. */
  cwd?: string | undefined;
  progress?: Progress | undefined;
  /** Called with each page that a refresh is going to write, as it is going to be. */
  onPage?(page: ManifestFile, after: Buffer): void;
}

// Making a page again takes as long as reading it; keeping all pages of a large site takes too much memory.
const maxKeptBytes = 64 * 1024 * 1024;

/**
 * Computes what a build would make of each page whose snippets have changed. Writes nothing.
 *
 * @throws AstroError if pages have to be made, and are not there as they were generated.
 */
export async function planRefresh(
  file: string,
  manifest: Manifest,
  { snippets, hashes }: Pick<Changes, 'snippets' | 'hashes'>,
  { cwd, progress = () => {}, onPage }: PlanOptions = {},
): Promise<RefreshPlan> {
  const output = outputOf(file, manifest);
  const plan: RefreshPlan = { pages: [], toBuild: [], changed: [], stale: [], close: () => {} };
  const reasonForAll = manifest.rules.sanitizes
    ? 'shows content that only a build sanitizes'
    : reasonForStyles(manifest, snippets);
  const folders = siteFolders(file, manifest, cwd);
  const outdated = manifest.files.flatMap((page) => {
    const changed = outdatedIn(manifest, page, hashes);
    return changed.length === 0 && page.next === undefined ? [] : [{ page, changed }];
  });
  let make: PageMaker | undefined;
  let keptBytes = 0;
  for (const [index, { page, changed }] of outdated.entries()) {
    progress(() => `${index} of ${count(outdated.length, 'page')} compared`);
    const before = await readFile(join(output, page.name)).catch(() => undefined);
    if (before === undefined || !statesOf(page).has(hashOf(before))) {
      plan.toBuild.push({ name: page.name, reason: 'was changed after the build' });
      continue;
    }
    if (reasonForAll !== undefined) {
      plan.toBuild.push({ name: page.name, reason: reasonForAll });
      continue;
    }
    make ??= openPages(file, manifest, snippets, plan);
    const { file: after, hasPolicy, embeds } = make(page);
    if (page.shows.slice(embeds.length).some((index) => changed.includes(index))) {
      plan.toBuild.push({ name: page.name, reason: 'was changed after a snippet on it was inlined' });
      continue;
    }
    const isPage = fileKind(page.name) === 'html';
    if (isPage && !hasPolicy && needsOtherSources(embeds, changed, manifest, snippets)) {
      plan.toBuild.push({ name: page.name, reason: 'has its policy in headers, which only a build writes' });
      continue;
    }
    const copies = listPageCopies(folders, page);
    const others = copies.filter((copy) => !statesOf(page).has(hashOfCopy(copy, [before, after]) ?? ''));
    if (others.length > 0) {
      for (const copy of others) plan.toBuild.push({ name: copy.name, reason: notACopy(copy, page.name) });
      continue;
    }
    onPage?.(page, after);
    keptBytes += after.length;
    const kept = keptBytes > maxKeptBytes ? undefined : after;
    const again = make;
    plan.pages.push({ page, hash: hashOf(after), changed, copies, made: () => kept ?? again(page).file });
  }
  const found = await lookAtOutput(file, manifest);
  const planned = new Set([...plan.pages.map(({ page }) => page), ...plan.toBuild].map(({ name }) => name));
  plan.toBuild.push(...found.toBuild.filter(({ name }) => !planned.has(name)));
  plan.changed.push(...found.changed.filter((name) => !planned.has(name)));
  for (const entry of manifest.collections.filter(({ snippet, content }) => content !== hashes[snippet])) {
    const reason = 'shows a changed snippet, and which pages use this entry is not known';
    plan.toBuild.push({ name: entryName(entry), reason });
  }
  const changing = plan.pages.filter(({ page, hash }) => page.hash !== hash);
  const recorded = new Set(manifest.files.flatMap(({ name, copies = [] }) => [name, ...copies]));
  // A cache folder may be in the output.
  const records = shownPath(output, dirname(file));
  const derived = findDerivedFiles(folders, {
    pages: changing.map(({ page: { name, size } }) => ({
      name,
      size,
      read: () => readIfThere(join(output, name)),
    })),
    contents: oldContents(changing, manifest, snippets),
    isRecorded: (name) => recorded.has(name) || name.startsWith(`${records}/`),
    since: manifest.inlinedAt,
  });
  plan.stale = derived.filter(({ kind }) => kind !== 'copy');
  for (const { folder, name, kind, page } of derived) {
    const original = kind === 'copy' ? plan.pages.find((one) => one.page.name === page) : undefined;
    if (original === undefined) continue;
    original.copies.push({ file: join(folder.directory, name), name });
    original.page = { ...original.page, copies: [...(original.page.copies ?? []), name] };
  }
  return plan;
}

/** What the snippets that change on these pages have shown there. */
function oldContents(
  pages: readonly RefreshedPage[],
  manifest: Manifest,
  snippets: readonly (FetchedSnippet | undefined)[],
): OldContent[] {
  return [...new Set(pages.flatMap(({ changed }) => changed))].flatMap((index) => {
    const { id, content } = manifest.snippets[index] ?? {};
    const now = sourceNames(snippets[index]?.inlineCode) ?? [];
    const sources = content?.sources?.filter((source) => !now.includes(source)) ?? [];
    return id === undefined ? [] : [{ id, text: content?.text ?? '', sources }];
  });
}

/** The hashes of what a page and its copies may be. */
export function statesOf({ hash, next = [] }: ManifestFile): Set<string> {
  return new Set([hash, ...next]);
}

type PageMaker = (page: ManifestFile) => InlinedPage & { embeds: readonly FileEmbed[] };

/** Opens the pages as they were generated, to inline snippets in them as a build does. */
function openPages(
  file: string,
  manifest: Manifest,
  snippets: readonly (FetchedSnippet | undefined)[],
  plan: RefreshPlan,
): PageMaker {
  const pack = new Pack(file, manifest);
  plan.close = () => pack.close();
  const { rules, editUrls } = manifest;
  const requests = requestsOf(manifest);
  const contents = requests.flatMap(({ key }, index) => {
    const snippet = snippets[index];
    return snippet === undefined ? [] : [[key, snippet] as const];
  });
  const inlinePage = pageInliner({
    snippets: new Map(contents),
    rules,
    editLinks:
      editUrls && new EditLinks(new Map(Object.entries(editUrls).map(([id, url]) => [Number(id), url]))),
    // What is sent with a page, only a build writes.
    allow: rules.policy === 'hash' || rules.editLinks !== undefined ? () => {} : undefined,
  });
  return (page) => {
    const generated = pack.read(page);
    const kind = fileKind(page.name) as FileKind;
    // As they were asked for: the option `params` is a function, which only a build has.
    const recorded = page.shows.values();
    const addParams = (written: SnippetRequest) => requests[recorded.next().value ?? -1] ?? written;
    const { embeds } = readEmbeds({ name: page.name, bytes: generated, kind, addParams }, new Map());
    return { ...inlinePage({ name: page.name, kind }, generated, embeds), embeds };
  };
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

/** Whether a policy in the headers of a page has to allow something else than it did. */
function needsOtherSources(
  embeds: readonly FileEmbed[],
  changed: readonly number[],
  manifest: Manifest,
  snippets: readonly (FetchedSnippet | undefined)[],
): boolean {
  if (manifest.rules.policy !== 'hash') return false;
  const asHtml = new Set(embeds.flatMap(({ form, request }) => (form.as === 'html' ? request.key : [])));
  const requests = requestsOf(manifest);
  return changed.some((index) => {
    const now = sourceNames(snippets[index]?.inlineCode) ?? [];
    const recorded = manifest.snippets[index]?.content?.sources ?? [];
    return asHtml.has(requests[index]?.key ?? '') && String(now) !== String(recorded);
  });
}

export interface WriteOptions {
  /** Whether a command is going to renew what was made from the pages: until it has succeeded, the manifest says so. */
  hasCommand?: boolean;
  /** Returns the bytes of an image that was downloaded, by its name. */
  readImage?(name: string): Promise<Uint8Array | undefined>;
  /** Tells texts with the API key. */
  containsKey(text: string): boolean;
  progress?: Progress | undefined;
}

/**
 * Writes the pages of a plan, and their copies. All are written beside their places first, and then replaced, each as a
 * whole. The manifest announces what is going to be written, so that the process can be killed at any moment. The images
 * that they show are written before them.
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
    containsKey,
    progress = () => {},
  }: RefreshPlan & WriteOptions,
): Promise<PageToBuild[]> {
  const output = outputOf(file, manifest);
  // Not only what changes: after a refresh that was killed, a page may show what the record does not say.
  const written = new Set(planned.flatMap(({ page }) => page.shows));
  // First, since a page must not show what is not there. An image that no page shows does no harm.
  const assets = manifest.rules.images?.assets.folder;
  if (assets !== undefined) {
    const folders = siteFolders(file, manifest).map(({ directory }) => join(directory, assets));
    const shown = planned.flatMap(({ page }) => page.shows.map((index) => snippets[index]));
    await writeImages(folders, shown, readImage);
  }
  const record: Manifest = {
    ...manifest,
    pending: hasCommand || undefined,
    refreshedAt: new Date().toISOString(),
    snippets: manifest.snippets.map((recorded, index) => {
      const { content, missing: _, ...more } = recorded;
      const snippet = snippets[index];
      if (snippet === undefined) return written.has(index) ? { ...more, missing: true } : recorded;
      const now = contentRecord(snippet, containsKey);
      // Content that is written nowhere is not what the site shows.
      return now.hash === content?.hash || written.has(index) ? { ...more, content: now } : recorded;
    }),
    before: asBefore(manifest),
  };
  const hashesNow = record.snippets.map(({ content }) => content?.hash);
  const left = manifest.files.map((page): ManifestFile => {
    // The contents that it shows as it is, where they are not those of the new record.
    const outdated = outdatedIn(manifest, page, hashesNow);
    const older = outdated.map((index) => [index, hashShown(manifest, page, index) ?? null]);
    return { ...page, older: older.length === 0 ? undefined : Object.fromEntries(older) };
  });
  const hashes = new Map(planned.map(({ page, hash }) => [page.name, hash]));
  const copies = new Map(planned.map(({ page }) => [page.name, page.copies]));
  const announce = (page: ManifestFile): ManifestFile => {
    const hash = hashes.get(page.name);
    if (hash === undefined) return page;
    return { ...page, copies: copies.get(page.name), next: [...(page.next ?? []), hash] };
  };
  await writeManifest(file, { ...record, files: left.map(announce) });
  const leftAlone: PageToBuild[] = [];
  const staged = new StagedFiles();
  try {
    for (const [index, { page, copies, made }] of planned.entries()) {
      progress(() => `${index} of ${count(planned.length, 'page')} written`);
      const bytes = made();
      staged.add(join(output, page.name), bytes);
      const copied = copies.map(async (copy) => [copy.file, await pageCopyOf(bytes, copy)] as const);
      for (const [target, copy] of await Promise.all(copied)) staged.add(target, copy);
    }
    for (const { page, copies } of planned) {
      const target = join(output, page.name);
      const now = readIfThere(target);
      if (now !== undefined && statesOf(page).has(hashOf(now))) {
        await staged.commit([target, ...copies.map((copy) => copy.file)]);
      } else {
        leftAlone.push({ name: page.name, reason: 'was changed while it was refreshed' });
        hashes.delete(page.name);
      }
    }
  } finally {
    staged.discard();
  }
  const settle = (page: ManifestFile): ManifestFile => {
    const hash = hashes.get(page.name);
    if (hash === undefined) return page;
    return writtenAgain({ ...page, copies: copies.get(page.name) }, join(output, page.name), hash);
  };
  await writeManifest(file, { ...record, files: left.map(settle) });
  return leftAlone;
}

function readIfThere(file: string): Buffer | undefined {
  return existsSync(file) ? readFileSync(file) : undefined;
}
