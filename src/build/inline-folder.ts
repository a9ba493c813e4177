import { existsSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { cp, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { count } from '../client/format.ts';
import { toRequest } from '../client/snippet-request.ts';
import { embedName } from '../embed/element.ts';
import { userError } from '../failures/errors.ts';
import { listNames } from '../failures/report.ts';
import { isTemporary } from '../files/write.ts';
import { hashOf, type Manifest, type ManifestFile, readManifest, writeManifest } from '../record/manifest.ts';
import { contains, lockFile, noteMissing } from '../record/manifest-file.ts';
import { lockAfterRefresh } from '../record/output-lock.ts';
import { flawOf, listPacks, packReader, removeOtherPacks } from '../record/pack.ts';
import { fetcherAfter } from './build-fetcher.ts';
import type { MadePage } from './inline-page.ts';
import { type InlinedSite, inlineSnippets } from './inline-snippets.ts';
import { sealedFiles, shownIn, staleCopies } from './output-state.ts';
import type { LeftSnippets } from './recorder.ts';
import { statesOf } from './refresh.ts';
import { listSiteFiles, OutputVerifier, type SiteFile, type SiteFiles, scanSite } from './scan-site.ts';
import { hashOfCopy, pageCopyOf, shownPath, withoutSuffix } from './side-products/page-copies.ts';
import { StagedFiles } from './staged-files.ts';

export interface FolderInlining extends Pick<InlinedSite, 'settings' | 'environment' | 'logger'> {
  /** Where people are: paths that are shown begin there. */
  cwd: string;
  /** The folder that a generator has written. */
  from: string;
  /** The folder to publish: the same one, or another that gets everything of it. */
  to: string;
  manifest: string;
}

const namesShown = 10;

/**
 * Inlines snippets into a folder of files, whatever has written them. If it fails, no file has been written. Files that
 * an earlier run has inlined stay in the record, and are updated.
 *
 * @throws AstroError with one report of everything that went wrong; if another process writes to the folder; if the
 * folders cannot be used.
 */
export async function inlineFolder(inlining: FolderInlining): Promise<void> {
  const { cwd, to, manifest, logger } = inlining;
  refuseFolders(inlining);
  const log = (line: string) => logger.info(line);
  const lock = await lockAfterRefresh(lockFile(manifest, to), shownPath(cwd, to), log);
  const staged = new StagedFiles();
  try {
    await inlineLocked(inlining, staged);
  } finally {
    staged.discard();
    lock.release();
  }
}

async function inlineLocked(inlining: FolderInlining, staged: StagedFiles): Promise<void> {
  const { to, manifest, environment, logger } = inlining;
  const targetOf = ({ name }: SiteFile) => join(to, name);
  const isPublished = (file: SiteFile) => file.file === targetOf(file);
  const { scannable, others, compressed } = listFiles(inlining);
  const last = await openLastRun(inlining, scannable.filter(isPublished));
  const { record: before, kept, readPage } = last;
  const settings = { ...inlining.settings };
  // Without a record, files of an earlier run would never be updated again.
  if (kept.size > 0) settings.missingKey = 'error';
  const verifier = new OutputVerifier(settings.apiKey);
  const fetcher = fetcherAfter(before, settings, logger);
  // Of the files as they are, with their embeds or as an earlier run left them.
  const hashes = new Map(kept);
  const copiesOf = Map.groupBy(compressed, ({ name }) => withoutSuffix(name));
  const changes: Changes = { staged, names: new Set(), states: new Map() };
  const outdated: { copy: SiteFile; page: SiteFile }[] = [];
  const unrelated: SiteFile[] = [];
  const stage = (file: SiteFile, bytes: Buffer) => {
    changes.names.add(file.name);
    staged.add(targetOf(file), bytes, file.file);
  };
  try {
    const site: InlinedSite = {
      settings,
      environment,
      // How people link to the files of a folder is not known, so a page has the URL that most servers give it.
      urls: { base: '/', trailingSlash: 'ignore', format: 'preserve' },
      directory: to,
      outDir: to,
      manifest,
      before,
      fetcher,
      logger,
    };
    const files = scannable.map((file) => {
      const recorded = kept.has(file.name) ? last.files.get(file.name) : undefined;
      return recorded && readPage ? Object.assign(file, { generated: () => readPage(recorded) }) : file;
    });
    const scanned = await scanSite(files, site, verifier, ({ name, generated }, bytes) => {
      if (generated === undefined) hashes.set(name, hashOf(bytes));
    });
    // The folder is not what the record says, even if this run fails.
    const isNew = scanned.files.some((file) => file.generated === undefined && isPublished(file));
    if (isNew && existsSync(manifest)) renameSync(manifest, asideOf(manifest));
    const inlined = await inlineSnippets(scanned, site, {
      verifier,
      write(page, made) {
        const before = readUnchanged(page, hashes.get(page.name));
        if (!isPublished(page) || !made.file.equals(before)) stage(page, made.file);
        const recorded = last.files.get(page.name);
        const states = new Set([
          ...[before, made.generated].map(hashOf),
          ...(recorded ? statesOf(recorded) : []),
        ]);
        changes.states.set(page.name, states);
        for (const copy of copiesOf.get(page.name) ?? []) {
          const held = hashOfCopy(copy, [before, made.file]) ?? '';
          if (held === hashOf(made.file)) continue;
          if (states.has(held)) outdated.push({ copy, page });
          else unrelated.push(copy);
        }
        return isPublished(page) ? leftIn(last, page.name, made) : undefined;
      },
    });
    await verifier.read(others);
    verifier.refuse((names) => `The API key was found in ${names}. Nothing was written.`);
    if (unrelated.length > 0) {
      const hint =
        'Servers send it instead of the page. Delete it, or compress files after `astro-snippets inline`.';
      throw staleCopies(unrelated, ' Nothing was written.', hint);
    }
    for (const { copy, page } of outdated) stage(copy, await pageCopyOf(staged.read(targetOf(page)), copy));
    for (const line of describeForgotten(last, [...scannable, ...others].filter(isPublished), inlined))
      logger.warn(line);
    // With a record, a check could say that nothing has changed. What the command of `refresh --after` was to renew is still
    // out of date.
    const record = fetcher.showsChildren ? undefined : { ...inlined, pending: before?.pending };
    await publish(inlining, changes, before, record);
  } catch (error) {
    // Before anything else, as in a build: an answer that arrives later could end the process without the report.
    await fetcher.close().catch(() => {});
    removeOtherPacks(manifest, before ?? {});
    if (!existsSync(manifest)) noteMissing(manifest, error as Error);
    throw error;
  }
  await fetcher.close();
  for (const line of describeKept([...kept.keys()], changes.names)) logger.info(line);
}

/** What the last run of `inline` left in a folder. */
interface LastRun {
  record: Manifest | undefined;
  files: ReadonlyMap<string, ManifestFile>;
  /** The hashes of files that are as it left them, such as those of a generator that did not write them again. */
  kept: ReadonlyMap<string, string>;
  readPage: ReturnType<typeof packReader> | undefined;
}

/**
 * Finds out what the last run left, also where it failed. One that is killed while it writes leaves files that are as its
 * record says, or still contain their embeds.
 *
 * @param files those that are published, and may contain embeds.
 */
async function openLastRun(
  { cwd, manifest, logger }: FolderInlining,
  files: readonly SiteFile[],
): Promise<LastRun> {
  const file = lastRecordFile(manifest);
  const { manifest: record, flaw } = await readManifest(file);
  // The pages of a run are kept beside its record.
  if (record === undefined && (flaw !== 'absent' || listPacks(manifest).length > 0)) {
    const otherVersion = 'was written by another version of astro-snippets';
    const problem = { absent: 'is missing', damaged: 'is damaged', 'other-version': otherVersion }[flaw];
    logger.warn(
      `The record of the last run at ${shownPath(cwd, flaw === 'absent' ? manifest : file)} ${problem}. Files that were inlined then are not in the new record, unless they are written again.`,
    );
  }
  const packFlaw = record?.pack && flawOf(manifest, record.pack);
  if (packFlaw !== undefined) {
    logger.warn(
      `The files of the last run as they were generated ${packFlaw}. They stay as they are, and are not in the new record at ${shownPath(cwd, manifest)}, unless they are written again.`,
    );
  }
  const readPage = record?.pack && packFlaw === undefined ? packReader(manifest, record) : undefined;
  const recorded = new Map(record?.files.map((file) => [file.name, file]));
  const kept = new Map<string, string>();
  for (const { file, name } of files) {
    const known = readPage && recorded.get(name);
    if (known === undefined) continue;
    const hash = hashOf(readFileSync(file));
    // A run that was killed has written it, or has not.
    if (statesOf(known).has(hash)) kept.set(name, hash);
  }
  return { record, files: recorded, kept, readPage };
}

/** Where the record of the last run is, if there is one. */
export function lastRecordFile(manifest: string): string {
  return existsSync(manifest) ? manifest : asideOf(manifest);
}

/** Where a record is that says more, or less, than the folder holds. */
function asideOf(manifest: string): string {
  return `${manifest}.unfinished`;
}

/**
 * The snippets that a file with embeds still shows of the last run. A step after it has changed the file; what the generator
 * writes has its embeds instead.
 */
function leftIn(
  { record, files, kept, readPage }: LastRun,
  name: string,
  { generated, embeds }: MadePage,
): LeftSnippets | undefined {
  const file = files.get(name);
  if (record === undefined || file === undefined) return undefined;
  const embedded = new Set(embeds.map(({ request }) => request.key));
  const others = [...new Set(file.shows)].filter((index) => {
    const { id = 0, params } = record.snippets[index] ?? {};
    return !embedded.has(toRequest(id, params).key);
  });
  if (others.length === 0 || (!kept.has(name) && readPage?.(file).equals(generated))) return undefined;
  return { record, file, indexes: shownIn(generated, others, file, record) };
}

/**
 * Names files of the last run that are not in the new record. One that the generator has written again without embeds, and one
 * that a minifier has changed after it was inlined, look alike.
 */
function describeForgotten(
  last: LastRun,
  files: readonly SiteFile[],
  { files: recorded }: Pick<Manifest, 'files'>,
): string[] {
  const known = new Set(recorded.map(({ name }) => name));
  const forgotten = files
    .filter(({ name }) => last.files.has(name) && !known.has(name))
    .filter(({ file }) => !embedName.test(readFileSync(file, 'latin1')))
    .map(({ name }) => name);
  if (forgotten.length === 0) return [];
  return [
    `Changed or excluded since the last run, and no longer in the record: ${listNames(forgotten, namesShown)}. Snippets of that run may still be there, and are not updated. If a step after inline has changed these files, such as a minifier, let the generator write them again, and run inline before that step.`,
  ];
}

/**
 * Reads a file again.
 *
 * @param hash the hash of what it held when the run began.
 * @throws AstroError if it holds something else now.
 */
function readUnchanged({ file, name }: SiteFile, hash: string | undefined): Buffer {
  const bytes = readFileSync(file);
  if (hashOf(bytes) === hash) return bytes;
  throw userError(
    'output-in-use',
    `${name} was changed while snippets were fetched. Nothing was written.`,
    'Run the command when the generator has ended.',
  );
}

interface Changes {
  staged: StagedFiles;
  names: Set<string>;
  /** The hashes of what pages and their copies may hold until they are replaced, by the names of pages. */
  states: Map<string, ReadonlySet<string>>;
}

/**
 * Until everything is written, the record is beside its place: there it would say that it is. It announces what is going
 * to be written, as that of a refresh does, so that the process can be killed at any moment.
 *
 * @param before the record of the last run.
 */
async function publish(
  { from, to, manifest }: FolderInlining,
  { staged, names, states }: Changes,
  before: Manifest | undefined,
  record: Manifest | undefined,
): Promise<void> {
  const aside = asideOf(manifest);
  const announce = (file: ManifestFile): ManifestFile => {
    const [hash = file.hash, ...others] = states.get(file.name) ?? [];
    return { ...file, hash, next: [...others, file.hash] };
  };
  if (record === undefined) await rm(aside, { force: true });
  else await writeManifest(aside, { ...record, files: record.files.map(announce) });
  await rm(manifest, { force: true });
  await staged.commit();
  if (from !== to) {
    const records = dirname(manifest);
    const input = realpathSync(from);
    await cp(input, existsSync(to) ? realpathSync(to) : to, {
      recursive: true,
      preserveTimestamps: true,
      verbatimSymlinks: true,
      filter(source) {
        const name = relative(input, source).split(sep).join('/');
        return !names.has(name) && join(from, name) !== records;
      },
    });
  }
  if (record !== undefined) {
    const files = await sealedFiles(to, record.files, { at: Date.now(), before });
    await writeManifest(aside, { ...record, files });
    await rename(aside, manifest);
  }
  removeOtherPacks(manifest, record ?? {});
}

/** The files that are going to be published. What earlier runs have left in the output is published, too. */
function listFiles({ from, to, manifest, settings }: FolderInlining): SiteFiles {
  const isRecord = (file: string) => file.startsWith(dirname(manifest) + sep);
  const folders = from === to || !existsSync(to) ? [from] : [from, to];
  return listSiteFiles(folders, settings.exclude, ({ file, name }) => {
    // Left by a process that was killed.
    if (isTemporary(name)) rmSync(file, { force: true });
    const generated = join(from, name);
    const isLeft = from !== to && file === join(to, name);
    const isReplaced = isLeft && existsSync(generated) && !isRecord(generated);
    return isTemporary(name) || isReplaced || isRecord(file);
  });
}

/** @throws AstroError if one folder is inside the other, or if the record would be published. */
function refuseFolders({ cwd, from, to, manifest }: FolderInlining): void {
  const output = existsSync(to) ? realpathSync(to) : to;
  const input = realpathSync(from);
  if (from !== to && (contains(input, output) || contains(output, input))) {
    throw userError(
      'unusable-output',
      `The output folder ${shownPath(cwd, to)} and ${shownPath(cwd, from)} overlap.`,
    );
  }
  if (contains(to, manifest) || dirname(manifest) === from) {
    throw userError(
      'unusable-output',
      `The record of this run, ${shownPath(cwd, manifest)}, would be published.`,
      'Run the command in a folder above the output folder, or pass a file outside of it to --manifest.',
    );
  }
}

function describeKept(kept: readonly string[], written: ReadonlySet<string>): string[] {
  const lines = kept.filter((name) => written.has(name)).map((name) => `Updated ${name}`);
  const same = kept.length - lines.length;
  if (same === 0) return lines;
  const asBefore = same === 1 ? 'is as an earlier run left it' : 'are as an earlier run left them';
  return [...lines, `${count(same, 'file')} ${asBefore}.`];
}
