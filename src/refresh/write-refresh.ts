import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathFrom } from '../files/paths.ts';
import { StagedFiles } from '../files/staged-files.ts';
import { writeImages } from '../images/write-images.ts';
import type { PageToBuild } from '../output/compare-output.ts';
import { pageCopyOf } from '../output/compressed.ts';
import { type FileStats, possibleHashes } from '../output/file-states.ts';
import { siteFolders } from '../output/page-copies.ts';
import { hashOf } from '../record/hash-of.ts';
import { writeManifest } from '../record/manifest-file.ts';
import { count } from '../text/format.ts';
import type { PlannedPage, RefreshPlan } from './plan-refresh.ts';
import { RefreshRecord, snippetsOnPages } from './refresh-record.ts';
import type { SiteToRefresh } from './site-to-refresh.ts';

/**
 * Writes the pages of a plan, with their copies and images. The process may be killed at any moment:
 *
 * 1. Images are written. Killed here, the site has images that no page shows.
 * 2. The record gets the new hash of each page, beside the old one, so that both states are recognized.
 * 3. All pages and copies are written beside their places, so that a full disk is noticed before any page has
 *    changed. Killed here, temporary files are left, which the next refresh replaces.
 * 4. Each page replaces its file, together with its copies. Killed here, some pages are new: the next refresh
 *    makes all pages again whose new hashes are on record.
 * 5. The record says which pages were written.
 *
 * @param hasCommand whether a command follows that makes files from the pages
 * @returns the pages that were not written, as their files have changed since the plan was made, and the names
 *   of the files that were written with another owner or group than before
 */
export async function writeRefresh(
  site: SiteToRefresh,
  { pages, warnings }: RefreshPlan,
  hasCommand: boolean,
): Promise<{ leftAlone: PageToBuild[]; otherOwners: string[] }> {
  const { recordFile, manifest } = site;
  await writePageImages(site, pages);

  const record = new RefreshRecord(site, { pages, warnings }, hasCommand);
  writeManifest(recordFile, record.manifest);

  const leftAlone: PageToBuild[] = [];
  const staged = new StagedFiles({ followsLinks: true });
  try {
    const stagedStats = await stagePages(site, pages, staged);
    for (const [index, refreshedPage] of pages.entries()) {
      const { page, copies } = refreshedPage;
      const target = join(manifest.output, page.name);
      if (existsSync(target) && possibleHashes(page).has(hashOf(readFileSync(target)))) {
        await staged.commit([target, ...copies.map((copy) => copy.file)]);
        // The staged file has the time that it keeps: another program may change the page from now on.
        record.setWritten(refreshedPage, stagedStats[index] as FileStats);
      } else {
        leftAlone.push({ name: page.name, reason: 'was changed while it was refreshed' });
        record.setLeftAlone(refreshedPage);
      }
    }
  } finally {
    staged.discard();
  }
  writeManifest(recordFile, record.manifest);
  const otherOwners = staged.otherOwners.map((file) => pathFrom(manifest.output, file));
  return { leftAlone, otherOwners };
}

/** Writes the images of all snippets on the pages, into the output and its copies. */
async function writePageImages(
  { manifest, currentContents, cwd, readImage }: SiteToRefresh,
  pages: readonly PlannedPage[],
): Promise<void> {
  const assetsFolder = manifest.rules.images?.assets.folder;
  if (assetsFolder === undefined) return;
  const folders = siteFolders(manifest, cwd).map(({ directory }) => join(directory, assetsFolder));
  const contents = [...snippetsOnPages(pages)].map((index) => currentContents[index]);
  await writeImages(folders, contents, readImage);
}

/**
 * Writes all pages and copies to temporary files beside those that they replace.
 *
 * @returns the size and time that each page will have
 */
async function stagePages(
  { manifest, progress }: SiteToRefresh,
  pages: readonly PlannedPage[],
  staged: StagedFiles,
): Promise<FileStats[]> {
  const stats: FileStats[] = [];
  for (const [index, { page, copies, makeBytes }] of pages.entries()) {
    progress(() => `${index} of ${count(pages.length, 'page')} written`);
    const bytes = makeBytes();
    const { size, mtimeMs } = staged.add(join(manifest.output, page.name), bytes);
    stats.push({ size, mtimeMs });
    const encodedCopies = copies.map(async (copy) => [copy.file, await pageCopyOf(bytes, copy)] as const);
    for (const [target, copy] of await Promise.all(encodedCopies)) staged.add(target, copy);
  }
  return stats;
}
