import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { paced } from '../client/clock.ts';
import { count, formatDuration } from '../client/text.ts';
import { slugOfEmbed } from '../embed/element.ts';
import { listPlaces, userError } from '../failures/errors.ts';
import { forEachYielding, readOpened, writeError, writeImages } from '../files/files.ts';
import { hashSource, headerPolicies } from '../html/rules.ts';
import {
  hashOf,
  type Manifest,
  type ManifestFile,
  type RecordedSnippet,
  toRecordedContent,
  toSnapshot,
  writeManifest,
} from '../record/manifest.ts';
import { packWriter } from '../record/pack.ts';
import { removeManifest } from '../record/record-files.ts';
import type { FetchedSnippets } from '../snippets/fetch-snippets.ts';
import { blockFinder, type FileEmbed } from '../snippets/file-embeds.ts';
import type { BuildRun } from './build-run.ts';
import { classChecker } from './classes.ts';
import { linkSnippets, panelScript } from './edit-links/edit-links.ts';
import { type InlinedPage, pageInliner } from './inline-page.ts';
import { describeLate, finalizeFiles } from './output-state.ts';
import { type ScannableFile, type ScannedSite, type SiteFile, scanSite } from './scan-site.ts';
import { findCopies } from './side-products.ts';

type Known = 'settings' | 'urls' | 'directory' | 'manifest' | 'previousManifest' | 'fetcher' | 'verifier';
type OfAstro = 'environment' | 'search' | 'routeToHeaders' | 'classes' | 'collected' | 'announcements';

/** A site that a generator has written. Only Astro's have what is optional. */
export interface GeneratedSite
  extends Pick<BuildRun, Known>,
    Partial<Pick<BuildRun, OfAstro | 'hadManifest' | 'laterIntegrations' | 'assets'>> {
  logger: Record<'info' | 'warn', (line: string) => void>;
}

interface WrittenPage {
  inlinedPage: InlinedPage;
  /** What it still shows of an earlier run without an embed, as a later step has changed it. Children have no `hash`. */
  leftovers?: readonly { snippet: RecordedSnippet; hash: string | undefined }[];
  /** Once it is written. */
  stats?: Stats;
}

/** Reads and makes a page, and writes it now or later. */
type WritePage = (
  page: ScannedSite['files'][number],
  make: (generated: Buffer) => InlinedPage,
) => WrittenPage;

