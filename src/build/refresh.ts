import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Progress } from '../client/clock.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { containsKnownKey, count } from '../client/text.ts';
import type { FileKind } from '../embed/scan.ts';
import { entryName, listNames, listPlaces, userError } from '../failures/errors.ts';
import { fileKind, isTemporary, pathFrom, StagedFiles, writeImages } from '../files/files.ts';
import {
  type Contents,
  displayedHash,
  findStaleSnippets,
  hashOf,
  type Manifest,
  type ManifestFile,
  toSnapshot,
  writeManifest,
} from '../record/manifest.ts';
import { openPack } from '../record/pack.ts';
import type { FetchedSnippets } from '../snippets/fetch-snippets.ts';
import { readEmbeds } from '../snippets/file-embeds.ts';
import { type InlinedPage, pageInliner } from './inline-page.ts';
import {
  compareOutput,
  describeLate,
  type PageToBuild,
  possibleHashes,
  toFileState,
} from './output-state.ts';
import type { SiteFile } from './scan-site.ts';
import {
  type DerivedFile,
  findDerivedFiles,
  hashOfCopy,
  listPageCopies,
  notACopy,
  pageCopyOf,
  siteFolders,
} from './side-products.ts';

/** Not all pages may fit into memory. */
interface RefreshedPage {
  page: ManifestFile;
  hash: string;
  changed: number[];
  copies: SiteFile[];
  made(): Buffer;
}

export type RefreshPlan = Awaited<ReturnType<typeof planRefresh>>;

interface RefreshedSite {
  file: string;
  manifest: Manifest;
  fetched: FetchedSnippets;
  now: Contents;
  cwd: string;
  progress: Progress;
  readImage(name: string): Promise<Uint8Array | undefined>;
}

// A page is made again as fast as it is read.
const maxKeptBytes = 64 * 1024 * 1024;

/** Makes pages whose snippets have changed, or that a killed refresh was writing, as a build does. */
export async function planRefresh(site: RefreshedSite) {
  const { file, manifest, now, cwd, progress } = site;
  const { output, files, collections, rules, inlinedAt } = manifest;
  const folders = siteFolders(manifest, cwd);
  const plan = {
    ...(await compareOutput(manifest)),
    pages: [] as RefreshedPage[],
    /** Made from these pages. Only the command that made them can renew them. */
    stale: [] as DerivedFile[],
  };
  const refused = new Set(plan.toBuild.map(({ name }) => name));
  const refuse = (name: string, reason: string) => void plan.toBuild.push({ name, reason });
  for (const entry of collections) {
    if (entry.content === now[entry.snippet]?.hash) continue;
    refuse(entryName(entry), 'shows a changed snippet, and which pages use this entry is not known');
  }
  if (!existsSync(output)) return plan;
  const outdated = files
    .filter(({ name }) => !refused.has(name))
    .map((page) => ({ page, changed: findStaleSnippets(manifest, page, now) }))
    .filter(({ page, changed }) => changed.length > 0 || page.expectedHashes);
  const reasonForAll = rules.sanitizes ? 'shows content that only a build sanitizes' : reasonForStyles(site);
  const modified = new Set(plan.changed);
  const changing: SiteFile[] = [];
  const withKey: string[] = [];
  const make = pageMaker(site);
  let keptBytes = 0;
  const planPage = (page: ManifestFile, changed: number[]) => {
    const { name, changedAfterInlining } = page;
    if (modified.delete(name)) return refuse(name, 'was changed after the build');
    const late = `is changed in each build after snippets are inlined (by ${describeLate(manifest)})`;
    if (changedAfterInlining) return refuse(name, late);
    if (reasonForAll) return refuse(name, reasonForAll);
    const made = make(page);
    const reason = reasonForPage(page, made, changed, site);
    if (reason) return refuse(name, reason);
    const file = join(output, name);
    const before = readFileSync(file);
    const states = possibleHashes(page);
    const copies = listPageCopies(folders, page);
    const others = copies.filter((copy) => !states.has(hashOfCopy(copy, [before, made.file]) ?? ''));
    for (const copy of others) refuse(copy.name, notACopy(copy, name));
    if (others.length > 0) return;
    if (containsKnownKey(made.file)) withKey.push(name);
    if (!made.file.equals(before)) changing.push({ file, name });
    keptBytes += made.file.length;
    const kept = keptBytes > maxKeptBytes ? undefined : made.file;
    plan.pages.push({ page, hash: hashOf(made.file), changed, copies, made: () => kept ?? make(page).file });
  };
  for (const [index, { page, changed }] of outdated.entries()) {
    progress(() => `${index} of ${count(outdated.length, 'page')} compared`);
    planPage(page, changed);
  }
  if (withKey.length > 0) {
    throw userError('published-key', `The API key would be in ${listPlaces(withKey)}. Nothing was written.`);
  }
  plan.changed = [...modified];
  // There may be files of a killed refresh, and the cache.
  const recorded = new Set(files.flatMap(({ name, copies = [] }) => [name, ...copies]));
  const records = `${pathFrom(output, dirname(file))}/`;
  // Older files, such as pages written by hand, were not made from these pages.
  const mayBeMade = ({ file, name }: SiteFile) => {
    const isOurs = recorded.has(name) || isTemporary(name) || name.startsWith(records);
    return !isOurs && statSync(file).mtimeMs >= inlinedAt;
  };
  const changed = new Set(plan.pages.flatMap((page) => page.changed));
  for (const copy of findDerivedFiles(folders, changing, { ...site, changed, mayBeMade })) {
    const original = plan.pages.find(({ page }) => page.name === copy.page);
    if (original) {
      const { page, copies } = original;
      copies.push(copy);
      original.page = { ...page, copies: [...(page.copies ?? []), copy.name] };
    } else plan.stale.push(copy);
  }
  return plan;
}

