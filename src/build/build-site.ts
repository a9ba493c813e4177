import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { AstroIntegrationLogger } from 'astro';
import type { RouteToHeaders } from '../astro-version.ts';
import { HeaderPolicies } from '../html/content-security-policy.ts';
import { asBefore, type Manifest, outputFrom, writeManifest } from '../record/manifest.ts';
import type { Settings } from '../settings/settings.ts';
import { blockWarnings, type PageWithEmbeds } from '../snippets/block-warnings.ts';
import type { SnippetFetcher } from '../snippets/fetch-snippets.ts';
import { headingWarnings } from '../source/heading-warnings.ts';
import { type SourceFolders, withSources } from '../source/markdown-sources.ts';
import type { Announcements } from './announcements.ts';
import type { FinishedSite } from './check-late-files.ts';
import { inlineFiles } from './inline-files.ts';
import { type CollectedEntry, FileRecorder } from './record-files.ts';
import { listSiteFiles, type ScannableFile, type ScannedSite, type SiteFile, scanSite } from './scan-site.ts';
import { describeBuild, progressLogger } from './summary.ts';
import { OutputVerifier, refuseKey } from './verify-output.ts';

export interface SiteBuild {
  /** The output folder. */
  directory: string;
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
  /** The headers that an adapter sends with the pages. */
  routeToHeaders: RouteToHeaders;
  /** The site's base path. */
  base: string;
  settings: Settings;
  fetcher: SnippetFetcher;
  announcements: Announcements | undefined;
  /** Called before a file with embeds is changed. @throws if another process writes to the output. */
  onEmbeds(): Promise<void>;
  logger: AstroIntegrationLogger;
}

/**
 * Runs after Astro has generated the site: scan, fetch, inline, verify. Afterwards every embed is replaced; if it
 * throws, no file is left in the output that still contains an embed, or in which the report found something invalid.
 *
 * @throws AstroError with one report of everything that went wrong.
 */
export async function buildSite(build: SiteBuild): Promise<FinishedSite> {
  const { directory, manifest, before, settings, fetcher, collected } = build;
  const { scannable, others } = listSiteFiles(directory, settings.exclude);
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
    recorder = await inlineSnippets(scannable, { ...build, onEmbeds: lock }, verifier, unfinished);
  } catch (error) {
    // Before anything else: Node makes a new HTTP/2 stream of an answer that arrives for an aborted one. No one listens
    // to it, so closing the connections with an error after that would end the process instead of showing the report.
    await fetcher.close();
    // Without the lock, these files may be those of another build.
    if (!isRefused) for (const { file } of unfinished) await rm(file, { force: true });
    throw error;
  }
  await verifier.read(others);
  await refuseKey(verifier);
  if (recorder === undefined) {
    // A site that never showed snippets needs no manifest. One that no longer shows any has been built, and can be checked.
    if (collected.length === 0 && !build.hadManifest) {
      return { at: Date.now(), hashes: new Map(), quoted: new Set() };
    }
    await lock();
    recorder = new FileRecorder([], new Map(), collected);
  }
  const { renderBaseUrl, retrieveBaseUrl, ca, concurrency, timeout, html } = settings;
  await writeManifest(manifest, {
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
  { settings, fetcher, announcements, onEmbeds, routeToHeaders, base, sources, collected, logger }: SiteBuild,
  verifier: OutputVerifier,
  unfinished: Set<SiteFile>,
): Promise<FileRecorder | undefined> {
  const start = performance.now();
  const site = await scanSite(files, {
    onPlainFile(file, bytes) {
      unfinished.delete(file);
      verifier.check(file, bytes);
    },
    onSnippet: ({ request }) => fetcher.prefetch(request),
  });
  for (const warning of site.warnings) logger.warn(warning);
  const lost = announcements?.lost(site, files, base) ?? [];
  const incomplete = new Set(lost.flatMap((snippet) => snippet.files));
  for (const file of files) if (incomplete.has(file.name)) unfinished.add(file);
  if (site.files.length + lost.length === 0) return undefined;
  await onEmbeds();
  for (const warning of await headingWarnings(site.idsInHeadings, sources)) logger.warn(warning);
  const onSettled = progressLogger(site.uses.length, (line) => logger.info(line));
  const invalid = [...(await withSources(site.invalid, sources)), ...lost];
  const snippets = await fetcher.fetch(site.uses, { invalid, onSettled });
  const htmlOf = (key: string) => snippets.get(key)?.html;
  for (const warning of blockWarnings(pagesWithText(site), htmlOf)) logger.warn(warning);
  const recorder = new FileRecorder(site.uses, snippets, collected);
  const headers = settings.html.policy === 'hash' ? new HeaderPolicies(routeToHeaders, base) : undefined;
  await inlineFiles(site, {
    snippets,
    headers,
    onFile(file, inlined) {
      unfinished.delete(file);
      verifier.check(file, inlined.file);
      recorder.add(file.name, inlined);
    },
  });
  logger.info(describeBuild(site, fetcher.counts, performance.now() - start));
  return recorder;
}

/** Pages in which an embed is in a paragraph with something else. */
function* pagesWithText({ files, store }: ScannedSite): Generator<PageWithEmbeds> {
  for (const { source, embeds, isInText, bytes } of files) {
    if (!isInText || source.kind !== 'html') continue;
    const read = () => bytes ?? readFileSync(source.file);
    yield { name: source.name, embeds: store.read(embeds), read };
  }
}
