import { existsSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { embedNamePattern } from '../embed/element.ts';
import { userError } from '../failures/errors.ts';
import { listNames } from '../failures/places.ts';
import { pathFrom, shownPath } from '../files/paths.ts';
import { StagedFiles } from '../files/staged-files.ts';
import type { GeneratedSite } from '../inlining/generated-site.ts';
import { inlineSnippets } from '../inlining/inline-site.ts';
import { recordSite } from '../inlining/record-site.ts';
import { scanSite } from '../inlining/scan-site.ts';
import { OutputVerifier } from '../inlining/verify-output.ts';
import { hashOfCopy, pageCopyOf, withoutSuffix } from '../output/compressed.ts';
import type { SiteFile } from '../output/site-files.ts';
import { lockForBuild } from '../record/lock.ts';
import { hashOf, type Manifest, supersededBy } from '../record/manifest.ts';
import { readManifest, writeManifest } from '../record/manifest-file.ts';
import { noteMissing } from '../record/missing-note.ts';
import { lockFile, removeOtherPacks } from '../record/record-paths.ts';
import { SnippetFetcher } from '../snippets/snippet-fetcher.ts';
import { count } from '../text/format.ts';
import { type FolderInlining, listFiles, refuseFolders } from './folder-inlining.ts';
import { findLeftovers, lastRecordFile, openLastRun, unfinishedPath } from './last-run.ts';

/** Inlines snippets into files of any generator, and updates those of earlier runs. If it throws, nothing is written. */
export async function inlineFolder(inlining: FolderInlining): Promise<void> {
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
  const { scannable, unscanned, compressed } = listFiles(inlining);
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
      staged.add(targetOf(page), made.bytes, page.file);
      if (kept.has(page.name) && !made.bytes.equals(before)) updated.push(page.name);
      for (const copy of copiesOf.get(page.name) ?? []) {
        if (hashOfCopy(copy, [before, made.bytes]) !== hashOf(made.bytes)) outdated.push({ copy, page });
      }
      return { inlinedPage: made, leftovers: isPublished(page) ? findLeftovers(last, page.name, made) : [] };
    });
    await verifier.checkUnscanned(unscanned);
    for (const line of verifier.codeWarnings()) logger.warn(line);
    verifier.refuseKey((names) => `The API key was found in ${names}. Nothing was written.`);
    for (const { copy, page } of outdated) {
      staged.add(targetOf(copy), await pageCopyOf(staged.read(targetOf(page)), copy), copy.file);
      hashes.set(copy.name, '');
    }
    const recorded = new Set(inlined.files.map(({ name }) => name));
    // A generator may have written them without embeds, or a minifier changed them.
    const dropped = [...scannable, ...unscanned].flatMap((one) => {
      const { file, name } = one;
      const wasRecorded = isPublished(one) && last.files.has(name) && !recorded.has(name);
      return wasRecorded && !embedNamePattern.test(readFileSync(file, 'latin1')) ? name : [];
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
    removeOtherPacks(manifest, (await readManifest(lastRecordFile(manifest))).manifest?.pack?.id);
    if (!existsSync(manifest)) noteMissing(manifest, error as Error);
    throw error;
  }
  await fetcher.close();
  for (const name of updated) logger.info(`Updated ${name}`);
  const same = kept.size - updated.length;
  if (same > 0) logger.info(`Not changed since an earlier run: ${count(same, 'file')}.`);
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
    expectedHashes: [file.hash],
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
