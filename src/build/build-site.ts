import { readFile, rm } from 'node:fs/promises';
import type { AstroIntegrationLogger } from 'astro';
import { mayHoldEmbeds } from '../embed/scan.ts';
import { userError } from '../failures/user-error.ts';
import { HeaderPolicies, type RouteToHeaders } from '../html/content-security-policy.ts';
import { asBefore, type Manifest, outputFrom, removeManifest, writeManifest } from '../record/manifest.ts';
import type { Settings } from '../settings/settings.ts';
import type { SnippetFetcher } from '../snippets/fetch-snippets.ts';
import { inlinePages } from './inline-pages.ts';
import { PageRecorder } from './record-pages.ts';
import { listSiteFiles, type SiteFile, scanSite } from './scan-site.ts';
import { describeBuild, progressLogger } from './summary.ts';
import { OutputVerifier } from './verify-output.ts';

export interface SiteBuild {
  /** The output folder. */
  directory: string;
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
  logger: AstroIntegrationLogger;
}

/**
 * Runs after Astro has generated the pages: scan, fetch, inline, verify. Afterwards every embed is replaced; if it
 * throws, no page that still contains an embed is left in the output.
 *
 * @throws AstroError with one report of everything that went wrong.
 */
export async function buildSite(build: SiteBuild): Promise<void> {
  const { directory, manifest, before, settings, fetcher, logger } = build;
  const files = listSiteFiles(directory);
  const finished = new Set<SiteFile>();
  await removeManifest(manifest);
  const verifier = new OutputVerifier(settings.apiKey);
  let recorder: PageRecorder | undefined;
  try {
    recorder = await inlineSnippets(files.pages, build, verifier, (page) => finished.add(page));
  } catch (error) {
    // Before anything else: Node makes a new HTTP/2 stream of an answer that arrives for an aborted one. No one listens
    // to it, so closing the connections with an error after that would end the process instead of showing the report.
    await fetcher.close();
    await removePagesWithEmbeds(files.pages.filter((page) => !finished.has(page)));
    throw error;
  }
  await verifier.checkTexts(files.texts);
  await reportFindings(verifier, logger);
  if (recorder === undefined) return;
  const { renderBaseUrl, retrieveBaseUrl, ca, concurrency, html } = settings;
  await writeManifest(manifest, {
    version: 3,
    builtAt: new Date().toISOString(),
    output: outputFrom(manifest, directory),
    settings: { renderBaseUrl, retrieveBaseUrl, ca, concurrency },
    rules: {
      sanitizes: html.sanitize !== undefined,
      scripts: html.scripts,
      strict: html.strict,
      policy: html.policy,
    },
    before: before && asBefore(before),
    ...recorder.record,
  });
}

async function inlineSnippets(
  files: readonly SiteFile[],
  { settings, fetcher, routeToHeaders, base, logger }: SiteBuild,
  verifier: OutputVerifier,
  onFinished: (page: SiteFile) => void,
): Promise<PageRecorder | undefined> {
  const start = performance.now();
  const site = await scanSite(files, {
    onPlainPage: (file, bytes) => verifier.checkPage(file, bytes),
    onSnippet: ({ request }) => fetcher.prefetch(request),
  });
  if (site.pages.length === 0) return undefined;
  const onSettled = progressLogger(site.uses.length, (line) => logger.info(line));
  const snippets = await fetcher.fetch(site.uses, { invalid: site.invalid, onSettled });
  const recorder = new PageRecorder(site.uses, snippets);
  const headers = settings.html.policy === 'hash' ? new HeaderPolicies(routeToHeaders, base) : undefined;
  await inlinePages(site.pages, {
    snippets,
    headers,
    onPage(page, inlined) {
      onFinished(page.source);
      verifier.checkPage(page.source, inlined.page);
      recorder.add(page, inlined);
    },
  });
  logger.info(describeBuild(site, fetcher.counts, performance.now() - start));
  return recorder;
}

/** @throws AstroError if the output contains the API key. The files that contain it are removed. */
async function reportFindings(
  { withKey, withEmbed }: OutputVerifier,
  logger: AstroIntegrationLogger,
): Promise<void> {
  for (const { name } of withEmbed) {
    logger.warn(`${name} contains an embed, but is not an HTML page. The embed is not replaced.`);
  }
  if (withKey.length === 0) return;
  for (const { file } of withKey) await rm(file, { force: true });
  const names = withKey.map(({ name }) => name).join(', ');
  throw userError('published-key', `The API key was found in ${names}. These files were removed.`);
}

async function removePagesWithEmbeds(pages: readonly SiteFile[]): Promise<void> {
  for (const { file } of pages) {
    if (mayHoldEmbeds(await readFile(file))) await rm(file, { force: true });
  }
}
