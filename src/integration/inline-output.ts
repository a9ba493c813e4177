import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { embedSlugPattern } from '../embed/element.ts';
import { userError } from '../failures/errors.ts';
import { withOpenedFile } from '../files/read.ts';
import { temporaryFile, writeAtomically, writeError } from '../files/write.ts';
import { writeImages } from '../images/write-images.ts';
import type { GeneratedSite } from '../inlining/generated-site.ts';
import { inlineSnippets, type WritePage } from '../inlining/inline-site.ts';
import { type ScannedSite, scanSite } from '../inlining/scan-site.ts';
import type { ScannableFile, SiteFile } from '../output/site-files.ts';
import type { Manifest } from '../record/manifest.ts';
import type { Announcements } from './announcements.ts';

/**
 * Inlines snippets into the output of Astro, in place. If this throws, no file is left that holds an embed.
 *
 * @returns the manifest, if the site needs one, not yet written, since other integrations may still fail
 */
export async function inlineOutput(
  site: GeneratedSite,
  scannable: readonly ScannableFile[],
  announcements?: Announcements,
): Promise<Manifest | undefined> {
  // The files to remove if this fails. Until the scan is done, any file may hold an embed.
  let unfinished = new Set<SiteFile>(scannable);
  try {
    const scanned = await scanSite(scannable, site);
    warnOfNames(site, scanned, scannable);

    const lost = announcements?.lost(scanned, scannable, site) ?? [];
    scanned.invalid.push(...lost);
    const incomplete = new Set(lost.flatMap(({ files }) => files));
    unfinished = new Set([...scanned.files, ...scannable.filter(({ name }) => incomplete.has(name))]);
    const hasSnippets = unfinished.size + lost.length + (site.astro?.collected.length ?? 0) > 0;
    // A site whose last build left a record gets one even without snippets, so that `check` still works.
    if (!hasSnippets && !site.astro?.hadManifest) return undefined;

    const manifest = await inlineSnippets(scanned, site, (page, inline) => {
      const writtenPage = overwrite(page, inline);
      unfinished.delete(page);
      return writtenPage;
    });
    await publishImages(site, manifest);
    return manifest;
  } catch (error) {
    // Close the connections before anything else: an answer to an aborted HTTP/2 stream would crash Node, and the report of failures
    // would be lost.
    await site.fetcher.close().catch(() => {});
    // A page may be written in part only, so what is unfinished is removed.
    for (const { file } of unfinished) rmSync(file, { force: true });
    throw error;
  }
}

/** Warns of files whose names cannot change with their snippets: hashed assets, slugs made from embeds. */
function warnOfNames(site: GeneratedSite, scanned: ScannedSite, scannable: readonly ScannableFile[]): void {
  const { logger, astro } = site;
  for (const { name } of scanned.files.filter((file) => file.name.startsWith(`${astro?.assets}/`))) {
    logger.warn(
      `${name}: shows a snippet, but its name changes with its source alone. Browsers keep the old content. Show the snippet on a page, or put the file into public/.`,
    );
  }
  for (const { name } of scannable.filter((file) => embedSlugPattern.test(file.name))) {
    logger.warn(
      `${name}: the path was made from an embed, before its snippet was known. Give the page its own slug.`,
    );
  }
}

/** With the option `images`, writes the images of snippets into the asset folder of the site. */
async function publishImages({ settings, directory, fetcher }: GeneratedSite, manifest: Manifest) {
  if (!settings.images) return;
  const contents = manifest.snippets.map(({ content }) => content);
  const folder = join(directory, settings.images.assets.folder);
  await writeImages([folder], contents, (name) => fetcher.readImage(name));
}

/**
 * Writes a page in place. Nothing reads a page before the build ends, and writing another file and renaming
 * it takes many times longer. Only a page with hard links becomes a file of its own: another page may be the
 * same file, and is still to be read with its embeds.
 */
const overwrite: WritePage = ({ file, name, size }, inline) => {
  const attempt = <Result>(work: () => Result) => {
    try {
      return work();
    } catch (error) {
      throw writeError(name, error, 'It was removed.');
    }
  };

  const descriptor = attempt(() => openSync(file, 'r+'));
  try {
    // Reading one more byte shows whether the page has grown since the scan: its embeds may have moved.
    return withOpenedFile(descriptor, size + 1, (generated) => {
      if (generated.length !== size) {
        throw userError('output-in-use', `${name} was changed while snippets were fetched. It was removed.`);
      }
      const inlinedPage = inline(generated);
      const { bytes } = inlinedPage;
      return attempt(() => {
        if (fstatSync(descriptor).nlink > 1) {
          writeAtomically(file, bytes, temporaryFile(file));
          return { inlinedPage, stats: statSync(file) };
        }
        // Reads by position have not moved the descriptor, so this writes at the start of the file.
        writeFileSync(descriptor, bytes);
        if (bytes.length < size) ftruncateSync(descriptor, bytes.length);
        return { inlinedPage, stats: fstatSync(descriptor) };
      });
    });
  } finally {
    closeSync(descriptor);
  }
};
