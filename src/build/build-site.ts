import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readBytes } from '../files/read.ts';
import { writeError } from '../files/write.ts';
import { headerPolicies } from '../html/content-security-policy.ts';
import { type Manifest, outputFrom, type RecordedEnvironment, writeManifest } from '../record/manifest.ts';
import { PackWriter, removeOtherPacks } from '../record/pack.ts';
import { writeImages } from '../record/write-images.ts';
import type { RouteToHeaders } from '../settings/astro-version.ts';
import type { Settings } from '../settings/settings.ts';
import type { SiteUrls } from '../settings/site-urls.ts';
import type { SnippetFetcher } from '../snippets/fetch-snippets.ts';
import type { SourceFolders } from '../source/source-files.ts';
import type { Announcements } from './announcements.ts';
import { ClassChecker } from './class-checker.ts';
import { type FinishedSite, plainSite } from './finished-site.ts';
import { inlineSnippets, type RewriteFile } from './inline-snippets.ts';
import { sealedFiles } from './output-state.ts';
import { type CollectedEntry, FileRecorder, siteManifest } from './recorder.ts';
import { listSiteFiles, type SiteFile } from './scan-site.ts';
import { findCopies } from './side-products/page-copies.ts';
import type { BuildLogger } from './summary.ts';
import { OutputVerifier, refuseKey } from './verify-output.ts';

export interface SiteBuild {
  /** The output folder. */
  directory: string;
  /** Astro's `outDir`: the same, or a folder that contains it. */
  outDir: string;
  /** The folder of the sources, and the one that people name them from. */
  sources: SourceFolders;
  /** The file of the manifest. */
  manifest: string;
  /** The manifest of the last build. */
  before: Manifest | undefined;
  /** Whether the last build left a manifest, even if this version cannot read it. */
  hadManifest: boolean;
  /** The entries of collections that show snippets. */
  collected: readonly CollectedEntry[];
  /** The classes for which CSS was made; `undefined` if the site does not make CSS for those of snippets. */
  classes: readonly string[] | undefined;
  /** The headers that an adapter sends with the pages. */
  routeToHeaders: RouteToHeaders;
  urls: SiteUrls;
  settings: Settings;
  /** Where the environment was read. */
  environment: RecordedEnvironment;
  fetcher: SnippetFetcher;
  announcements: Announcements | undefined;
  /** Called before a file with embeds is changed. @throws if another process writes to the output. */
  onEmbeds(): Promise<void>;
  logger: BuildLogger;
}

/**
 * Runs after Astro has generated the site: scan, fetch, inline, verify. Afterwards every embed is replaced; if it
 * throws, no file is left in the output that still contains an embed, or in which the report found something invalid.
 *
 * @returns the manifest, too. It is not written yet: other integrations may still make the build fail.
 * @throws AstroError with one report of everything that went wrong.
 */
export async function buildSite(build: SiteBuild): Promise<FinishedSite> {
  const pack = new PackWriter(build.manifest);
  try {
    const finished = await inlineSite(build, pack);
    if (finished.record === undefined) pack.discard();
    return finished;
  } catch (error) {
    pack.discard();
    throw error;
  }
}

async function inlineSite(build: SiteBuild, pack: PackWriter): Promise<FinishedSite> {
  const { directory, settings, fetcher, collected, announcements, urls } = build;
  const inlinedAt = Date.now();
  const { scannable, others } = listSiteFiles([directory], settings.exclude);
  const unfinished = new Set<SiteFile>(scannable);
  const verifier = new OutputVerifier(settings.apiKey);
  let recorder: FileRecorder | undefined;
  let isRefused = false;
  const lock = async () => {
    isRefused = true;
    await build.onEmbeds();
    isRefused = false;
  };
  try {
    recorder = await inlineSnippets(scannable, {
      ...build,
      verifier,
      pack,
      styled: build.classes && new ClassChecker(directory, urls.base, build.classes),
      allow:
        settings.html.policy === 'hash' || settings.editLinks
          ? headerPolicies(build.routeToHeaders, urls.base)
          : undefined,
      onPlainFile: (file) => unfinished.delete(file),
      findLost(site) {
        const lost = announcements?.lost(site, scannable, urls.base) ?? [];
        const incomplete = new Set(lost.flatMap(({ files }) => files));
        for (const file of scannable) if (incomplete.has(file.name)) unfinished.add(file);
        return lost;
      },
      onEmbeds: lock,
      rewrite(file, kept, change) {
        overwrite(file, kept, change);
        unfinished.delete(file);
      },
    });
  } catch (error) {
    // Before anything else: Node makes a new HTTP/2 stream of an answer that arrives for an aborted one. No one listens
    // to it, so closing the connections with an error after that would end the process instead of showing the report.
    // What closing fails with matters less than the report, and than what is removed.
    await fetcher.close().catch(() => {});
    // Without the lock, these files may be those of another build.
    if (!isRefused) for (const { file } of unfinished) await rm(file, { force: true });
    throw error;
  }
  await verifier.read(others);
  await refuseKey(verifier);
  if (recorder === undefined) {
    // A site that never showed snippets needs no manifest. One that no longer shows any has been built, and can be checked.
    if (collected.length === 0 && !build.hadManifest) {
      return plainSite();
    }
    await lock();
    recorder = new FileRecorder({ collected, pack, containsKey: verifier.containsKey });
  }
  const shown = recorder.finish();
  if (settings.images !== undefined) {
    const contents = shown.snippets.map(({ content }) => content);
    const folder = join(directory, settings.images.assets.folder);
    await writeImages([folder], contents, (name) => fetcher.readImage(name));
  }
  // With a record, a check could say that nothing has changed.
  const record = fetcher.showsChildren ? undefined : siteManifest({ ...build, inlinedAt }, shown);
  return { at: Date.now(), files: shown.files, before: build.before, record };
}

/**
 * Writes a file in place. It is not read before the build ends, and writing a temporary file and renaming it takes
 * many times longer.
 */
const overwrite: RewriteFile = ({ file, name }, kept, change) => {
  const descriptor = openSync(file, 'r+');
  try {
    const before = kept ?? readBytes(descriptor, fstatSync(descriptor).size);
    const changed = change(before);
    try {
      write(descriptor, changed, before.length);
    } catch (error) {
      // Part of the new page and part of the old one.
      rmSync(file, { force: true });
      throw writeError(name, error, 'It was removed.');
    }
  } finally {
    closeSync(descriptor);
  }
};

function write(descriptor: number, bytes: Buffer, lengthBefore: number): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(descriptor, bytes, written, bytes.length - written, written);
  }
  if (bytes.length < lengthBefore) ftruncateSync(descriptor, bytes.length);
}

/** Writes the manifest of a site, with the copies that adapters made of its files. */
export async function recordSite(
  manifest: string,
  directory: string,
  root: string,
  { at, files, before, record }: FinishedSite,
): Promise<void> {
  if (record === undefined) return;
  const copies = findCopies(root, directory, { files, since: at });
  await writeManifest(manifest, {
    ...record,
    files: await sealedFiles(directory, record.files, { at, before }),
    ...(copies.length > 0 && { copies: copies.map((copy) => outputFrom(manifest, copy)) }),
  });
  removeOtherPacks(manifest, record);
}
