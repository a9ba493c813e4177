import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StagedFiles } from '../files/staged-files.ts';
import { writeImages } from '../images/write-images.ts';
import type { PageToBuild } from '../output/compare-output.ts';
import { pageCopyOf } from '../output/compressed.ts';
import { possibleHashes, toFileState } from '../output/file-states.ts';
import { siteFolders } from '../output/page-copies.ts';
import { displayedHash, findStaleSnippets } from '../record/changes.ts';
import { hashOf, type Manifest, type ManifestFile, toSnapshot } from '../record/manifest.ts';
import { writeManifest } from '../record/manifest-file.ts';
import { count } from '../text/format.ts';
import type { RefreshPlan } from './plan-refresh.ts';
import type { RefreshedSite } from './refreshed-site.ts';

/**
 * Writes pages, their copies and images, all beside their places first. The manifest announces them: the process can be killed
 * at any moment.
 *
 * @returns pages that have changed since, and are left alone
 */
export async function writeRefresh(
  site: RefreshedSite,
  { pages }: RefreshPlan,
  hasCommand: boolean,
): Promise<PageToBuild[]> {
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
