import { headerPolicies } from '../content/csp.ts';
import { forEachYielding } from '../files/turns.ts';
import type { Manifest } from '../record/manifest.ts';
import { blockFinder } from '../snippets/block-warnings.ts';
import type { FileEmbed } from '../snippets/read-embeds.ts';
import { count, formatDuration } from '../text/format.ts';
import { throttledProgress } from '../text/progress.ts';
import { classChecker } from './class-check.ts';
import type { GeneratedSite } from './generated-site.ts';
import { type InlinedPage, pageInliner, type WrittenPage } from './inline-page.ts';
import { siteRecorder } from './record-site.ts';
import type { ScannedSite } from './scan-site.ts';

/** Reads and makes a page, and writes it now or later. */
export type WritePage = (
  page: ScannedSite['files'][number],
  make: (generated: Buffer) => InlinedPage,
) => WrittenPage;

/** The one way from embeds to snippets. @returns the manifest, not yet written. */
export async function inlineSnippets(
  scanned: ScannedSite,
  site: GeneratedSite,
  write: WritePage,
): Promise<Manifest> {
  const { startedAt, files, uses, invalid } = scanned;
  const { settings, fetcher, verifier, search, classes, urls, logger } = site;
  const placeOf = search?.whereWritten;
  const progress = throttledProgress({ delay: 5_000, interval: 5_000 }, (line) => logger.info(line));
  const onSettled = (done: number) => progress(() => `${done} of ${count(uses.length, 'snippet')}`);
  const snippets = await fetcher.fetch(uses, { invalid, placeOf, onSettled });
  const recorder = siteRecorder(site, scanned, snippets);
  const { rules, linked } = recorder.record;
  const inlinePage = pageInliner({
    snippets,
    rules,
    linked,
    allow: headerPolicies(site.routeToHeaders ?? new Map(), urls.base),
    scratchBuffer: Buffer.allocUnsafeSlow(64 * 1024),
  });
  const styles = classes && classChecker(site.directory, urls.base, classes.written);
  const blocks = blockFinder((key) => snippets.get(key)?.html, placeOf);
  const inHeadings: FileEmbed[] = [];
  let embedCount = 0;
  let linkedCount = 0;
  await forEachYielding(files, (page) => {
    const { name, kind, embeds } = page;
    const written = write(page, (generated) => inlinePage(page, generated, embeds));
    const { inlinedPage } = written;
    embedCount += embeds.length;
    linkedCount += Number(inlinedPage.isLinked);
    verifier.check(page, inlinedPage.file);
    recorder.add(name, written);
    if (kind !== 'html') return;
    styles?.add(name, inlinedPage, (key) => snippets.get(key)?.classes);
    blocks.add(name, inlinedPage.generated, embeds);
    inHeadings.push(...embeds.filter(({ inHeading }) => inHeading));
  });
  const inSources = [search?.headingWarnings(inHeadings), search?.imageWarnings()];
  const warnings = [...inSources, blocks.warnings(), styles?.warnings()];
  for (const warning of warnings.flatMap((some) => some ?? [])) logger.warn(warning);
  if (files.length > 0) {
    const { requests, retries, cached } = fetcher.answers.counts;
    const isPage = files.every(({ kind }) => kind === 'html');
    const places = isPage ? `on ${count(files.length, 'page')}` : `in ${count(files.length, 'file')}`;
    const retrieved = [...snippets.values()].filter(({ variant }) => variant === 'retrieve').length;
    const facts = [
      `${count(uses.length, 'snippet')} in ${count(embedCount, 'embed')} ${places}`,
      fetcher.showsChildren
        ? 'children are shown, without an API key'
        : `${count(requests, 'request')}, ${count(retries, 'retry', 'retries')}`,
      settings.renderBaseUrl && retrieved > 0 && `${retrieved} retrieved instead of rendered`,
      cached > 0 && `${cached} from the cache`,
      fetcher.missing.size > 0 && `${count(fetcher.missing.size, 'optional snippet')} not found`,
      linked && `edit links on ${count(linkedCount, 'page')}`,
      formatDuration(Date.now() - startedAt),
    ];
    logger.info(facts.filter(Boolean).join(' · '));
    // Where a build is published is not known here.
    if (linked) {
      logger.warn(
        'Edit links are on (editLinks: true): pages contain the URLs at which snippets are edited. They are for previews.',
      );
    }
  }
  return recorder.finish();
}
