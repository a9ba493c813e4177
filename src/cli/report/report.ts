import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Eta } from 'eta';
import { cleanText } from '../../client/clean-text.ts';
import { count, formatBytes, formatDuration } from '../../client/format.ts';
import { entryName } from '../../failures/report.ts';
import { fileKind } from '../../files/kinds.ts';
import { writeAtomically } from '../../files/write.ts';
import { shownOn } from '../../record/changes.ts';
import { type Manifest, requestsOf, snippetsByKey } from '../../record/manifest.ts';
import type { ReportOutput } from '../cli-output.ts';
import type { CliContext } from '../context.ts';
import { exitCodes, shownContent, shownPlaces } from '../output.ts';
import { openProject, type ProjectOptions } from '../project.ts';

type Report = Omit<ReportOutput, 'version'>;
type Row = Report['snippets'][number];

/**
 * `astro-snippets report`: one HTML page about the snippets of the site, or what it is made from.
 *
 * @throws AstroError without a usable record of a build.
 */
export async function report(
  context: CliContext,
  project: ProjectOptions,
  { to, json = false }: { to: string; json?: boolean },
): Promise<number> {
  const { cwd, terminal } = context;
  const { manifest } = await openProject(context, project);
  const document = reportOf(manifest);
  if (json) {
    terminal.printJson(document);
  } else {
    const file = resolve(cwd, to);
    writeAtomically(file, renderReport(document));
    terminal.print(file);
  }
  return exitCodes.ok;
}

/** What the site shows, and what it showed before and is gone. */
function reportOf(manifest: Manifest): Report {
  const { builtAt, refreshedAt, before } = manifest;
  const shownBefore = snippetsByKey(before);
  const shown = new Set<string>();
  const snippets = shownOn(manifest).map(({ request, recorded, ...places }): Row => {
    const { id, params, missing, content } = recorded;
    shown.add(request.key);
    const known = shownBefore.get(request.key);
    const change = known === undefined ? 'added' : known.hash === content?.hash ? 'same' : 'changed';
    return {
      id,
      params,
      change: before === undefined ? 'unknown' : change,
      missing,
      content: content && shownContent(content),
      ...shownPlaces(manifest, places),
    };
  });
  for (const { id, params, key } of requestsOf(before)) {
    if (!shown.has(key)) snippets.push({ id, params, change: 'gone', pages: [], collections: [] });
  }
  const contents = snippets.flatMap(({ content }) => content ?? []);
  return {
    command: 'report',
    exitStatus: exitCodes.ok,
    builtAt,
    refreshedAt,
    comparedWith: before?.at,
    totals: {
      snippets: manifest.snippets.length,
      pages: manifest.files.length,
      embeds: manifest.files.reduce((sum, { shows }) => sum + shows.length, 0),
      bytes: contents.reduce((sum, { bytes }) => sum + bytes, 0),
      slowestMilliseconds: contents.reduce((most, { milliseconds }) => Math.max(most, milliseconds), 0),
      changed: snippets.filter(({ change }) => change !== 'same' && change !== 'unknown').length,
    },
    snippets,
  };
}

// On a large site, the pages of a snippet that is on all of them would make up most of the report.
const placesShown = 200;

/** One page that needs no other file and no request: its policy allows only its own style and script. */
function renderReport(document: Report): string {
  const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
  const style = read('report.css');
  const script = read('sort-table.js');
  const sourceOf = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`;
  const rows = document.snippets;
  const isPage = ({ file }: Row['pages'][number]) => fileKind(file) === 'html';
  // The template escapes all text from outside.
  return new Eta({ autoEscape: true, autoTrim: false }).renderString(read('report.eta'), {
    ...document,
    rows: rows.map((row) => ({ ...row, params: cleanText(row.params ?? ''), places: placesOf(row, isPage) })),
    style,
    script,
    policy: `default-src 'none'; style-src ${sourceOf(style)}; script-src ${sourceOf(script)}`,
    pages: new Set(rows.flatMap(({ pages }) => pages.filter(isPage).map(({ file }) => file))).size,
    entries: new Set(rows.flatMap(({ collections }) => collections.map(entryName))).size,
    formatBytes,
    formatDuration,
    // In UTC, so that a report does not depend on where it is rendered.
    formatTime: (time: string) => `${time.slice(0, 16).replace('T', ' ')} UTC`,
  });
}

/** How often a snippet is shown, and where first. A place with a URL that a browser can open is a link. */
function placesOf({ pages, collections }: Row, isPage: (file: Row['pages'][number]) => boolean) {
  const others = pages.filter((file) => !isPage(file)).length;
  const counts = [
    count(pages.length - others, 'page'),
    count(others, 'other file'),
    count(collections.length, 'collection entry', 'collection entries'),
  ];
  const all = [...pages, ...collections.map((entry) => ({ file: entryName(entry), url: '' }))];
  return {
    summary: new Intl.ListFormat('en').format(counts.filter((text) => !text.startsWith('0 '))),
    count: all.length,
    first: all.slice(0, placesShown).map(({ file, url }) => ({
      name: cleanText(file),
      href: /^https?:/.test(url) ? url : undefined,
    })),
  };
}
