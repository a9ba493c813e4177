import { existsSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { cp, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { count } from '../client/format.ts';
import { userError } from '../failures/user-error.ts';
import {
  hashOf,
  hashOfFile,
  type Manifest,
  type ManifestFile,
  type RecordedEnvironment,
  readManifest,
  removeManifest,
  writeManifest,
} from '../record/manifest.ts';
import { contains, lockFile } from '../record/manifest-file.ts';
import { lockAfterRefresh } from '../record/output-lock.ts';
import { flawOf, listPacks, Pack, PackWriter, removeOtherPacks } from '../record/pack.ts';
import type { Settings } from '../settings/settings.ts';
import type { SiteUrls } from '../settings/site-urls.ts';
import { fetcherAfter } from './build-fetcher.ts';
import { CompressedCopies } from './compressed-copies.ts';
import { ForgottenFiles } from './forgotten-files.ts';
import { inlineSnippets } from './inline-snippets.ts';
import { sealedFiles } from './output-state.ts';
import { readUnchanged } from './read-unchanged.ts';
import { FileRecorder, siteManifest } from './recorder.ts';
import { statesOf, temporaryFiles } from './refresh.ts';
import { listSiteFiles, type ScannableFile, type SiteFile, type SiteFiles } from './scan-site.ts';
import { shownPath } from './side-products/page-copies.ts';
import { isStaged, StagedFiles } from './staged-files.ts';
import type { BuildLogger } from './summary.ts';
import { OutputVerifier } from './verify-output.ts';

export interface SiteFolders {
  /** The folder that a generator has written. */
  from: string;
  /** The folder to publish: the same one, or another that gets everything of it. */
  to: string;
  /** The file of the manifest. */
  manifest: string;
}

export interface FolderInlining extends SiteFolders {
  /** Where people are: paths that are shown begin there. */
  cwd: string;
  settings: Settings;
  /** Where the environment was read. */
  environment: RecordedEnvironment;
  logger: BuildLogger;
}

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
  const lock = await lockAfterRefresh(lockFile(manifest, to), shownPath(cwd, to), (line) =>
    logger.info(line),
  );
  try {
    await inlineLocked(inlining);
  } finally {
    lock.release();
  }
}

// How people link to the files of a folder is not known, so a page has the URL that most servers give it.
const urls: SiteUrls = { base: '/', trailingSlash: 'ignore', format: 'preserve' };

async function inlineLocked({
  settings: given,
  environment,
  logger,
  ...folders
}: FolderInlining): Promise<void> {
  const { to, manifest } = folders;
  const inlinedAt = Date.now();
  const before = await lastRecord(folders, logger);
  const targetOf = ({ name }: SiteFile) => join(to, name);
  const isPublished = (file: SiteFile) => file.file === targetOf(file);
  const { scannable, others, compressed } = listFiles(folders, given.exclude);
  const pack = openPack(folders, before, logger);
  const kept = pack === undefined ? [] : findKept(before, scannable.filter(isPublished));
  const keptFiles = new Map(kept.map((file) => [file.name, file]));
  const forgotten = new ForgottenFiles(before, isPublished);
  // Without a record, files of an earlier run would never be updated again.
  const settings: Settings = kept.length > 0 ? { ...given, missingKey: 'error' } : given;
  const verifier = new OutputVerifier(settings.apiKey);
  const staged = new StagedFiles();
  const newPack = new PackWriter(manifest);
  const copies = new CompressedCopies(compressed, before);
  // Of the files as they are, with their embeds or as an earlier run left them.
  const hashes = new Map(kept.map(({ name, hash }) => [name, hash]));
  const written = new Set<string>();
  const write = (file: SiteFile, bytes: Buffer) => {
    written.add(file.name);
    staged.add(targetOf(file), bytes, file.file);
  };
  const fetcher = fetcherAfter(before, settings, logger);
  try {
    const recorder =
      (await inlineSnippets(
        scannable.map((file): ScannableFile => {
          const recorded = keptFiles.get(file.name);
          if (pack === undefined || recorded === undefined) return file;
          return { file: file.file, name: file.name, kind: file.kind, generated: () => pack.read(recorded) };
        }),
        {
          settings,
          fetcher,
          verifier,
          logger,
          urls,
          allow: settings.html.policy === 'hash' ? () => {} : undefined,
          collected: [],
          pack: newPack,
          onPlainFile: (file) => forgotten.addChanged(file),
          onEmbeds({ files }) {
            // The folder is not what the record says, even if this run fails.
            if (files.some(({ source }) => source.generated === undefined && isPublished(source))) {
              setAside(manifest);
            }
          },
          onEmbeddingFile({ name, generated }, bytes) {
            if (generated === undefined) hashes.set(name, hashOf(bytes));
          },
          rewrite(file, _inMemory, change) {
            const before = readUnchanged(file, hashes.get(file.name));
            const generated = file.generated?.() ?? before;
            const after = change(generated);
            if (!isPublished(file) || !after.equals(before)) write(file, after);
            copies.check(file, { generated, before, after });
          },
        },
      )) ?? new FileRecorder({ collected: [], pack: newPack, containsKey: verifier.containsKey });
    await verifier.read(others);
    for (const file of others) forgotten.addExcluded(file);
    verifier.refuse((names) => `The API key was found in ${names}. Nothing was written.`);
    await copies.renew((page) => staged.read(targetOf(page)), write);
    const record = siteManifest(
      { manifest, directory: to, outDir: to, before, settings, environment, inlinedAt },
      recorder.finish(),
    );
    pack?.close();
    // With a record, a check could say that nothing has changed.
    const published = fetcher.showsChildren
      ? undefined
      : // What the command of `refresh --after` was to renew is still out of date.
        { ...record, pending: before?.pending };
    const states = statesBefore(kept, copies);
    await publish(folders, { staged, written, states, before, record: published });
  } catch (error) {
    // Before anything else, as in a build: an answer that arrives later could end the process without the report.
    await fetcher.close().catch(() => {});
    staged.discard();
    newPack.discard();
    throw error;
  }
  await fetcher.close();
  for (const line of describeKept(kept, written)) logger.info(line);
  for (const warning of forgotten.warnings) logger.warn(warning);
}

interface Publication {
  staged: StagedFiles;
  /** The names of files that are not copied. */
  written: ReadonlySet<string>;
  /** The hashes of what files and their compressed files may hold until they are written, by the files' names. */
  states: ReadonlyMap<string, readonly string[]>;
  /** The record of the last run. */
  before: Manifest | undefined;
  record: Manifest | undefined;
}

/**
 * Until everything is written, the record is beside its place: there it would say that it is. It announces what is going
 * to be written, as that of a refresh does, so that the process can be killed at any moment.
 */
async function publish(
  { from, to, manifest }: SiteFolders,
  { staged, written, states, before, record }: Publication,
): Promise<void> {
  if (record === undefined) await removeManifest(asideOf(manifest));
  else await writeManifest(asideOf(manifest), announced(record, states));
  await removeManifest(manifest);
  await staged.commit();
  if (from !== to) {
    const records = dirname(manifest);
    const input = realpathSync(from);
    await cp(input, existsSync(to) ? realpathSync(to) : to, {
      recursive: true,
      preserveTimestamps: true,
      verbatimSymlinks: true,
      filter(source) {
        const name = nameIn(input, source);
        return !written.has(name) && join(from, name) !== records;
      },
    });
  }
  if (record === undefined) return removeOtherPacks(manifest, {});
  const files = await sealedFiles(to, record.files, { at: Date.now(), before });
  await writeManifest(asideOf(manifest), { ...record, files });
  await rename(asideOf(manifest), manifest);
  removeOtherPacks(manifest, record);
}

function announced(record: Manifest, states: Publication['states']): Manifest {
  const announce = (file: ManifestFile): ManifestFile => {
    const [hash, ...others] = states.get(file.name) ?? [];
    return hash === undefined ? file : { ...file, hash, next: [...others, file.hash] };
  };
  return { ...record, files: record.files.map(announce) };
}

/** What files that an earlier run has inlined, and compressed files, may hold until they are written. */
function statesBefore(kept: readonly ManifestFile[], copies: CompressedCopies): Map<string, string[]> {
  const states = new Map(kept.map((file) => [file.name, [...statesOf(file)]]));
  for (const [name, hashes] of copies.held) {
    states.set(name, [...new Set([...(states.get(name) ?? []), ...hashes])]);
  }
  return states;
}

/** The pages of the last run as they were generated; `undefined` if they are not there. */
function openPack(
  { cwd, manifest }: Pick<FolderInlining, 'cwd' | 'manifest'>,
  before: Manifest | undefined,
  logger: BuildLogger,
): Pack | undefined {
  if (before?.pack === undefined) return undefined;
  const flaw = flawOf(manifest, before.pack);
  if (flaw === undefined) return new Pack(manifest, before);
  logger.warn(
    `The files of the last run as they were generated ${flaw}. They stay as they are, and are not in the new record at ${shownPath(cwd, manifest)}, unless they are written again.`,
  );
  return undefined;
}

/** The files that are as the last run left them, such as those of a generator that did not write them again. */
function findKept(before: Manifest | undefined, files: readonly ScannableFile[]): ManifestFile[] {
  const known = new Map(before?.files.map((file) => [file.name, file]));
  return files.flatMap(({ file, name }) => {
    const recorded = known.get(name);
    if (recorded === undefined) return [];
    const { next, older: _, ...more } = recorded;
    const hash = hashOfFile(file);
    // A run that was killed has written it, or has not.
    return hash === recorded.hash || next?.includes(hash)
      ? [{ ...more, hash, next: [...statesOf(recorded)] }]
      : [];
  });
}

/**
 * The record of the last run, also of one that has failed. A run that is killed while it writes leaves files that are
 * as this record says, or still contain their embeds.
 */
async function lastRecord(
  { cwd, manifest }: Pick<FolderInlining, 'cwd' | 'manifest'>,
  logger: BuildLogger,
): Promise<Manifest | undefined> {
  const file = lastRecordFile(manifest);
  const { manifest: found, flaw } = await readManifest(file);
  if (found === undefined) {
    // The pages of a run are kept beside its record.
    if (flaw !== 'absent' || listPacks(manifest).length > 0) {
      const problem = { absent: 'is missing', damaged: 'is damaged', 'other-version': otherVersion }[flaw];
      logger.warn(
        `The record of the last run at ${shownPath(cwd, flaw === 'absent' ? manifest : file)} ${problem}. Files that were inlined then are not in the new record, unless they are written again.`,
      );
    }
    return undefined;
  }
  for (const left of temporaryFiles(file, found)) await rm(left, { force: true });
  return found;
}

const otherVersion = 'was written by another version of astro-snippets';

/** Where the record of the last run is, if there is one. */
export function lastRecordFile(manifest: string): string {
  return existsSync(manifest) ? manifest : asideOf(manifest);
}

function asideOf(manifest: string): string {
  return `${manifest}.unfinished`;
}

function setAside(manifest: string): void {
  if (existsSync(manifest)) renameSync(manifest, asideOf(manifest));
}

/** The files that are going to be published. What earlier runs have left in the output is published, too. */
function listFiles({ from, to, manifest }: SiteFolders, exclude: readonly string[]): SiteFiles {
  const records = dirname(manifest) + sep;
  const generated = selected(listSiteFiles(from, exclude), ({ file }) => !file.startsWith(records));
  if (from === to || !existsSync(to)) return withoutStaged(generated);
  const names = new Set(
    Object.values(generated).flatMap((files: SiteFile[]) => files.map(({ name }) => name)),
  );
  const left = selected(listSiteFiles(to, exclude), ({ name }) => !names.has(name));
  const byName = (a: SiteFile, b: SiteFile) => (a.name < b.name ? -1 : 1);
  return withoutStaged({
    scannable: [...generated.scannable, ...left.scannable].sort(byName),
    others: [...generated.others, ...left.others].sort(byName),
    compressed: [...generated.compressed, ...left.compressed].sort(byName),
  });
}

function withoutStaged(files: SiteFiles): SiteFiles {
  return selected(files, ({ file, name }) => {
    const isLeft = isStaged(name);
    if (isLeft) rmSync(file, { force: true });
    return !isLeft;
  });
}

function selected(
  { scannable, others, compressed }: SiteFiles,
  isSelected: (file: SiteFile) => boolean,
): SiteFiles {
  return {
    scannable: scannable.filter(isSelected),
    others: others.filter(isSelected),
    compressed: compressed.filter(isSelected),
  };
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

function nameIn(folder: string, path: string): string {
  return relative(folder, path).split(sep).join('/');
}

function describeKept(kept: readonly ManifestFile[], written: ReadonlySet<string>): string[] {
  const names = kept.map(({ name }) => name);
  const renewed = names.filter((name) => written.has(name));
  const same = names.length - renewed.length;
  const lines = renewed.map((name) => `${name} is up to date`);
  if (same === 0) return lines;
  return [
    ...lines,
    `${count(same, 'file')} ${same === 1 ? 'is' : 'are'} as an earlier run left ${same === 1 ? 'it' : 'them'}.`,
  ];
}
