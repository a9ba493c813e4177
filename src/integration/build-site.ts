import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { embedSlugPattern } from '../embed/element.ts';
import { userError } from '../failures/errors.ts';
import { readOpened } from '../files/read.ts';
import { writeError } from '../files/write.ts';
import { writeImages } from '../images/write-images.ts';
import type { GeneratedSite } from '../inlining/generated-site.ts';
import { inlineSnippets, type WritePage } from '../inlining/inline-site.ts';
import { scanSite } from '../inlining/scan-site.ts';
import type { ScannableFile, SiteFile } from '../output/site-files.ts';
import type { Manifest } from '../record/manifest.ts';
import type { Announcements } from './announcements.ts';

/**
 * If it throws, no file is left that contains an embed, or something invalid.
 *
 * @returns the manifest, if the site needs one. It is written later: other integrations may still fail.
 */
export async function buildSite(
  site: GeneratedSite,
  scannable: readonly ScannableFile[],
  announcements?: Announcements,
): Promise<Manifest | undefined> {
  const { directory, settings, fetcher, collected = [], logger } = site;
  let unfinished = new Set<SiteFile>(scannable);
  try {
    const scanned = await scanSite(scannable, site);
    for (const { name } of scanned.files.filter((file) => file.name.startsWith(`${site.assets}/`))) {
      logger.warn(
        `${name}: shows a snippet, but its name changes with its source alone. Browsers keep the old content. Show the snippet on a page, or put the file into public/.`,
      );
    }
    for (const { name } of scannable.filter((file) => embedSlugPattern.test(file.name))) {
      logger.warn(
        `${name}: the path was made from an embed, before its snippet was known. Give the page its own slug.`,
      );
    }
    const lost = announcements?.lost(scanned, scannable, site) ?? [];
    scanned.invalid.push(...lost);
    const incomplete = new Set(lost.flatMap(({ files }) => files));
    unfinished = new Set([...scanned.files, ...scannable.filter(({ name }) => incomplete.has(name))]);
    const write: WritePage = (page, make) => {
      const written = overwrite(page, make);
      unfinished.delete(page);
      return written;
    };
    // A site that has shown snippets before can be checked.
    if (unfinished.size + lost.length + collected.length === 0 && !site.hadManifest) return undefined;
    const inlined = await inlineSnippets(scanned, site, write);
    if (settings.images) {
      const contents = inlined.snippets.map(({ content }) => content);
      const folder = join(directory, settings.images.assets.folder);
      await writeImages([folder], contents, (name) => fetcher.readImage(name));
    }
    return inlined;
  } catch (error) {
    // First: closing the connection of an aborted HTTP/2 stream with an error would end the process without the report.
    await fetcher.close().catch(() => {});
    // One may be part of the new page and part of the old one.
    for (const { file } of unfinished) rmSync(file, { force: true });
    throw error;
  }
}

/** In place: nothing reads it before the build ends, and renaming another file takes many times longer. */
const overwrite: WritePage = ({ file, name, size }, make) => {
  const attempt = <T>(work: () => T) => {
    try {
      return work();
    } catch (error) {
      throw writeError(name, error, 'It was removed.');
    }
  };
  const descriptor = attempt(() => openSync(file, 'r+'));
  try {
    // One byte more, to see whether it has grown: its embeds would be elsewhere.
    const generated = readOpened(descriptor, size + 1);
    if (generated.length !== size) {
      throw userError('output-in-use', `${name} was changed while snippets were fetched. It was removed.`);
    }
    const inlinedPage = make(generated);
    return attempt(() => {
      writeFileSync(descriptor, inlinedPage.file);
      if (inlinedPage.file.length < size) ftruncateSync(descriptor, inlinedPage.file.length);
      return { inlinedPage, stats: fstatSync(descriptor) };
    });
  } finally {
    closeSync(descriptor);
  }
};
