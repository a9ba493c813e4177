import { paced } from '../client/clock.ts';
import { count, formatDuration } from '../client/format.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import type { CollectionEntry } from '../failures/report.ts';
import { inTurns } from '../files/read.ts';
import { hashSource, headerPolicies } from '../html/content-security-policy.ts';
import {
  asBefore,
  contentRecord,
  hashOf,
  type Manifest,
  type ManifestFile,
  type RecordedSnippet,
} from '../record/manifest.ts';
import { packWriter } from '../record/pack.ts';
import type { RouteToHeaders } from '../settings/astro-version.ts';
import type { EnvironmentFiles } from '../settings/environment.ts';
import type { Settings } from '../settings/settings.ts';
import type { SiteUrls } from '../settings/site-urls.ts';
import type { FetchedSnippet, FetchedSnippets, SnippetFetcher } from '../snippets/fetch-snippets.ts';
import { blockFinder, type FileEmbed, type SnippetUse } from '../snippets/file-embeds.ts';
import type { SourceSearch } from '../source/source-search.ts';
import { type ClassFile, classChecker } from './classes.ts';
import { linkSnippets, panelScript } from './edit-links/edit-links.ts';
import { type MadePage, pageInliner } from './inline-page.ts';
import type { OutputVerifier, ScannableFile, ScannedSite } from './scan-site.ts';

/** Astro's logger, or the command line. Lines are cleaned there. */
export interface BuildLogger {
  info(line: string): void;
  warn(line: string): void;
}

/** A site that Astro, or another generator, has written. */
export interface InlinedSite {
  settings: Settings;
  environment?: EnvironmentFiles | undefined;
  urls: SiteUrls;
  directory: string;
  manifest: string;
  /** Of the last build. */
  before: Manifest | undefined;
  fetcher: SnippetFetcher;
  verifier: OutputVerifier;
  logger: BuildLogger;
  /** The sources of an Astro site. */
  search?: SourceSearch | undefined;
  /** The headers that an adapter sends with the pages. */
  routeToHeaders?: RouteToHeaders | undefined;
  /** The classes for which CSS was made, with the option `classes`. */
  classes?: Pick<ClassFile, 'written'> | undefined;
  collected?: readonly CollectedEntry[] | undefined;
}

export interface CollectedEntry extends CollectionEntry {
  request: SnippetRequest;
  snippet: FetchedSnippet;
}

/** What a file still shows of an earlier run, without an embed: a later step has changed the file. */
export interface LeftSnippet {
  snippet: RecordedSnippet;
  /** Of the content that it shows; `undefined` where it shows children. */
  hash: string | undefined;
}

/** Reads, makes and writes a page, or notes that it has to be written. What is `left` of an earlier run is still shown. */
export type WritePage = (
  page: ScannableFile,
  make: (generated: Buffer) => MadePage,
) => { made: MadePage; left: readonly LeftSnippet[] };

/** The one way from files with embeds to files with snippets. The manifest that it returns is not written yet. */
export async function inlineSnippets(
  { startedAt, files, uses, invalid }: ScannedSite,
  site: InlinedSite,
  write: WritePage,
): Promise<Manifest> {
  const { settings, fetcher, verifier, search, classes, logger } = site;
  const placeOf = search?.whereWritten;
  const progress = paced({ first: 5_000, every: 5_000 }, (line) => logger.info(line));
  const onSettled = (done: number) => progress(() => `${done} of ${count(uses.length, 'snippet')}`);
  const snippets = await fetcher.fetch(uses, { invalid, placeOf, onSettled });
  const linked = linkSnippets(settings, uses, snippets);
  const recorder = siteRecorder(site, uses, snippets);
  const inlinePage = pageInliner({
    snippets,
    rules: recorder.record.rules,
    linked,
    allow: headerPolicies(site.routeToHeaders ?? new Map(), site.urls.base),
  });
  const styles = classes && classChecker(site.directory, site.urls.base, classes.written);
  const blocks = blockFinder((key) => snippets.get(key)?.html, placeOf);
  const inHeadings: FileEmbed[] = [];
  let embedCount = 0;
  let linkedCount = 0;
  await inTurns(files, (page) => {
    const { name, kind, embeds } = page;
    const { made, left } = write(page, (generated) => inlinePage(page, generated, embeds));
    embedCount += embeds.length;
    linkedCount += Number(made.isLinked);
    verifier.check(page, made.file);
    recorder.add(name, made, left);
    if (kind !== 'html') return;
    styles?.add(name, made, (key) => snippets.get(key)?.classes);
    blocks.add(name, made.generated, embeds);
    inHeadings.push(...embeds.filter(({ inHeading }) => inHeading));
  });
  const inSources = search === undefined ? [] : [search.headingWarnings(inHeadings), search.imageWarnings()];
  const warnings = [...inSources, blocks.warnings(), styles?.warnings() ?? []].flat();
  for (const warning of warnings) logger.warn(warning);
  if (files.length > 0) {
    const { requests, retries, cached } = fetcher.answers.counts;
    const isPage = files.every(({ kind }) => kind === 'html');
    const places = isPage ? `on ${count(files.length, 'page')}` : `in ${count(files.length, 'file')}`;
    const all = settings.renderBaseUrl === undefined ? [] : [...snippets.values()];
    const retrieved = all.filter(({ variant }) => variant === 'retrieve').length;
    const facts = [
      `${count(uses.length, 'snippet')} in ${count(embedCount, 'embed')} ${places}`,
      fetcher.showsChildren
        ? 'children are shown, without an API key'
        : `${count(requests, 'request')}, ${count(retries, 'retry', 'retries')}`,
      retrieved > 0 && `${retrieved} retrieved instead of rendered`,
      cached > 0 && `${cached} from the cache`,
      fetcher.missing.size > 0 && `${count(fetcher.missing.size, 'optional snippet')} not found`,
      linked && `edit links on ${count(linkedCount, 'page')}`,
      formatDuration(Date.now() - startedAt),
    ];
    logger.info(facts.filter(Boolean).join(' · '));
    if (linked !== undefined) logger.warn(editLinksWarning);
  }
  return {
    ...recorder.record,
    builtAt: new Date().toISOString(),
    inlinedAt: startedAt,
    linked,
    pack: recorder.pack.finish(),
  };
}

