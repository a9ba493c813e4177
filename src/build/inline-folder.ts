import { existsSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { cp, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { count } from '../client/format.ts';
import { userError } from '../failures/errors.ts';
import { isTemporary } from '../files/write.ts';
import {
  hashOf,
  type Manifest,
  type ManifestFile,
  type RecordedEnvironment,
  writeManifest,
} from '../record/manifest.ts';
import { contains, lockFile } from '../record/manifest-file.ts';
import { lockAfterRefresh } from '../record/output-lock.ts';
import { PackWriter, removeOtherPacks } from '../record/pack.ts';
import type { Settings } from '../settings/settings.ts';
import type { SiteUrls } from '../settings/site-urls.ts';
import { fetcherAfter } from './build-fetcher.ts';
import { inlineSnippets } from './inline-snippets.ts';
import { asideOf, LastRun } from './last-run.ts';
import { sealedFiles } from './output-state.ts';
import { FileRecorder, siteManifest } from './recorder.ts';
import { listSiteFiles, type ScannableFile, type SiteFile, type SiteFiles } from './scan-site.ts';
import {
  hashOfCopy,
  type PageCopy,
  pageCopyOf,
  shownPath,
  withoutSuffix,
} from './side-products/page-copies.ts';
import { StagedFiles } from './staged-files.ts';
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
  const targetOf = ({ name }: SiteFile) => join(to, name);
  const isPublished = (file: SiteFile) => file.file === targetOf(file);
  const { scannable, others, compressed } = listFiles(folders, given.exclude);
  const last = await LastRun.open(folders, scannable.filter(isPublished), logger);
  const { record: before, kept } = last;
  // Without a record, files of an earlier run would never be updated again.
  const settings: Settings = kept.size > 0 ? { ...given, missingKey: 'error' } : given;
  const verifier = new OutputVerifier(settings.apiKey);
  const pack = new PackWriter(manifest);
  const changed = new ChangedFiles(targetOf, compressed, last);
  // Of the files as they are, with their embeds or as an earlier run left them.
  const hashes = new Map([...kept].map(([name, { hash }]) => [name, hash]));
  const fetcher = fetcherAfter(before, settings, logger);
  try {
    const recorder =
      (await inlineSnippets(
        scannable.map((file): ScannableFile => {
          const generated = last.generated(file.name);
          return generated === undefined
            ? file
            : { file: file.file, name: file.name, kind: file.kind, generated };
        }),
        {
          settings,
          fetcher,
          verifier,
          logger,
          urls,
          allow: settings.html.policy === 'hash' ? () => {} : undefined,
          collected: [],
          pack,
          onEmbeds({ files }) {
            // The folder is not what the record says, even if this run fails.
            if (files.some(({ source }) => source.generated === undefined && isPublished(source))) {
              setAside(manifest);
            }
          },
          onEmbeddingFile({ name, generated }, bytes) {
            if (generated === undefined) hashes.set(name, hashOf(bytes));
          },
          leftIn: (file, ...page) => (isPublished(file) ? last.leftIn(file.name, ...page) : []),
          rewrite(file, _inMemory, change) {
            const before = readUnchanged(file, hashes.get(file.name));
            const generated = file.generated?.() ?? before;
            changed.add(file, { generated, before, after: change(generated) });
          },
        },
      )) ?? new FileRecorder({ collected: [], pack, containsKey: verifier.containsKey });
    await verifier.read(others);
    verifier.refuse((names) => `The API key was found in ${names}. Nothing was written.`);
    await changed.addCopies();
    const record = siteManifest(
      { manifest, directory: to, outDir: to, before, settings, environment, inlinedAt },
      recorder.finish(),
    );
    for (const warning of last.describeForgotten([...scannable, ...others].filter(isPublished), record)) {
      logger.warn(warning);
    }
    last.close();
    // With a record, a check could say that nothing has changed. What the command of `refresh --after` was to renew is still
    // out of date.
    const published = fetcher.showsChildren ? undefined : { ...record, pending: before?.pending };
    await publish(folders, changed, { before, record: published });
  } catch (error) {
    // Before anything else, as in a build: an answer that arrives later could end the process without the report.
    await fetcher.close().catch(() => {});
    last.close();
    changed.staged.discard();
    pack.discard();
    throw error;
  }
  await fetcher.close();
  for (const line of describeKept(kept, changed.names)) logger.info(line);
}

/** The files that a run replaces, with the compressed copies beside them. */
class ChangedFiles {
  readonly staged = new StagedFiles();
  readonly names = new Set<string>();
  /** What pages and their copies may hold until they are replaced, by the names of pages. */
  readonly states = new Map<string, ReadonlySet<string>>();
  readonly #targetOf: (file: SiteFile) => string;
  readonly #last: LastRun;
  readonly #copies: ReadonlyMap<string, readonly PageCopy[]>;
  readonly #outdated: { copy: PageCopy; page: SiteFile }[] = [];
  readonly #unrelated: string[] = [];

  constructor(targetOf: (file: SiteFile) => string, compressed: readonly SiteFile[], last: LastRun) {
    this.#targetOf = targetOf;
    this.#last = last;
    this.#copies = Map.groupBy(compressed, ({ name }) => withoutSuffix(name));
    for (const name of last.kept.keys()) this.states.set(name, last.statesOf(name));
  }

  /** @param bytes the page as it was generated, is, and is going to be. */
  add(page: SiteFile, { generated, before, after }: Record<'generated' | 'before' | 'after', Buffer>): void {
    if (page.file !== this.#targetOf(page) || !after.equals(before)) this.#stage(page, after);
    const copies = this.#copies.get(page.name);
    if (copies === undefined) return;
    const known = new Set([...this.#last.statesOf(page.name), hashOf(before), hashOf(generated)]);
    const now = hashOf(after);
    for (const copy of copies) {
      const held = hashOfCopy(copy, [before, after]);
      if (held === now) continue;
      if (held !== undefined && known.has(held)) {
        this.#outdated.push({ copy, page });
        this.states.set(page.name, known);
      } else this.#unrelated.push(copy.name);
    }
  }

  /** @throws AstroError if a compressed file holds something else than its page. */
  async addCopies(): Promise<void> {
    const [first, ...more] = this.#unrelated;
    if (first !== undefined) {
      throw userError(
        'stale-compressed-file',
        `${[first, ...more].join(', ')} ${more.length === 0 ? 'does' : 'do'} not decompress to the file beside it. Nothing was written.`,
        'Servers send it instead of the page. Delete it, or compress files after `astro-snippets inline`.',
      );
    }
    for (const { copy, page } of this.#outdated) {
      this.#stage(copy, await pageCopyOf(this.staged.read(this.#targetOf(page)), copy));
    }
  }

  #stage(file: SiteFile, bytes: Buffer): void {
    this.names.add(file.name);
    this.staged.add(this.#targetOf(file), bytes, file.file);
  }
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

/**
 * Until everything is written, the record is beside its place: there it would say that it is. It announces what is going
 * to be written, as that of a refresh does, so that the process can be killed at any moment.
 *
 * @param before the record of the last run.
 */
async function publish(
  { from, to, manifest }: SiteFolders,
  { staged, names, states }: ChangedFiles,
  { before, record }: { before: Manifest | undefined; record: Manifest | undefined },
): Promise<void> {
  if (record === undefined) await rm(asideOf(manifest), { force: true });
  else await writeManifest(asideOf(manifest), announced(record, states));
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
        const name = nameIn(input, source);
        return !names.has(name) && join(from, name) !== records;
      },
    });
  }
  if (record === undefined) return removeOtherPacks(manifest, {});
  const files = await sealedFiles(to, record.files, { at: Date.now(), before });
  await writeManifest(asideOf(manifest), { ...record, files });
  await rename(asideOf(manifest), manifest);
  removeOtherPacks(manifest, record);
}

function announced(record: Manifest, states: ChangedFiles['states']): Manifest {
  const announce = (file: ManifestFile): ManifestFile => {
    const [hash, ...others] = states.get(file.name) ?? [];
    return hash === undefined ? file : { ...file, hash, next: [...others, file.hash] };
  };
  return { ...record, files: record.files.map(announce) };
}

function setAside(manifest: string): void {
  if (existsSync(manifest)) renameSync(manifest, asideOf(manifest));
}

/** The files that are going to be published. What earlier runs have left in the output is published, too. */
function listFiles({ from, to, manifest }: SiteFolders, exclude: readonly string[]): SiteFiles {
  const isRecord = (file: string) => file.startsWith(dirname(manifest) + sep);
  return listSiteFiles(from === to || !existsSync(to) ? [from] : [from, to], exclude, ({ file, name }) => {
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

function nameIn(folder: string, path: string): string {
  return relative(folder, path).split(sep).join('/');
}

function describeKept(kept: LastRun['kept'], written: ReadonlySet<string>): string[] {
  const names = [...kept.keys()];
  const renewed = names.filter((name) => written.has(name));
  const same = names.length - renewed.length;
  const lines = renewed.map((name) => `${name} is up to date`);
  if (same === 0) return lines;
  return [
    ...lines,
    `${count(same, 'file')} ${same === 1 ? 'is' : 'are'} as an earlier run left ${same === 1 ? 'it' : 'them'}.`,
  ];
}
