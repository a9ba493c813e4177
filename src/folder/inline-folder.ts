import { existsSync, readFileSync, realpathSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { embedNamePattern } from '../embed/element.ts';
import { userError } from '../failures/errors.ts';
import { listNames } from '../failures/places.ts';
import { contains, pathFrom, shownPath } from '../files/paths.ts';
import { StagedFiles } from '../files/staged-files.ts';
import { describeOtherOwners } from '../files/write.ts';
import type { InlinedPage, WrittenPage } from '../inlining/inline-page.ts';
import { inlineSnippets } from '../inlining/inline-site.ts';
import { type ScannedFile, type ScannedSite, scanSite } from '../inlining/scan-site.ts';
import { OutputVerifier } from '../inlining/verify-output.ts';
import { hashOfCopy, pageCopyOf, withoutSuffix } from '../output/compressed.ts';
import type { SiteFile } from '../output/site-files.ts';
import { findEarlierPlaces } from '../record/changes.ts';
import { hashOf } from '../record/hash-of.ts';
import { lockForBuild } from '../record/lock.ts';
import { type Manifest, supersededBy } from '../record/manifest.ts';
import { readManifest } from '../record/manifest-file.ts';
import { OutputLock } from '../record/output-lock.ts';
import { noteMissing, removeOtherPacks } from '../record/record-paths.ts';
import { SnippetFetcher } from '../snippets/snippet-fetcher.ts';
import { count } from '../text/format.ts';
import {
  type FolderFiles,
  type FolderInlining,
  isPublished,
  listFiles,
  refuseFolders,
} from './folder-inlining.ts';
import { type LastRun, lastRecordFile, openLastRun, unfinishedPath } from './last-run.ts';
import { refuseTarget } from './other-files.ts';
import { type FolderSite, publishFolder } from './publish-folder.ts';

/**
 * Inlines snippets into the files of any generator, and updates the files of earlier runs. All files are
 * written at the end: until then, they are staged, and if this throws, none is written.
 *
 * @throws UserError with one report of all failures
 */
export async function inlineFolder(inlining: FolderInlining): Promise<void> {
  const { cwd, to, manifestFile, logger } = inlining;
  refuseFolders(inlining);
  const lock = await lockForBuild(new OutputLock(manifestFile, to), shownPath(cwd, to), (line) =>
    logger.info(line),
  );
  const staged = new StagedFiles({ followsLinks: inlining.from === to });
  try {
    const files = listFiles(inlining);
    for (const line of files.warnings) logger.warn(line);
    const published = files.scannable.filter((file) => isPublished(file, inlining));
    const lastRun = await openLastRun(inlining, published);
    await new FolderRun(inlining, files, lastRun, staged).run();
  } finally {
    staged.discard();
    lock.release();
  }
}

/** A compressed file of a page that has to be written again, as it does not hold the page's new bytes. */
interface OutdatedCopy {
  copy: SiteFile;
  page: SiteFile;
}

/** One run of `inline` on a folder, step by step. */
class FolderRun {
  readonly #site: FolderSite;
  readonly #files: FolderFiles;
  readonly #lastRun: LastRun;
  readonly #staged: StagedFiles;
  /** The hashes of the files before they are written, by name: of those with embeds, or inlined before. */
  readonly #currentHashes: Map<string, string>;
  /** Compressed files by the names of their pages. */
  readonly #compressed: ReadonlyMap<string, SiteFile[]>;
  readonly #outdatedCopies: OutdatedCopy[] = [];
  /** The names of files of the last run whose bytes change in this run. */
  readonly #updated: string[] = [];

  constructor(inlining: FolderInlining, files: FolderFiles, lastRun: LastRun, staged: StagedFiles) {
    this.#site = toFolderSite(inlining, lastRun);
    this.#files = files;
    this.#lastRun = lastRun;
    this.#staged = staged;
    this.#currentHashes = new Map(lastRun.keptHashes);
    this.#compressed = Map.groupBy(files.compressed, ({ name }) => {
      const page = withoutSuffix(name);
      return files.aliases.get(page) ?? page;
    });
  }

  async run(): Promise<void> {
    const { fetcher } = this.#site;
    try {
      const scanned = await this.#scan();
      const inlined = await inlineSnippets(scanned, this.#site, (page, inline) => this.#stage(page, inline));
      await this.#verify();
      await this.#stageCopies();
      this.#warnOfDropped(inlined);
      await this.#publish(inlined);
    } catch (error) {
      // Close the connections first: an answer to an aborted HTTP/2 stream would crash Node before the error
      // is reported.
      await fetcher.close().catch(() => {});
      await this.#keepLastRecord(error as Error);
      throw error;
    }
    await fetcher.close();
    this.#logChanges();
  }

  /** Finds the embeds of all files. Moves the last record aside if the generator has overwritten files. */
  async #scan(): Promise<ScannedSite> {
    const { manifestFile } = this.#site;
    const scannable = this.#files.scannable.map((file) => this.#lastRun.withGenerated(file));
    const scanned = await scanSite(scannable, this.#site);

    const newFiles = scanned.files.filter(({ generated }) => !generated);
    for (const { file, name } of newFiles) this.#currentHashes.set(name, hashOf(readFileSync(file)));
    this.#warnOfOutsideFiles(newFiles);
    const isOverwritten = newFiles.some((file) => isPublished(file, this.#site));
    if (isOverwritten && existsSync(manifestFile)) renameSync(manifestFile, unfinishedPath(manifestFile));
    return scanned;
  }

  /** Stages a page with its snippets, to be written at the end. @throws UserError if its file has changed */
  #stage(page: ScannedFile, inline: (generated: Buffer) => InlinedPage): WrittenPage {
    const { file, name, generated } = page;
    const currentBytes = readFileSync(file);
    if (hashOf(currentBytes) !== this.#currentHashes.get(name)) {
      const message = `${name} was changed while snippets were fetched. Nothing was written.`;
      throw userError('output-in-use', message, 'Run the command when the generator has ended.');
    }

    const inlinedPage = inline(generated?.() ?? currentBytes);
    const { bytes } = inlinedPage;
    const stats = this.#staged.add(this.#targetOf(page), bytes, file);
    if (this.#lastRun.keptHashes.has(name) && !bytes.equals(currentBytes)) this.#updated.push(name);
    for (const copy of this.#compressed.get(name) ?? []) {
      if (hashOfCopy(copy, [currentBytes, bytes]) === hashOf(bytes)) continue;
      this.#outdatedCopies.push({ copy, page });
    }
    const leftovers = isPublished(page, this.#site) ? this.#lastRun.findLeftovers(name, inlinedPage) : [];
    return { inlinedPage, leftovers, stats };
  }

  /** Checks the files before they are written. @throws UserError if one contains the API key */
  async #verify(): Promise<void> {
    const { verifier, logger } = this.#site;
    await verifier.checkOthers(this.#files);
    for (const line of await verifier.code.warnings()) logger.warn(line);
    verifier.refuseKey((names) => `The API key was found in ${names}. Nothing was written.`);
  }

  async #stageCopies(): Promise<void> {
    for (const { copy, page } of this.#outdatedCopies) {
      const bytes = await pageCopyOf(this.#staged.read(this.#targetOf(page)), copy);
      this.#staged.add(this.#targetOf(copy), bytes, copy.file);
    }
  }

  /** Warns of files that may show snippets of earlier runs, and are not on the new record; or of an empty one. */
  #warnOfDropped({ files }: Manifest): void {
    if (files.length === 0) {
      this.#site.logger.warn(
        `No embeds found in ${shownPath(this.#site.cwd, this.#site.from)}. If its pages show snippets of an earlier run, these are not updated: let the generator write the pages again.`,
      );
    }
    const recorded = new Set(files.map(({ name }) => name));
    const dropped = [...this.#files.scannable, ...this.#files.unscanned].filter((siteFile) => {
      const { file, name } = siteFile;
      const wasRecorded = isPublished(siteFile, this.#site) && this.#lastRun.hasFile(name);
      if (!wasRecorded || recorded.has(name)) return false;
      // One with an embed shows no snippet: the generator wrote it again, and it is excluded now.
      return !embedNamePattern.test(readFileSync(file, 'latin1'));
    });
    if (dropped.length === 0) return;
    const names = listNames(dropped.map(({ name }) => name));
    this.#site.logger.warn(
      `Changed or excluded since the last run, and no longer in the record: ${names}. Snippets of that run may still be there, and are not updated. If a step after inline, such as a minifier, has changed them, let the generator write them again, and run inline before that step.`,
    );
  }

  async #publish(inlined: Manifest): Promise<void> {
    // If a command of `refresh --after` has not succeeded, its files are still out of date after this run.
    const record: Manifest = { ...inlined, afterPending: this.#lastRun.record?.afterPending };
    const copyNames = this.#outdatedCopies.map(({ copy }) => copy.name);
    const stagedNames = new Set([...this.#currentHashes.keys(), ...copyNames]);
    await publishFolder(this.#site, record, this.#staged, this.#currentHashes, stagedNames);
    const otherOwners = this.#staged.otherOwners.map((file) => pathFrom(this.#site.to, file));
    if (otherOwners.length > 0) this.#site.logger.warn(describeOtherOwners(otherOwners));
  }

  /** After a failure: keeps the last record and its pack (the generated pages), removes this run's pack. */
  async #keepLastRecord(error: Error): Promise<void> {
    const { manifestFile } = this.#site;
    const { manifest: lastRecord } = await readManifest(lastRecordFile(manifestFile));
    removeOtherPacks(manifestFile, lastRecord?.pack?.id);
    if (!existsSync(manifestFile)) noteMissing(manifestFile, error);
  }

  #logChanges(): void {
    const { logger } = this.#site;
    for (const name of this.#updated) logger.info(`Updated ${name}`);
    const unchanged = this.#lastRun.keptHashes.size - this.#updated.length;
    if (unchanged > 0) logger.info(`Not changed since an earlier run: ${count(unchanged, 'file')}.`);
  }

  /** @throws UserError if the file cannot be written there */
  #targetOf({ name }: SiteFile): string {
    const { from, to } = this.#site;
    if (from !== to) refuseTarget(this.#site, name);
    return join(to, name);
  }

  /** Warns of links that lead out of the folder, as the files there are going to be changed. */
  #warnOfOutsideFiles(newFiles: readonly SiteFile[]) {
    const { from, to, logger } = this.#site;
    if (from !== to) return;
    const folder = realpathSync(from);
    const outside = newFiles.filter(({ realFile }) => realFile && !contains(folder, realFile));
    if (outside.length === 0) return;
    logger.warn(
      `Outside of the folder, and written through links: ${listNames(outside.map(({ name }) => name))}. Other folders that link there show these snippets, too, and only this run keeps them up to date. To leave the files as they are, pass another folder to --output.`,
    );
  }
}

/** How most servers name pages. It is an assumption, as the URLs of an unknown generator are not known. */
const usualUrls = { base: '/', trailingSlash: 'ignore', format: 'preserve' } as const;

function toFolderSite(inlining: FolderInlining, { record, keptHashes }: LastRun): FolderSite {
  const { to, logger } = inlining;
  const settings = { ...inlining.settings };
  // Without an API key, a run leaves no record, and files of the last run could never be updated: fail.
  if (keptHashes.size > 0) settings.missingKey = 'error';
  return {
    ...inlining,
    settings,
    urls: usualUrls,
    directory: to,
    previousManifest: record,
    verifier: new OutputVerifier(settings.apiKey),
    fetcher: new SnippetFetcher(settings, {
      warn: (line) => logger.warn(line),
      remember: true,
      isSuperseded: supersededBy(record),
      earlierPlaces: findEarlierPlaces(record),
      recordedNames: record?.names,
    }),
  };
}