/** The one way from embeds to snippets. @returns the manifest, not yet written. */
export async function inlineSnippets(scanned: ScannedSite, site: GeneratedSite, write: WritePage) {
  const { startedAt, files, uses, invalid } = scanned;
  const { settings, fetcher, verifier, search, classes, urls, logger } = site;
  const placeOf = search?.whereWritten;
  const progress = paced({ first: 5_000, every: 5_000 }, (line) => logger.info(line));
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

function siteRecorder(site: GeneratedSite, { uses, startedAt }: ScannedSite, snippets: FetchedSnippets) {
  const { fetcher, settings, environment, directory, search, previousManifest, collected = [] } = site;
  const { renderBaseUrl, retrieveBaseUrl, urlOptions, ca, concurrency, timeout, patience } = settings;
  const { links, scripts, strict, policy, classes, sanitize, images } = settings;
  const recorded = uses.map(({ request, asHtml }): RecordedSnippet => {
    const snippet = snippets.get(request.key);
    return {
      ...request,
      content: snippet && toRecordedContent(snippet),
      missing: fetcher.missing.has(request.key) || undefined,
      asText: !asHtml || undefined,
    };
  });
  const indexes = new Map(recorded.map(({ key }, index) => [key, index]));
  const indexOf = (shown: RecordedSnippet) => {
    const index = indexes.get(shown.key) ?? recorded.push(shown) - 1;
    indexes.set(shown.key, index);
    // An entry of a collection is HTML.
    if (!shown.asText) delete recorded[index]?.asText;
    return index;
  };
  const pack = packWriter(site.manifest);
  const record: Manifest = {
    builtAt: new Date().toISOString(),
    inlinedAt: startedAt,
    output: directory,
    outDir: search?.source.folders.outDir ?? directory,
    urls: search && site.urls,
    settings: { renderBaseUrl, retrieveBaseUrl, urlOptions, ca, concurrency, timeout, patience },
    environment,
    rules: {
      links,
      scripts,
      strict,
      policy,
      classes,
      sanitizes: sanitize !== undefined,
      editLinks: settings.editLinks ? hashSource(panelScript()) : undefined,
      images,
    },
    classes: site.classes?.written,
    linked: linkSnippets(settings, uses, snippets),
    snippets: recorded,
    previous: previousManifest && toSnapshot(previousManifest),
    files: [],
    collections: collected.map(({ collection, entry, request, snippet }) => {
      const content = toRecordedContent(snippet);
      return { collection, entry, snippet: indexOf({ ...request, content }), content: content.hash };
    }),
  };
  return {
    record,
    add(name: string, { inlinedPage: { generated, file, embeds }, leftovers = [], stats }: WrittenPage) {
      const shows = embeds.map(({ request }) => indexes.get(request.key) ?? 0);
      const { packOffset, packLength } = pack.add(generated);
      const { size = 0, mtimeMs: modifiedAt = 0 } = stats ?? {};
      const recordedFile: ManifestFile = {
        name,
        hash: hashOf(file),
        shows,
        packOffset,
        packLength,
        size,
        modifiedAt,
      };
      // The first snippets are those of the uses.
      const optional = shows.filter((index) => uses[index]?.optionalPlaces?.has(name));
      if (optional.length > 0) recordedFile.optional = [...new Set(optional)];
      for (const { snippet, hash } of leftovers) {
        const index = indexOf(snippet);
        shows.push(index);
        if (hash === recorded[index]?.content?.hash) continue;
        recordedFile.staleContentHashes = { ...recordedFile.staleContentHashes, [index]: hash ?? null };
      }
      record.files.push(recordedFile);
    },
    finish() {
      record.pack = pack.finish();
      return record;
    },
  };
}

/**
 * If it throws, no file is left that contains an embed, or something invalid.
 *
 * @returns the manifest, if the site needs one. It is written later: other integrations may still fail.
 */
export async function buildSite(site: GeneratedSite, scannable: readonly ScannableFile[]) {
  const { directory, settings, fetcher, collected = [], logger } = site;
  let unfinished = new Set<SiteFile>(scannable);
  try {
    const scanned = await scanSite(scannable, site);
    for (const { name } of scanned.files.filter((file) => file.name.startsWith(`${site.assets}/`))) {
      logger.warn(
        `${name}: shows a snippet, but its name changes with its source alone. Browsers keep the old content. Show the snippet on a page, or put the file into public/.`,
      );
    }
    for (const { name } of scannable.filter((file) => slugOfEmbed.test(file.name))) {
      logger.warn(
        `${name}: the path was made from an embed, before its snippet was known. Give the page its own slug.`,
      );
    }
    const lost = site.announcements?.lost(scanned, scannable, site) ?? [];
    scanned.invalid.push(...lost);
    const incomplete = new Set(lost.flatMap(({ files }) => files));
    unfinished = new Set([...scanned.files, ...scannable.filter(({ name }) => incomplete.has(name))]);
    const write: WritePage = (page, make) => {
      const written = overwrite(page, make);
      unfinished.delete(page);
      return written;
    };
    // A site that has shown snippets before can be checked.
    if (unfinished.size + lost.length + collected.length === 0 && !site.hadManifest) return undefined;
    const inlined = await inlineSnippets(scanned, site, write);
    if (settings.images) {
      const contents = inlined.snippets.map(({ content }) => content);
      const folder = join(directory, settings.images.assets.folder);
      await writeImages([folder], contents, (name) => fetcher.readImage(name));
    }
    return inlined;
  } catch (error) {
    // First: closing the connection of an aborted HTTP/2 stream with an error would end the process without the report.
    await fetcher.close().catch(() => {});
    // One may be part of the new page and part of the old one.
    for (const { file } of unfinished) rmSync(file, { force: true });
    throw error;
  }
}

/** In place: nothing reads it before the build ends, and renaming another file takes many times longer. */
const overwrite: WritePage = ({ file, name, size }, make) => {
  const attempt = <T>(work: () => T) => {
    try {
      return work();
    } catch (error) {
      throw writeError(name, error, 'It was removed.');
    }
  };
  const descriptor = attempt(() => openSync(file, 'r+'));
  try {
    // One byte more, to see whether it has grown: its embeds would be elsewhere.
    const generated = readOpened(descriptor, size + 1);
    if (generated.length !== size) {
      throw userError('output-in-use', `${name} was changed while snippets were fetched. It was removed.`);
    }
    const inlinedPage = make(generated);
    return attempt(() => {
      writeFileSync(descriptor, inlinedPage.file);
      if (inlinedPage.file.length < size) ftruncateSync(descriptor, inlinedPage.file.length);
      return { inlinedPage, stats: fstatSync(descriptor) };
    });
  } finally {
    closeSync(descriptor);
  }
};

/**
 * Records a site as later steps have left it.
 *
 * @param at when snippets were inlined, in milliseconds since the epoch; absent without later steps
 */
export async function recordSite(site: GeneratedSite, inlined: Manifest, at?: number) {
  const { manifest, directory, search, previousManifest, fetcher, laterIntegrations, logger } = site;
  // With a record, a check could say that nothing has changed.
  if (fetcher.showsChildren) {
    return removeManifest(manifest, 'The last build shows children instead of snippets.');
  }
  const root = search?.source.folders.root;
  const copies = root && at !== undefined ? findCopies(root, directory, inlined, at) : undefined;
  const files = await finalizeFiles(inlined, at, previousManifest);
  const late = files.flatMap(({ changedAfterInlining, name }) => (changedAfterInlining ? name : []));
  if (late.length > 0) {
    logger.warn(
      `${describeLate({ laterIntegrations })} changed ${listPlaces(late)} after snippets were inlined. Only a build can update ${late.length === 1 ? 'it' : 'them'}: publish with \`astro-snippets check --exec\`, not with a refresh.`,
    );
  }
  writeManifest(manifest, { ...inlined, files, laterIntegrations, copies });
}
