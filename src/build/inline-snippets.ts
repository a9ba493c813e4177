import { readFileSync } from 'node:fs';
import { count, formatDuration } from '../client/format.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import type { CollectionEntry, InvalidEmbed } from '../failures/report.ts';
import { headerPolicies } from '../html/content-security-policy.ts';
import type { Manifest, RecordedEnvironment } from '../record/manifest.ts';
import { paced } from '../record/progress.ts';
import type { RouteToHeaders } from '../settings/astro-version.ts';
import type { Settings } from '../settings/settings.ts';
import type { SiteUrls } from '../settings/site-urls.ts';
import type { FetchedSnippet, SnippetFetcher } from '../snippets/fetch-snippets.ts';
import { blockWarnings, type PageWithEmbeds } from '../snippets/file-embeds.ts';
import { type SiteSource, SourceSearch } from '../source/source-search.ts';
import { classChecker } from './class-checker.ts';
import { type MadePage, pageInliner } from './inline-page.ts';
import { type LeftSnippets, recordedRules, siteRecorder } from './recorder.ts';
import {
  type EmbeddingFile,
  inTurns,
  type OutputVerifier,
  type ScannableFile,
  type ScannedSite,
  scanSite,
} from './scan-site.ts';

/** What a build reports through: Astro's logger, or the command line. Lines are cleaned there. */
export interface BuildLogger {
  info(line: string): void;
  warn(line: string): void;
}

/** A site that an Astro build, or another generator, has written, and whose snippets are inlined. */
export interface InlinedSite {
  settings: Settings;
  /** Where the environment was read. */
  environment: RecordedEnvironment;
  urls: SiteUrls;
  directory: string;
  /** The folder that a build empties: the same, or one that contains it. */
  outDir: string;
  manifest: string;
  /** The manifest of the last build. */
  before: Manifest | undefined;
  fetcher: SnippetFetcher;
  logger: BuildLogger;
  /** The sources of an Astro site. */
  sources?: SiteSource | undefined;
  /** The headers that an adapter sends with the pages. */
  routeToHeaders?: RouteToHeaders | undefined;
  /** The classes for which CSS was made, if the site makes CSS for those of snippets. */
  classes?: readonly string[] | undefined;
  /** The entries of collections that show snippets. */
  collected?: readonly CollectedEntry[] | undefined;
}

/** An entry of a collection, and the snippet that it shows. */
export interface CollectedEntry extends CollectionEntry {
  request: SnippetRequest;
  snippet: FetchedSnippet;
}

/** What a build of Astro, and a run over a folder, do differently. */
export interface Inlining {
  verifier: OutputVerifier;
  /** Called with each file with embeds, as it is before anything is fetched. */
  onEmbeddingFile?(file: ScannableFile, bytes: Buffer): void;
  /**
   * Called before anything is fetched or written.
   *
   * @returns snippets that were rendered but are not in the output; `undefined` if there is nothing to do.
   */
  onScanned(site: ScannedSite): readonly InvalidEmbed[] | undefined;
  /**
   * Writes a page, or notes that it has to be written.
   *
   * @returns what the page still shows of an earlier run.
   */
  write(file: ScannableFile, page: MadePage): LeftSnippets | undefined;
}

/**
 * The one way from files with embeds to files with snippets: scan, fetch, inline, and check for the API key.
 *
 * @param files those that may contain embeds.
 * @returns the manifest, which is not written yet; `undefined` for a site that needs none.
 * @throws AstroError with one report of everything that went wrong.
 */
