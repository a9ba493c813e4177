import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { slugOfEmbed } from '../embed/element.ts';
import { describeNote, listPlaces } from '../failures/report.ts';
import { readOpened } from '../files/read.ts';
import { writeError, writeImages } from '../files/write.ts';
import { type Manifest, writeManifest } from '../record/manifest.ts';
import { removeManifest } from '../record/manifest-file.ts';
import type { SourceSearch } from '../source/source-search.ts';
import type { Announcements } from './build-run.ts';
import type { MadePage } from './inline-page.ts';
import { type InlinedSite, inlineSnippets, type WritePage } from './inline-snippets.ts';
import { describeLate, sealedFiles } from './output-state.ts';
import { type ScannableFile, type SiteFile, scanSite } from './scan-site.ts';
import { findCopies } from './side-products/page-copies.ts';

export interface SiteBuild extends InlinedSite {
  search: SourceSearch;
  /** Whether the last build left a manifest, even if this version cannot read it. */
  hadManifest: boolean;
  announcements: Announcements | undefined;
  lateHooks?: Manifest['lateHooks'];
  /** Astro's folder of files whose names change with their sources. */
  assets?: string;
}

/**
 * Runs after Astro has generated the site. If it throws, no file is left in the output that still contains an embed, or in
 * which the report found something invalid. The manifest is not written yet: other integrations may still fail.
 *
 * @returns `undefined` for a site that needs no manifest.
 */
export async function buildSite(
  build: SiteBuild,
  scannable: readonly ScannableFile[],
): Promise<Manifest | undefined> {
  const { directory, settings, fetcher, collected = [], urls } = build;
  let unfinished = new Set<SiteFile>(scannable);
  try {
    const scanned = await scanSite(scannable, build);
    for (const { name } of scanned.files.filter((file) => file.name.startsWith(`${build.assets}/`))) {
      build.logger.warn(
        `${name}: shows a snippet, but its name changes with its source alone. Browsers keep the old content. Show the snippet on a page, or put the file into public/.`,
      );
    }
    for (const { name } of scannable.filter((file) => slugOfEmbed.test(file.name))) {
      build.logger.warn(
        `${name}: the path was made from an embed, before its snippet was known. Give the page its own slug.`,
      );
    }
    // Snippets that were rendered but are not in the output.
    const lost =
      build.announcements?.lost(scanned, scannable, urls.base, (note) =>
        build.logger.warn(describeNote(note, build.search.whereWritten)),
      ) ?? [];
    scanned.invalid.push(...lost);
    const incomplete = new Set(lost.flatMap(({ files }) => files));
    unfinished = new Set([...scanned.files, ...scannable.filter(({ name }) => incomplete.has(name))]);
    const write: WritePage = (page, make) => {
      const made = overwrite(page, make);
      unfinished.delete(page);
      return { made, left: [] };
    };
    // A site that never showed snippets needs no manifest. One that no longer shows any can be checked.
    const isPlain = unfinished.size + lost.length + collected.length === 0 && !build.hadManifest;
    if (isPlain) return undefined;
    const inlined = await inlineSnippets(scanned, build, write);
    if (settings.images !== undefined) {
      const contents = inlined.snippets.map(({ content }) => content);
      const folder = join(directory, settings.images.assets.folder);
      await writeImages([folder], contents, (name) => fetcher.readImage(name));
    }
    return inlined;
  } catch (error) {
    // Before anything else: Node makes a new HTTP/2 stream of an answer that arrives for an aborted one. No one listens
    // to it, so closing the connections with an error after that would end the process instead of showing the report.
    await fetcher.close().catch(() => {});
    for (const { file } of unfinished) rmSync(file, { force: true });
    throw error;
  }
}

/** In place: nothing reads a page before the build ends, and to write a temporary file and rename it takes many times longer. */
function overwrite({ file, name }: SiteFile, make: (generated: Buffer) => MadePage): MadePage {
  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      // Part of the new page and part of the old one.
      rmSync(file, { force: true });
      throw writeError(name, error, 'It was removed.');
    }
  };
  const descriptor = attempt(() => openSync(file, 'r+'));
  try {
    const { size } = fstatSync(descriptor);
    const made = make(readOpened(descriptor, size));
    attempt(() => {
      writeFileSync(descriptor, made.file);
      if (made.file.length < size) ftruncateSync(descriptor, made.file.length);
    });
    return made;
  } finally {
    closeSync(descriptor);
  }
}

export async function recordSite(
  { manifest, directory, search, before, fetcher, lateHooks, logger }: SiteBuild,
  inlined: Manifest,
  at: number,
): Promise<void> {
  // With a record, a check could say that nothing has changed.
  if (fetcher.showsChildren) {
    return removeManifest(manifest, 'The last build shows children instead of snippets.');
  }
  const copies = findCopies(search.source.folders.root, directory, inlined, at);
  const files = await sealedFiles(directory, inlined.files, { at, before });
  const late = files.flatMap(({ isLate, name }) => (isLate ? name : []));
  if (late.length > 0) {
    logger.warn(
      `${describeLate({ lateHooks })} changed ${listPlaces(late)} after snippets were inlined. Only a build can update ${late.length === 1 ? 'it' : 'them'}: publish with \`astro-snippets check --exec\`, not with a refresh.`,
    );
  }
  writeManifest(manifest, {
    ...inlined,
    files,
    lateHooks: late.length === 0 ? undefined : lateHooks,
    copies: copies.length === 0 ? undefined : copies,
  });
}
