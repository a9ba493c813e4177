import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Eta } from 'eta';
import { cleanText } from '../../client/clean-text.ts';
import { count, formatBytes, formatDuration } from '../../client/format.ts';
import type { SnippetRequest } from '../../client/snippet-request.ts';
import { entryName } from '../../failures/report.ts';
import { fileKind } from '../../files/kinds.ts';
import { type Shown, shownOn } from '../../record/changes.ts';
import { type Manifest, requestsOf, snippetsByKey } from '../../record/manifest.ts';
import type { ReportOutput } from '../cli-output.ts';
import { shownFile } from '../shown-files.ts';

// On a large site, the pages of a snippet that is on all of them would make up most of the report.
const maxPages = 200;

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');

/**
 * Renders the report as one self-contained HTML page: its policy allows its own style and script, and no request. The
 * template escapes all text from outside.
 */
export function renderReport(manifest: Manifest): string {
  const style = read('report.css');
  const script = read('sort-table.js');
  const rows = reportRows(manifest).map(({ request: { id, params = '' }, shown, ...row }) => ({
    ...row,
    id,
    params: cleanText(params),
    places: shownPlacesOf(manifest, shown),
  }));
  return new Eta({ autoEscape: true, autoTrim: false }).renderString(read('report.eta'), {
    manifest,
    rows,
    style,
    script,
    policy: `default-src 'none'; style-src ${sourceOf(style)}; script-src ${sourceOf(script)}`,
    totals: totalsOf(manifest, rows),
    pages: manifest.files.filter(({ name }) => isPage(name)).length,
    entries: new Set(manifest.collections.map(entryName)).size,
    formatBytes,
    formatDuration,
    formatTime,
  });
}

interface PlacesView {
  /** Such as `2 pages and 1 other file`; empty if there are none. */
  summary: string;
  count: number;
  /** The first of them. Those with a URL that a browser can open are links. */
  first: { name: string; href: string | undefined }[];
}

function shownPlacesOf(manifest: Manifest, { pages, collections }: Shown): PlacesView {
  const pageCount = pages.filter(isPage).length;
  const counts = [
    [pageCount, 'page', 'pages'],
    [pages.length - pageCount, 'other file', 'other files'],
    [collections.length, 'collection entry', 'collection entries'],
  ] as const;
  const shownCounts = counts.filter(([number]) => number > 0);
  const files = pages.slice(0, maxPages).map((file) => {
    const { url } = shownFile(manifest, file);
    return { name: cleanText(file), href: /^https?:/.test(url) ? url : undefined };
  });
  const entries = collections.map((entry) => ({ name: cleanText(entryName(entry)), href: undefined }));
  return {
    summary: listFormat.format(shownCounts.map(([number, one, other]) => count(number, one, other))),
    count: pages.length + collections.length,
    first: [...files, ...entries].slice(0, maxPages),
  };
}

const listFormat = new Intl.ListFormat('en');
const isPage = (file: string) => fileKind(file) === 'html';

/** The sums of a report. */
export function totalsOf(
  manifest: Manifest,
  rows: readonly Pick<ReportRow, 'content' | 'change'>[],
): ReportOutput['totals'] {
  const contents = rows.flatMap(({ content }) => content ?? []);
  const isNews = ({ change }: Pick<ReportRow, 'change'>) => change !== 'same' && change !== 'unknown';
  return {
    snippets: manifest.snippets.length,
    pages: manifest.files.length,
    embeds: manifest.files.reduce((sum, { shows }) => sum + shows.length, 0),
    bytes: contents.reduce((sum, { bytes }) => sum + bytes, 0),
    slowestMilliseconds: contents.reduce((most, { milliseconds }) => Math.max(most, milliseconds), 0),
    changed: rows.filter(isNews).length,
  };
}

/** What happened to a snippet since the last build or refresh; `unknown` without a record of it. */
export type Change = 'added' | 'changed' | 'gone' | 'same' | 'unknown';

export interface ReportRow {
  request: SnippetRequest;
  change: Change;
  /** Absent if the snippet could not be fetched, or is gone. */
  content: Manifest['snippets'][number]['content'];
  /** Whether it does not exist, and its embeds are optional. */
  isMissing: boolean;
  shown: Shown;
}

/** One row for each snippet that the site shows, and for each that it showed before. */
export function reportRows(manifest: Manifest): ReportRow[] {
  const { before } = manifest;
  const shownBefore = snippetsByKey(before);
  const changeOf = (key: string, hash: string | undefined): Change => {
    if (before === undefined) return 'unknown';
    if (!shownBefore.has(key)) return 'added';
    return shownBefore.get(key)?.hash === hash ? 'same' : 'changed';
  };
  const rows = shownOn(manifest).map(({ request, recorded: { content, missing }, ...shown }): ReportRow => {
    const change = changeOf(request.key, content?.hash);
    return { request, change, content, isMissing: missing === true, shown };
  });
  const shown = new Set(rows.map(({ request }) => request.key));
  const gone = requestsOf(before)
    .filter(({ key }) => !shown.has(key))
    .map(
      (request): ReportRow => ({
        request,
        change: 'gone',
        content: undefined,
        isMissing: false,
        shown: { pages: [], collections: [] },
      }),
    );
  return [...rows, ...gone];
}

function sourceOf(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`;
}

/** In UTC, so that a report does not depend on where it is rendered. */
function formatTime(time: string | number): string {
  return `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
