import { existsSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { count } from '../client/text.ts';
import { embedName } from '../embed/element.ts';
import { listNames, userError } from '../failures/errors.ts';
import { contains, isTemporary, pathFrom, StagedFiles, shownPath } from '../files/files.ts';
import {
  displayedHash,
  hashOf,
  type Manifest,
  type RecordedSnippet,
  readManifest,
  supersededBy,
  writeManifest,
} from '../record/manifest.ts';
import { openPack } from '../record/pack.ts';
import { listPacks, lockFile, lockForBuild, noteMissing, removeOtherPacks } from '../record/record-files.ts';
import { SnippetFetcher } from '../snippets/fetch-snippets.ts';
import type { InlinedPage } from './inline-page.ts';
import { type GeneratedSite, inlineSnippets, recordSite } from './inline-snippets.ts';
import { findDisplayed, possibleHashes } from './output-state.ts';
import { listSiteFiles, OutputVerifier, type ScannableFile, type SiteFile, scanSite } from './scan-site.ts';
import { hashOfCopy, pageCopyOf, withoutSuffix } from './side-products.ts';

interface FolderInlining extends Pick<GeneratedSite, 'settings' | 'logger' | 'manifest'> {
  /** Where paths that are shown begin. */
  cwd: string;
  from: string;
  /** The folder to publish: the same, or another that gets all of it. */
  to: string;
}

/** Inlines snippets into files of any generator, and updates those of earlier runs. If it throws, nothing is written. */
export async function inlineFolder(inlining: FolderInlining) {
  const { cwd, to, manifest, logger } = inlining;
  refuseFolders(inlining);
  const lock = await lockForBuild(lockFile(manifest, to), shownPath(cwd, to), (line) => logger.info(line));
  const staged = new StagedFiles();
  try {
    await inlineLocked(inlining, staged);
  } finally {
    staged.discard();
    lock.release();
  }
}

async function inlineLocked(inlining: FolderInlining, staged: StagedFiles) {
  const { to, manifest, logger } = inlining;
  const targetOf = ({ name }: SiteFile) => join(to, name);
  const isPublished = (file: SiteFile) => file.file === targetOf(file);
  const { scannable, others, compressed } = listFiles(inlining);
  const last = await openLastRun(inlining, scannable.filter(isPublished));
  const { record: previousManifest, kept } = last;
  const settings = { ...inlining.settings };
  // Without a record, these would never be updated again.
  if (kept.size > 0) settings.missingKey = 'error';
  const verifier = new OutputVerifier(settings.apiKey);
  const fetcher = new SnippetFetcher(settings, {
    warn: (line) => logger.warn(line),
    remember: true,
    isSuperseded: supersededBy(previousManifest),
  });
  // Of the files to be made, as they are now.
  const hashes = new Map(kept);
  const copiesOf = Map.groupBy(compressed, ({ name }) => withoutSuffix(name));
  const updated: string[] = [];
  const outdated: { copy: SiteFile; page: SiteFile }[] = [];
  try {
    // As most servers name a page: how people link to it is not known.
    const urls = { base: '/', trailingSlash: 'ignore', format: 'preserve' } as const;
    const site = { ...inlining, settings, urls, directory: to, previousManifest, fetcher, verifier };
    const scanned = await scanSite(scannable, site);
    const written = scanned.files.filter(({ generated }) => !generated);
    for (const { file, name } of written) hashes.set(name, hashOf(readFileSync(file)));
    // The folder is not what the record says, even if this run fails.
    if (written.some(isPublished) && existsSync(manifest)) renameSync(manifest, unfinishedPath(manifest));
    const inlined = await inlineSnippets(scanned, site, (page, make) => {
      const before = readFileSync(page.file);
      if (hashOf(before) !== hashes.get(page.name)) {
        const message = `${page.name} was changed while snippets were fetched. Nothing was written.`;
        throw userError('output-in-use', message, 'Run the command when the generator has ended.');
      }
      const made = make(page.generated?.() ?? before);
      staged.add(targetOf(page), made.file, page.file);
      if (kept.has(page.name) && !made.file.equals(before)) updated.push(page.name);
      for (const copy of copiesOf.get(page.name) ?? []) {
        if (hashOfCopy(copy, [before, made.file]) !== hashOf(made.file)) outdated.push({ copy, page });
      }
      return { inlinedPage: made, leftovers: isPublished(page) ? findLeftovers(last, page.name, made) : [] };
    });
    await verifier.read(others);
    for (const line of verifier.codeWarnings()) logger.warn(line);
    verifier.refuse((names) => `The API key was found in ${names}. Nothing was written.`);
    for (const { copy, page } of outdated) {
      staged.add(targetOf(copy), await pageCopyOf(staged.read(targetOf(page)), copy), copy.file);
      hashes.set(copy.name, '');
    }
    const recorded = new Set(inlined.files.map(({ name }) => name));
    // A generator may have written them without embeds, or a minifier changed them.
    const dropped = [...scannable, ...others].flatMap((one) => {
      const { file, name } = one;
      const wasRecorded = isPublished(one) && last.files.has(name) && !recorded.has(name);
      return wasRecorded && !embedName.test(readFileSync(file, 'latin1')) ? name : [];
    });
    if (dropped.length > 0) {
      logger.warn(
        `Changed or excluded since the last run, and no longer in the record: ${listNames(dropped)}. Snippets of that run may still be there, and are not updated. If a step after inline, such as a minifier, has changed them, let the generator write them again, and run inline before that step.`,
      );
    }
    // What the command of `refresh --after` was to renew is still out of date.
    await publish(site, staged, hashes, { ...inlined, pending: previousManifest?.pending });
  } catch (error) {
    // First, as in a build.
    await fetcher.close().catch(() => {});
    removeOtherPacks(manifest, (await readManifest(lastRecordFile(manifest))).manifest);
    if (!existsSync(manifest)) noteMissing(manifest, error as Error);
    throw error;
  }
  await fetcher.close();
  for (const name of updated) logger.info(`Updated ${name}`);
  const same = kept.size - updated.length;
  if (same > 0) logger.info(`Not changed since an earlier run: ${count(same, 'file')}.`);
}

type LastRun = Awaited<ReturnType<typeof openLastRun>>;

/** Reads what the last run left, and has its files made from what was generated. */
async function openLastRun({ cwd, manifest, logger }: FolderInlining, scannable: readonly ScannableFile[]) {
  const file = lastRecordFile(manifest);
  const { manifest: record, flaw } = await readManifest(file);
  const found = record?.pack && openPack(manifest, record);
  const pack = found?.flaw ? undefined : found;
  // Its pages are kept beside its record.
  const isLost = flaw && (flaw !== 'is missing' || listPacks(manifest).length > 0);
  if (isLost || pack !== found) {
    const what = isLost
      ? `The record of the last run at ${shownPath(cwd, file)} ${flaw}.`
      : `The files of the last run as they were generated ${found?.flaw}.`;
    logger.warn(
      `${what} Files that were inlined then stay as they are, and are not in the new record, unless they are written again.`,
    );
  }
  const files = new Map(record?.files.map((file) => [file.name, file]));
  /** The hashes of files that are as it left them. */
  const kept = new Map<string, string>();
  for (const file of pack ? scannable : []) {
    const known = files.get(file.name);
    if (!known) continue;
    const hash = hashOf(readFileSync(file.file));
    // If it was killed, it has written the file, or has not.
    if (!possibleHashes(known).has(hash)) continue;
    kept.set(file.name, hash);
    Object.assign(file, { generated: () => pack?.read(known) });
  }
  return { record, files, kept, pack };
}

/** For a record that is not what the folder holds. */
const unfinishedPath = (manifest: string) => `${manifest}.unfinished`;

export const lastRecordFile = (manifest: string) =>
  [manifest, unfinishedPath(manifest)].find(existsSync) ?? manifest;

/** What a file with new embeds, which a later step has changed, still shows of the last run. */
function findLeftovers(
  { record, files, kept, pack }: LastRun,
  name: string,
  { generated, embeds }: InlinedPage,
) {
  const file = files.get(name);
  if (!record || !file) return [];
  const embedded = new Set(embeds.map(({ request }) => request.key));
  const others = [...new Set(file.shows)].filter((at) => !embedded.has(record.snippets[at]?.key ?? ''));
  if (others.length === 0 || (!kept.has(name) && pack?.read(file).equals(generated))) return [];
  return findDisplayed(generated, others, file, record).map((index) => ({
    snippet: record.snippets[index] as RecordedSnippet,
    hash: displayedHash(record, file, index),
  }));
}

/** Until all is written, the record is beside its place, and announces the files: the process may be killed. */
async function publish(
  site: GeneratedSite & FolderInlining,
  staged: StagedFiles,
  hashes: ReadonlyMap<string, string>,
  record: Manifest,
) {
  const { from, to, manifest } = site;
  const aside = unfinishedPath(manifest);
  const files = record.files.map((file) => ({
    ...file,
    hash: hashes.get(file.name) ?? file.hash,
    next: [file.hash],
  }));
  if (site.fetcher.showsChildren) rmSync(aside, { force: true });
  else writeManifest(aside, { ...record, files });
  rmSync(manifest, { force: true });
  await staged.commit();
  if (from !== to) {
    const input = realpathSync(from);
    await cp(input, existsSync(to) ? realpathSync(to) : to, {
      recursive: true,
      preserveTimestamps: true,
      verbatimSymlinks: true,
      filter(source) {
        const name = pathFrom(input, source);
        return !hashes.has(name) && join(from, name) !== dirname(manifest);
      },
    });
  }
  await recordSite(site, record, Date.now());
  rmSync(aside, { force: true });
}

/** With what earlier runs left in the output: it is published, too. */
function listFiles({ from, to, manifest, settings }: FolderInlining) {
  const isRecord = (file: string) => file.startsWith(dirname(manifest) + sep);
  const folders = from === to || !existsSync(to) ? [from] : [from, to];
  return listSiteFiles(folders, settings.exclude, ({ file, name }) => {
    // Left by a process that was killed.
    if (isTemporary(name)) rmSync(file, { force: true });
    const source = join(from, name);
    const isReplaced = file !== source && file === join(to, name) && existsSync(source) && !isRecord(source);
    return isTemporary(name) || isReplaced || isRecord(file);
  });
}

/** @throws AstroError if one folder is inside the other, or if the record would be published. */
function refuseFolders({ cwd, from, to, manifest }: FolderInlining) {
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
