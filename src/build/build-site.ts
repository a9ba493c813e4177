import { readFile, rm } from 'node:fs/promises';
import type { AstroIntegrationLogger } from 'astro';
import { mayHoldEmbeds } from '../embed/scan.ts';
import { userError } from '../failures/user-error.ts';
import { HeaderPolicies, type RouteToHeaders } from '../html/content-security-policy.ts';
import { asBefore, type Manifest, outputFrom, writeManifest } from '../record/manifest.ts';
import type { Settings } from '../settings/settings.ts';
import type { SnippetFetcher } from '../snippets/fetch-snippets.ts';
import { type SourceFolders, withSources } from '../source/markdown-sources.ts';
import type { Announcements } from './announcements.ts';
import type { FinishedSite } from './check-late-files.ts';
import { headingWarnings } from './heading-warnings.ts';
import { inlineFiles } from './inline-files.ts';
import { FileRecorder } from './record-files.ts';
import { listSiteFiles, type ScannableFile, type SiteFile, scanSite } from './scan-site.ts';
import { describeBuild, progressLogger } from './summary.ts';
import { OutputVerifier } from './verify-output.ts';

export interface SiteBuild {
  /** The output folder. */
  directory: string;
  /** The folder of the sources, and the one that people name them from. */
  sources: SourceFolders;
  /** The file of the manifest. */
  manifest: string;
  /** The manifest of the last build. */
  before: Manifest | undefined;
  /** The headers that an adapter sends with the pages. */
  routeToHeaders: RouteToHeaders;
  /** The site's base path. */
  base: string;
  settings: Settings;
  fetcher: SnippetFetcher;
  announcements: Announcements | undefined;
  logger: AstroIntegrationLogger;
}

/**
 * Runs after Astro has generated the site: scan, fetch, inline, verify. Afterwards every embed is replaced; if it
 * throws, no file that still contains an embed is left in the output.
 *
 * @throws AstroError with one report of everything that went wrong.
 */
export async function buildSite(build: SiteBuild): Promise<FinishedSite> {
  const { directory, manifest, before, settings, fetcher } = build;
  const { scannable, others } = listSiteFiles(directory, settings.exclude);
  const finished = new Set<SiteFile>();
  const verifier = new OutputVerifier(settings.apiKey);
  let recorder: FileRecorder | undefined;
  try {
    recorder = await inlineSnippets(scannable, build, verifier, (file) => finished.add(file));
  } catch (error) {
    // Before anything else: Node makes a new HTTP/2 stream of an answer that arrives for an aborted one. No one listens
    // to it, so closing the connections with an error after that would end the process instead of showing the report.
    await fetcher.close();
    await removeFilesWithEmbeds(scannable.filter((file) => !finished.has(file)));
    throw error;
  }
  await verifier.read(others);
  await refuseKey(verifier);
  if (recorder === undefined) return { at: Date.now(), hashes: new Map(), quoted: new Set() };
  const { renderBaseUrl, retrieveBaseUrl, ca, concurrency, timeout, html } = settings;
  await writeManifest(manifest, {
    version: 4,
    builtAt: new Date().toISOString(),
    output: outputFrom(manifest, directory),
    settings: { renderBaseUrl, retrieveBaseUrl, ca, concurrency, timeout: `${timeout}ms` },
    rules: {
      sanitizes: html.sanitize !== undefined,
      scripts: html.scripts,
      strict: html.strict,
      policy: html.policy,
    },
    before: before && asBefore(before),
    ...recorder.record,
  });
  return { at: Date.now(), hashes: recorder.hashes, quoted: recorder.quoted };
}

async function inlineSnippets(
  files: readonly ScannableFile[],
  { settings, fetcher, announcements, routeToHeaders, base, sources, logger }: SiteBuild,
  verifier: OutputVerifier,
  onFinished: (file: SiteFile) => void,
): Promise<FileRecorder | undefined> {
  const start = performance.now();
  const site = await scanSite(files, {
    onPlainFile(file, bytes) {
      onFinished(file);
      verifier.check(file, bytes);
    },
    onSnippet: ({ request }) => fetcher.prefetch(request),
  });
  for (const warning of site.warnings) logger.warn(warning);
  const lost = announcements?.lost(site, files, base) ?? [];
  if (site.files.length + lost.length === 0) return undefined;
  for (const warning of await headingWarnings(site.files, sources)) logger.warn(warning);
  const onSettled = progressLogger(site.uses.length, (line) => logger.info(line));
  const invalid = [...(await withSources(site.invalid, sources)), ...lost];
  const snippets = await fetcher.fetch(site.uses, { invalid, onSettled });
  const recorder = new FileRecorder(site.uses, snippets);
  const headers = settings.html.policy === 'hash' ? new HeaderPolicies(routeToHeaders, base) : undefined;
  await inlineFiles(site.files, {
    snippets,
    headers,
    onFile(file, inlined) {
      onFinished(file.source);
      verifier.check(file.source, inlined.file);
      recorder.add(file, inlined);
    },
  });
  logger.info(describeBuild(site, fetcher.counts, performance.now() - start));
  return recorder;
}

/** @throws AstroError if the output contains the API key. The files that contain it are removed. */
async function refuseKey({ withKey }: OutputVerifier): Promise<void> {
  if (withKey.length === 0) return;
  for (const { file } of withKey) await rm(file, { force: true });
  const names = withKey.map(({ name }) => name).join(', ');
  throw userError('published-key', `The API key was found in ${names}. These files were removed.`);
}

async function removeFilesWithEmbeds(files: readonly SiteFile[]): Promise<void> {
  for (const { file } of files) {
    if (mayHoldEmbeds(await readFile(file))) await rm(file, { force: true });
  }
}
