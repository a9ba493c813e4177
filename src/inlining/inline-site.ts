import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { headerPolicies } from '../content/csp.ts';
import { type SnippetWarning, warningLines } from '../failures/snippet-warning.ts';
import { forEachYielding } from '../files/turns.ts';
import type { Manifest } from '../record/manifest.ts';
import { NestingWarnings } from '../snippets/nesting-warnings.ts';
import type { FileEmbed } from '../snippets/read-embeds.ts';
import type { FetchedSnippets } from '../snippets/snippet-fetcher.ts';
import { count, formatDuration } from '../text/format.ts';
import { throttledProgress } from '../text/progress.ts';
import { ClassChecker } from './class-check.ts';
import type { FeedChecker } from './feeds/feed-check.ts';
import type { GeneratedSite } from './generated-site.ts';
import { type InlinedPage, pageInliner, type WrittenPage } from './inline-page.ts';
import { PolicyWarnings } from './policy-warnings.ts';
import type { ScannedFile, ScannedSite } from './scan-site.ts';
import { SiteRecorder } from './site-recorder.ts';

/**
 * Reads a page, has its snippets inlined, and writes the result, or stages it to be written later. The bytes
 * that `inline` gets may be in a shared buffer: use them before the next file is read.
 */
export type WritePage = (page: ScannedFile, inline: (generated: Buffer) => InlinedPage) => WrittenPage;

/** The size of the buffer in which small pages are composed, in bytes. */
const scratchBufferSize = 64 * 1024;

/**
 * Turns embeds into snippets, for builds and the command `inline`: fetches all snippets together, inlines
 * them page by page, and logs the warnings and a summary.
 *
 * @returns the manifest, not yet written.
 * @throws UserError with one report of all failures, before any page is written.
 */
export async function inlineSnippets(
  scanned: ScannedSite,
  site: GeneratedSite,
  write: WritePage,
): Promise<Manifest> {
  const snippets = await fetchSnippets(scanned, site);
  const recorder = new SiteRecorder(site, scanned, snippets);
  const headers = headerPolicies(site.astro?.routeToHeaders ?? new Map(), site.urls.format, (name) =>
    existsSync(join(site.directory, name)),
  );
  const inlinePage = pageInliner({
    snippets,
    rules: recorder.rules,
    site: site.urls.site,
    linked: recorder.linked,
    allowInHeaders: headers.allow,
    scratchBuffer: Buffer.allocUnsafeSlow(scratchBufferSize),
  });
  const pageWarnings = new PageWarnings(site, snippets, await checkFeeds(scanned, site, snippets));

  const counts = { embeds: 0, linkedPages: 0 };
  await forEachYielding(scanned.files, (page) => {
    const writtenPage = write(page, (generated) => inlinePage(page, generated, page.embeds));
    const { inlinedPage, stats } = writtenPage;
    site.verifier.check(page, inlinedPage.bytes, stats);
    recorder.add(page.name, writtenPage);
    if (page.kind === 'html') pageWarnings.add(page, inlinedPage);
    counts.embeds += page.embeds.length;
    counts.linkedPages += Number(inlinedPage.isLinked);
  });

  if (recorder.rules.policy === 'hash') for (const path of headers.withoutPage) warnOfHeaders(path, site);
  for (const warning of [...(await site.fetcher.hostWarnings()), ...pageWarnings.lines()])
    site.logger.warn(warning);
  const hasEditLinks = recorder.linked !== undefined;
  if (scanned.files.length > 0) logSummary(site, scanned, snippets, counts, hasEditLinks);
  return recorder.finish(pageWarnings.aboutSnippets);
}

/** Warns of headers whose page is unknown: the code of snippets on that page may be blocked. */
function warnOfHeaders(path: string, { logger }: GeneratedSite) {
  logger.warn(
    `The route ${path} has a Content Security Policy in its headers, but no page in the output. If another file is sent with these headers, scripts and styles of its snippets are blocked.`,
  );
}

/** Fetches the snippets of all embeds. Every 5 seconds, a line says how many have arrived. */
function fetchSnippets({ uses, invalid }: ScannedSite, site: GeneratedSite): Promise<FetchedSnippets> {
  const { fetcher, astro, logger } = site;
  const progress = throttledProgress({ delay: 5_000, interval: 5_000 }, (line) => logger.info(line));
  const onSettled = (settled: number) => progress(() => `${settled} of ${count(uses.length, 'snippet')}`);
  return fetcher.fetch(uses, { invalid, placeOf: astro?.search.whereWritten, onSettled });
}

