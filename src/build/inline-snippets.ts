import { readFileSync } from 'node:fs';
import type { SnippetRequest } from '../client/snippet-request.ts';
import type { InvalidEmbed } from '../failures/report.ts';
import type { PackWriter } from '../record/pack.ts';
import type { Settings } from '../settings/settings.ts';
import type { FetchedSnippets } from '../snippets/fetch-snippets.ts';
import { blockWarnings, type FileEmbed, type PageWithEmbeds } from '../snippets/file-embeds.ts';
import { headingWarnings } from '../source/heading-warnings.ts';
import { withSources } from '../source/markdown-sources.ts';
import type { SourceFolders } from '../source/source-files.ts';
import type { ClassChecker } from './class-checker.ts';
import type { EditLinks } from './edit-links/edit-links.ts';
import { inTurns } from './in-turns.ts';
import { type InlineOptions, pageInliner } from './inline-page.ts';
import { type CollectedEntry, FileRecorder, type LeftSnippet, recordedRules } from './recorder.ts';
import { type ScannableFile, type ScannedSite, type Scanning, scanSite } from './scan-site.ts';
import { type BuildLogger, describeBuild, progressLogger } from './summary.ts';

/**
 * Reads a file, and writes what `change` makes of it, or notes what has to be written.
 *
 * @param kept the bytes of the file if they are in memory; otherwise they are read.
 */
export type RewriteFile = (
  file: ScannableFile,
  kept: Buffer | undefined,
  change: (generated: Buffer) => Buffer,
) => void;

/** What differs between a build of Astro and a folder that another generator has written. */
export interface Inlining extends Scanning {
  logger: BuildLogger;
  /** Where Astro's Markdown sources are. */
  sources?: SourceFolders | undefined;
  /** What checks classes, if the site makes CSS for those of snippets. */
  styled?: ClassChecker | undefined;
  /** Allows it in the policies in headers, if policies are to allow what is inlined. */
  allow: InlineOptions['allow'];
  /** The entries of collections that show snippets. */
  collected: readonly CollectedEntry[];
  /** Keeps the pages as they were generated. */
  pack: PackWriter;
  /** Finds snippets of an earlier run that a file with embeds still shows. */
  leftIn?(file: ScannableFile, generated: Buffer, embeds: readonly FileEmbed[]): readonly LeftSnippet[];
  /** Finds snippets that were rendered but are not in the output. */
  findLost?(site: ScannedSite): readonly InvalidEmbed[];
  /** Called before anything is fetched or written. @throws if another process writes to the output. */
  onEmbeds(site: ScannedSite): Promise<void> | void;
  rewrite: RewriteFile;
}

/**
 * The one way from files with embeds to files with snippets: scan, fetch, inline, and check for the API key.
 *
 * @param files those that may contain embeds.
 * @returns what the site shows; `undefined` if it shows no snippets.
 * @throws AstroError with one report of everything that went wrong.
 */
export async function inlineSnippets(
  files: readonly ScannableFile[],
  inlining: Inlining,
): Promise<FileRecorder | undefined> {
  const { settings, fetcher, verifier, sources, styled, allow, collected, pack, logger } = inlining;
  const start = performance.now();
  const site = await scanSite(files, inlining);
  for (const warning of site.warnings) logger.warn(warning);
  const lost = inlining.findLost?.(site) ?? [];
  const { uses } = site;
  if (site.files.length + lost.length + uses.length === 0) return undefined;
  await inlining.onEmbeds(site);
  const editLinks = await openEditLinks(settings, site);
  if (sources !== undefined) {
    for (const warning of await headingWarnings(site.idsInHeadings, sources)) logger.warn(warning);
  }
  const onSettled = progressLogger(uses.length, (line) => logger.info(line));
  const faulty = sources === undefined ? site.invalid : await withSources(site.invalid, sources);
  const missing = new Set<string>();
  const onMissing = ({ key }: SnippetRequest) => missing.add(key);
  const snippets = await fetcher.fetch(uses, { invalid: [...faulty, ...lost], onSettled, onMissing });
  const htmlOf = (key: string) => snippets.get(key)?.html;
  for (const warning of blockWarnings(pagesWithText(site), htmlOf)) logger.warn(warning);
  const recorder = new FileRecorder({
    uses,
    snippets,
    missing,
    collected,
    pack,
    editUrls: editLinks?.urls,
    containsKey: verifier.containsKey,
  });
  const inlinePage = pageInliner({
    snippets,
    rules: recordedRules(settings),
    editLinks,
    allow,
  });
  await inTurns(site.files, (found) => {
    const { source, embeds, bytes } = found;
    found.bytes = undefined;
    inlining.rewrite(source, bytes, (generated) => {
      const { file } = inlinePage(source, generated, embeds);
      verifier.check(source, file);
      const left = inlining.leftIn?.(source, generated, embeds);
      recorder.add(source.name, { generated, file, embeds, left });
      styled?.add(source, { file, embeds }, (key) => snippets.get(key)?.classes);
      return file;
    });
  });
  for (const warning of styled?.warnings ?? []) logger.warn(warning);
  if (site.files.length > 0) {
    const counts = {
      ...fetcher.counts,
      missing: missing.size,
      withoutKey: fetcher.showsChildren,
      retrieved: settings.renderBaseUrl === undefined ? 0 : countRetrieved(snippets),
      linkedPages: editLinks?.pages,
    };
    logger.info(describeBuild(site, counts, performance.now() - start));
    if (editLinks !== undefined) logger.warn(editLinksWarning);
  }
  return recorder;
}

function countRetrieved(snippets: FetchedSnippets): number {
  return [...snippets.values()].filter(({ variant }) => variant === 'retrieve').length;
}

// Where a build is published is not known here.
const editLinksWarning =
  'Edit links are on (editLinks: true): pages contain the URLs at which snippets are edited. They are for previews.';

async function openEditLinks(
  { editLinks, editUrl }: Settings,
  { uses }: ScannedSite,
): Promise<EditLinks | undefined> {
  if (!editLinks || editUrl === undefined) return undefined;
  const { EditLinks, editUrls } = await import('./edit-links/edit-links.ts');
  return new EditLinks(editUrls(uses, editUrl));
}

const isInText = ({ inParagraph, paragraph }: FileEmbed) => inParagraph && paragraph === undefined;

/** Pages in which an embed is in a paragraph with something else. */
function* pagesWithText({ files }: ScannedSite): Generator<PageWithEmbeds> {
  for (const { source, embeds, bytes } of files) {
    if (source.kind !== 'html' || !embeds.some(isInText)) continue;
    const read = () => bytes ?? source.generated?.() ?? readFileSync(source.file);
    yield { name: source.name, embeds, read };
  }
}