export async function inlineSnippets(
  files: readonly ScannableFile[],
  site: InlinedSite,
  inlining: Inlining,
): Promise<Manifest | undefined> {
  const { settings, fetcher, sources, classes, logger } = site;
  const { verifier } = inlining;
  const start = performance.now();
  const inlinedAt = Date.now();
  const scanned = await scanSite(files, site, verifier, inlining.onEmbeddingFile);
  const { uses, invalid } = scanned;
  for (const warning of scanned.warnings) logger.warn(warning);
  const lost = inlining.onScanned(scanned);
  if (lost === undefined) return undefined;
  const editLinks = await openEditLinks(site, scanned);
  const search = sources && new SourceSearch(sources);
  const onPages = scanned.files.flatMap(({ kind, embeds }) => (kind === 'html' ? embeds : []));
  for (const warning of search?.headingWarnings(onPages) ?? []) logger.warn(warning);
  const placeOf = search && ((id: number) => search.ofSnippet(id));
  const missing = new Set<string>();
  const snippets = await fetcher.fetch(uses, {
    invalid: search?.locate([...invalid, ...lost]) ?? [...invalid, ...lost],
    placeOf,
    onSettled: progressLogger(uses.length, (line) => logger.info(line)),
    onMissing: ({ key }) => missing.add(key),
  });
  for (const warning of blockWarnings(pagesOf(scanned), (key) => snippets.get(key)?.html, placeOf))
    logger.warn(warning);
  editLinks?.addNames(uses, snippets);
  const recorder = siteRecorder(site, uses, snippets, missing, verifier.containsKey);
  const inlinePage = pageInliner({
    snippets,
    rules: recordedRules(settings),
    editLinks,
    allow: headerPolicies(site.routeToHeaders ?? new Map(), site.urls.base),
  });
  const styles = classes && classChecker(site.directory, site.urls.base, classes);
  await inTurns(scanned.files, (page) => {
    const made = inlinePage(page, generatedBytes(page), page.embeds);
    page.bytes = undefined;
    verifier.check(page, made.file);
    recorder.add(page.name, made, inlining.write(page, made));
    styles?.add(page, made, (key) => snippets.get(key)?.classes);
  });
  for (const warning of styles?.warnings() ?? []) logger.warn(warning);
  if (scanned.files.length > 0) {
    const { cached = 0 } = fetcher.counts;
    const all = settings.renderBaseUrl === undefined ? [] : [...snippets.values()];
    const retrieved = all.filter(({ variant }) => variant === 'retrieve').length;
    const facts = [
      ...describeBuild(scanned, fetcher),
      retrieved > 0 && `${retrieved} retrieved instead of rendered`,
      cached > 0 && `${cached} from the cache`,
      missing.size > 0 && `${count(missing.size, 'optional snippet')} not found`,
      editLinks !== undefined && `edit links on ${count(editLinks.pages, 'page')}`,
      formatDuration(performance.now() - start),
    ];
    logger.info(facts.filter(Boolean).join(' · '));
    if (editLinks !== undefined) logger.warn(editLinksWarning);
  }
  return recorder.finish({ inlinedAt, linked: editLinks?.snippets });
}

// Where a build is published is not known here.
const editLinksWarning =
  'Edit links are on (editLinks: true): pages contain the URLs at which snippets are edited. They are for previews.';

async function openEditLinks(
  { settings: { editLinks, editUrl } }: Pick<InlinedSite, 'settings'>,
  { uses }: ScannedSite,
) {
  if (!editLinks || editUrl === undefined) return undefined;
  return (await import('./edit-links/edit-links.ts')).linkSnippets(uses, editUrl);
}

function generatedBytes({ bytes, generated, file }: EmbeddingFile): Buffer {
  return bytes ?? generated?.() ?? readFileSync(file);
}

function* pagesOf({ files }: ScannedSite): Generator<PageWithEmbeds> {
  for (const file of files) if (file.kind === 'html') yield { ...file, read: () => generatedBytes(file) };
}

/** The one line that says what a build did. */
function describeBuild({ files, uses }: ScannedSite, { counts, showsChildren }: SnippetFetcher): string[] {
  const embeds = files.reduce((sum, file) => sum + file.embeds.length, 0);
  const isPage = files.every(({ kind }) => kind === 'html');
  const places = isPage ? `on ${count(files.length, 'page')}` : `in ${count(files.length, 'file')}`;
  return [
    `${count(uses.length, 'snippet')} in ${count(embeds, 'embed')} ${places}`,
    showsChildren
      ? 'children are shown, without an API key'
      : `${count(counts.requests, 'request')}, ${count(counts.retries, 'retry', 'retries')}`,
  ];
}

/** Returns a function that is called with the number of snippets that are done, and logs it every 5 seconds. */
export function progressLogger(
  total: number,
  log: (line: string) => void,
  now?: () => number,
): (done: number) => void {
  const progress = paced({ first: 5_000, every: 5_000 }, log, now);
  return (done) => progress(() => `${done} of ${count(total, 'snippet')}`);
}