/** Reads the feeds, before they are written. The code for that is only loaded if there are any. */
async function checkFeeds({ feeds, files }: ScannedSite, { urls }: GeneratedSite, snippets: FetchedSnippets) {
  if (feeds.length === 0 || files.length === 0) return undefined;
  const { FeedChecker } = await import('./feeds/feed-check.ts');
  return new FeedChecker(feeds, files, urls, snippets);
}

class PageWarnings {
  readonly #site: GeneratedSite;
  readonly #snippets: FetchedSnippets;
  readonly #nestings: NestingWarnings;
  /** Checks that classes have CSS; `undefined` without the option `classes`. */
  readonly #classes: ClassChecker | undefined;
  readonly #policies: PolicyWarnings;
  /** Checks that feeds have the snippets of pages; `undefined` without feeds. */
  readonly #feeds: FeedChecker | undefined;
  readonly #embedsInHeadings: FileEmbed[] = [];

  constructor(site: GeneratedSite, snippets: FetchedSnippets, feeds: FeedChecker | undefined) {
    const { astro, directory, settings, urls } = site;
    this.#site = site;
    this.#policies = new PolicyWarnings(snippets, { rule: settings.policy, site: urls.site });
    this.#snippets = snippets;
    this.#feeds = feeds;
    this.#nestings = new NestingWarnings(snippets);
    this.#classes = astro?.classes && new ClassChecker(directory, urls.base, astro.classes.written);
  }

  add(page: ScannedFile, inlinedPage: InlinedPage): void {
    const { name, embeds } = page;
    this.#classes?.add(name, inlinedPage, this.#snippets);
    this.#nestings.add(name, inlinedPage.generated, embeds);
    this.#policies.add(name, inlinedPage);
    this.#feeds?.add(page, inlinedPage.generated);
    for (const embed of embeds) if (embed.inHeading) this.#embedsInHeadings.push(embed);
  }

  /** The warnings about snippets where they stand. */
  get aboutSnippets(): SnippetWarning[] {
    return [...this.#nestings.list, ...this.#policies.list, ...(this.#classes?.list ?? [])];
  }

  /** All warnings, as lines of a log. */
  lines(): string[] {
    const search = this.#site.astro?.search;
    return [
      ...(search?.headingWarnings(this.#embedsInHeadings) ?? []),
      ...(search?.imageWarnings() ?? []),
      ...warningLines(this.aboutSnippets, search?.whereWritten),
      ...(this.#feeds?.warnings() ?? []),
    ];
  }
}

/** Logs one line with what was inlined, how it was fetched, and how long all of it took. */
function logSummary(
  { settings, fetcher, logger }: GeneratedSite,
  { files, uses, startedAt }: ScannedSite,
  snippets: FetchedSnippets,
  counts: { embeds: number; linkedPages: number },
  hasEditLinks: boolean,
): void {
  const { requests, retries, cached } = fetcher.answers.counts;
  const arePages = files.every(({ kind }) => kind === 'html');
  const places = arePages ? `on ${count(files.length, 'page')}` : `in ${count(files.length, 'file')}`;
  const retrieved = [...snippets.values()].filter(({ variant }) => variant === 'retrieve').length;

  const facts = [
    `${count(uses.length, 'snippet')} in ${count(counts.embeds, 'embed')} ${places}`,
    fetcher.showsChildren
      ? 'children are shown, without an API key'
      : `${count(requests, 'request')}, ${count(retries, 'retry', 'retries')}`,
    settings.renderBaseUrl && retrieved > 0 && `${retrieved} retrieved instead of rendered`,
    cached > 0 && `${cached} from the cache`,
    fetcher.missing.size > 0 && `${count(fetcher.missing.size, 'optional snippet')} not found`,
    hasEditLinks && `edit links on ${count(counts.linkedPages, 'page')}`,
    formatDuration(Date.now() - startedAt),
  ];
  logger.info(facts.filter(Boolean).join(' · '));

  // A build does not know whether it is published or a preview, so it always warns of edit links.
  if (hasEditLinks) {
    logger.warn(
      'Edit links are on (editLinks: true): pages contain the URLs at which snippets are edited. They are for previews.',
    );
  }
}