// Where a build is published is not known here.
const editLinksWarning =
  'Edit links are on (editLinks: true): pages contain the URLs at which snippets are edited. They are for previews.';

/** Makes a record, which gets its files one after the other. */
function siteRecorder(site: InlinedSite, uses: readonly SnippetUse[], snippets: FetchedSnippets) {
  const { fetcher, settings, environment, directory, search, before, urls, collected = [] } = site;
  const { renderBaseUrl, retrieveBaseUrl, urlOptions, ca, concurrency, timeout, patience } = settings;
  const { links, scripts, strict, policy, sanitize, images } = settings;
  const recorded = uses.map(({ request, asHtml }): RecordedSnippet => {
    const snippet = snippets.get(request.key);
    return {
      ...request,
      content: snippet && contentRecord(snippet),
      missing: fetcher.missing.has(request.key) || undefined,
      asText: !asHtml || undefined,
    };
  });
  const indexes = new Map(recorded.map(({ key }, index) => [key, index]));
  /** The index of a snippet, which is added if it is new. */
  const indexOf = (shown: RecordedSnippet): number => {
    const index = indexes.get(shown.key) ?? recorded.push(shown) - 1;
    indexes.set(shown.key, index);
    // An entry of a collection is HTML.
    if (!shown.asText) delete recorded[index]?.asText;
    return index;
  };
  const record: Omit<Manifest, 'builtAt' | 'inlinedAt'> = {
    output: directory,
    outDir: search?.source.folders.outDir ?? directory,
    urls: search && urls,
    settings: {
      renderBaseUrl,
      retrieveBaseUrl,
      urlOptions,
      environment,
      ca,
      concurrency,
      timeout: `${timeout}ms`,
      patience: `${patience}ms`,
    },
    rules: {
      links,
      scripts,
      strict,
      policy,
      sanitizes: sanitize !== undefined,
      editLinks: settings.editLinks ? hashSource(panelScript()) : undefined,
      images,
    },
    classes: site.classes?.written,
    snippets: recorded,
    before: before && asBefore(before),
    files: [],
    collections: collected.map(({ collection, entry, request, snippet }) => {
      const content = contentRecord(snippet);
      return { collection, entry, snippet: indexOf({ ...request, content }), content: content.hash };
    }),
  };
  const pack = packWriter(site.manifest);
  return {
    record,
    pack,
    add(name: string, { generated, file, embeds }: MadePage, left: readonly LeftSnippet[]): void {
      const shows = embeds.map(({ request }) => indexes.get(request.key) ?? 0);
      const { at, length } = pack.add(generated);
      const recordedFile: ManifestFile = { name, hash: hashOf(file), shows, at, length, size: 0, time: 0 };
      // The first snippets are those of the uses, in their order.
      const optional = [...new Set(shows)].filter((index) => uses[index]?.optionalPlaces?.has(name));
      if (optional.length > 0) recordedFile.optional = optional;
      for (const { snippet, hash } of left) {
        const index = indexOf(snippet);
        shows.push(index);
        if (hash === recorded[index]?.content?.hash) continue;
        recordedFile.older = { ...recordedFile.older, [index]: hash ?? null };
      }
      record.files.push(recordedFile);
    },
  };
}