function pageMaker({ file, manifest, fetched }: RefreshedSite) {
  const { rules, linked, snippets } = manifest;
  const pack = openPack(file, manifest);
  const inlinePage = pageInliner({ snippets: fetched, rules, linked });
  return (page: ManifestFile) => {
    const { name, shows } = page;
    const generated = pack.read(page);
    const kind = fileKind(name) as FileKind;
    // As asked for: only a build has the option `params`.
    const recorded = shows.values();
    const addParams = (written: SnippetRequest) => snippets[recorded.next().value ?? -1] ?? written;
    const { embeds } = readEmbeds({ name, bytes: generated, kind, addParams }, new Map());
    return inlinePage({ name, kind }, generated, embeds);
  };
}

/** A style sheet's name, which every page contains, changes with its classes. */
function reasonForStyles({ manifest, now }: RefreshedSite) {
  if (!manifest.classes) return undefined;
  const before = new Set(manifest.snippets.flatMap(({ content }) => content?.classes ?? []));
  const after = new Set(now.flatMap((content) => content?.classes ?? []));
  const made = before.intersection(new Set(manifest.classes));
  const changed = [...after.difference(made), ...before.difference(after)];
  if (changed.length === 0) return undefined;
  return `needs style sheets that only a build makes: snippets now have other classes (${listNames(changed, 5)})`;
}

function reasonForPage(page: ManifestFile, made: InlinedPage, changed: number[], site: RefreshedSite) {
  const { name, shows } = page;
  const { embeds, hasPolicy } = made;
  const { rules, snippets } = site.manifest;
  if (shows.slice(embeds.length).some((index) => changed.includes(index))) {
    return 'was changed after a snippet on it was inlined';
  }
  if (rules.policy !== 'hash' || hasPolicy || fileKind(name) !== 'html') return undefined;
  const needsOtherSources = (index: number, at: number) =>
    embeds[at]?.format.as === 'html' &&
    changed.includes(index) &&
    String(site.now[index]?.sources ?? []) !== String(snippets[index]?.content?.sources ?? []);
  return shows.some(needsOtherSources) ? 'has its policy in headers, which only a build writes' : undefined;
}

/**
 * Writes pages, their copies and images, all beside their places first. The manifest announces them: the process can be killed
 * at any moment.
 *
 * @returns pages that have changed since, and are left alone
 */
export async function writeRefresh(site: RefreshedSite, { pages }: RefreshPlan, hasCommand: boolean) {
  const { file, manifest, now, progress } = site;
  const { output, rules, snippets, files } = manifest;
  // Not only what changes: a killed refresh may have written more.
  const written = new Set(pages.flatMap(({ page }) => page.shows));
  const assets = rules.images?.assets.folder;
  if (assets !== undefined) {
    const folders = siteFolders(manifest, site.cwd).map(({ directory }) => join(directory, assets));
    const shown = [...written].map((index) => now[index]);
    // First: an image that no page shows does no harm.
    await writeImages(folders, shown, site.readImage);
  }
  // The site does not show content that is written nowhere.
  const contents = snippets.map(({ content }, index) => (written.has(index) ? now[index] : content));
  const recordOf = new Map<string, ManifestFile>();
  for (const page of files) {
    const outdated = findStaleSnippets(manifest, page, contents);
    // What it shows until it is written.
    const older = outdated.map((index) => [index, displayedHash(manifest, page, index) ?? null]);
    recordOf.set(page.name, {
      ...page,
      staleContentHashes: older.length > 0 ? Object.fromEntries(older) : undefined,
    });
  }
  const change = ({ name }: ManifestFile, more: Partial<ManifestFile>) =>
    Object.assign(recordOf.get(name) ?? {}, more);
  for (const { page, hash } of pages)
    change(page, { copies: page.copies, expectedHashes: [...(page.expectedHashes ?? []), hash] });
  const record: Manifest = {
    ...manifest,
    pending: hasCommand || undefined,
    refreshedAt: new Date().toISOString(),
    snippets: snippets.map((recorded, index) => {
      const content = contents[index];
      return written.has(index) ? { ...recorded, content, missing: content ? undefined : true } : recorded;
    }),
    previous: toSnapshot(manifest),
    files: [...recordOf.values()],
  };
  writeManifest(file, record);
  const leftAlone: PageToBuild[] = [];
  const staged = new StagedFiles();
  try {
    for (const [index, { page, copies, made }] of pages.entries()) {
      progress(() => `${index} of ${count(pages.length, 'page')} written`);
      const bytes = made();
      staged.add(join(output, page.name), bytes);
      const copied = copies.map(async (copy) => [copy.file, await pageCopyOf(bytes, copy)] as const);
      for (const [target, copy] of await Promise.all(copied)) staged.add(target, copy);
    }
    for (const { page, copies, hash } of pages) {
      const target = join(output, page.name);
      if (existsSync(target) && possibleHashes(page).has(hashOf(readFileSync(target)))) {
        await staged.commit([target, ...copies.map((copy) => copy.file)]);
        change(page, {
          staleContentHashes: undefined,
          expectedHashes: undefined,
          ...toFileState(statSync(target), hash, page),
        });
      } else {
        leftAlone.push({ name: page.name, reason: 'was changed while it was refreshed' });
        change(page, { expectedHashes: page.expectedHashes });
      }
    }
  } finally {
    staged.discard();
  }
  writeManifest(file, record);
  return leftAlone;
}
