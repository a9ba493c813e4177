import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cleanText, count, formatBytes, formatDuration } from '../client/text.ts';
import { entryName } from '../failures/errors.ts';
import { fileKind } from '../files/kinds.ts';
import { writeAtomically } from '../files/write.ts';
import { byKey, type Manifest, type ShownSnippet, shownOn } from '../record/manifest.ts';
import { publishedUrl } from '../settings/site-urls.ts';
import type { ListOutput, NotWritten, PlacedSnippet, ReportOutput, Request } from './cli-output.ts';
import { openProject } from './project.ts';
import { type Cli, exitCodes, type Result } from './terminal.ts';

export function shownFile({ urls }: Pick<Manifest, 'urls'>, file: string) {
  return { file, url: publishedUrl(file, fileKind(file) === 'html', urls) };
}

/** A snippet, facts about it, and where it is shown. */
export function shownSnippet<Facts>(manifest: Manifest, shown: ShownSnippet, facts: Facts) {
  const { recorded, pages, collections } = shown;
  const { id, params } = recorded;
  return { id, params, ...facts, pages: pages.map((file) => shownFile(manifest, file)), collections };
}

/** A line for each snippet, which ends with one of these texts; below it, the places. */
export function snippetLines(snippets: PlacedSnippet[], ifMissing: string, otherwise = '') {
  return snippets.map((snippet) => {
    const { pages, collections, missing } = snippet;
    const places = [...pages.map(({ file }) => file), ...collections.map(entryName)];
    return `${nameOf(snippet)}${missing ? ifMissing : otherwise}\n    ${places.join('\n    ')}`;
  });
}

export function nameOf({ id, params }: Request) {
  return `Snippet ${id}${params === undefined ? '' : ` ${cleanText(params)}`}`;
}

/** One sentence for each, without a period. */
export function notWrittenLines(notWritten: readonly NotWritten[]) {
  return notWritten.map(({ name, reason }) => `${name} ${reason}`);
}

export async function list(cli: Cli) {
  const { manifest } = await openProject(cli);
  const { builtAt, refreshedAt } = manifest;
  const snippets = listSnippets(manifest);
  const document: Result<ListOutput> = { exitStatus: exitCodes.ok, builtAt, refreshedAt, snippets };
  const lines = snippetLines(snippets, ' does not exist: children are shown');
  cli.terminal.show(document, () => lines.join('\n') || 'The site shows no snippets.');
}

function listSnippets(manifest: Manifest): ListOutput['snippets'] {
  return shownOn(manifest).map((shown) => {
    const { missing, content } = shown.recorded;
    if (content === undefined) return shownSnippet(manifest, shown, { missing });
    const { hash, variant, bytes, milliseconds } = content;
    const fetchedAt = new Date(content.fetchedAt).toISOString();
    return shownSnippet(manifest, shown, { content: { hash, variant, fetchedAt, bytes, milliseconds } });
  });
}

type Row = ReportOutput['snippets'][number];

export async function report(cli: Cli, to: string) {
  const { manifest } = await openProject(cli);
  const { builtAt, refreshedAt, before, files } = manifest;
  const earlier = byKey(before?.snippets);
  const snippets = listSnippets(manifest).map((snippet, index): Row => {
    const { key = '' } = manifest.snippets[index] ?? {};
    const known = earlier.get(key);
    earlier.delete(key);
    const change = known === undefined ? 'added' : known.hash === snippet.content?.hash ? 'same' : 'changed';
    return { ...snippet, change: before === undefined ? 'unknown' : change };
  });
  for (const { id, params } of earlier.values()) {
    snippets.push({ id, params, change: 'gone', pages: [], collections: [] });
  }
  const contents = snippets.flatMap(({ content }) => content ?? []);
  const document: Result<ReportOutput> = {
    exitStatus: exitCodes.ok,
    builtAt,
    refreshedAt,
    comparedWith: before?.at,
    totals: {
      snippets: manifest.snippets.length,
      pages: files.length,
      embeds: files.reduce((sum, { shows }) => sum + shows.length, 0),
      bytes: contents.reduce((sum, { bytes }) => sum + bytes, 0),
      slowestMilliseconds: contents.reduce((most, { milliseconds }) => Math.max(most, milliseconds), 0),
      changed: snippets.filter(({ change }) => change !== 'same' && change !== 'unknown').length,
    },
    snippets,
  };
  const file = resolve(cli.cwd, to);
  if (cli.terminal.json === undefined) writeAtomically(file, await reportPage(document));
  cli.terminal.show(document, () => file);
}

/** One page without other files: its policy allows only its own style and script. */
async function reportPage(document: Result<ReportOutput>) {
  // Loaded only here: `list` does without it.
  const { Eta } = await import('eta');
  const template = readFileSync(join(import.meta.dirname, 'report.eta'), 'utf8');
  const own = template.matchAll(/<(style|script)>(.*?)<\/\1>/gs).map(([, name, code = '']) => {
    return `${name}-src 'sha256-${hash('sha256', code, 'base64')}'`;
  });
  // It escapes all text from outside.
  return new Eta({ useWith: true }).renderString(template, {
    ...document,
    policy: ["default-src 'none'", ...own].join('; '),
    placesOf,
    // A snippet may be on all pages of a large site.
    placesShown: 200,
    cleanText,
    count,
    formatBytes,
    formatDuration,
    // In UTC: it may be read anywhere.
    formatTime: (time: string) => `${time.slice(0, 16).replace('T', ' ')} UTC`,
  });
}

/** A place with a URL that a browser can open is a link. */
function placesOf({ pages, collections }: Row) {
  const files = pages.map(({ file, url }) => ({ name: file, href: /^https?:/.test(url) && url }));
  return [...files, ...collections.map((entry) => ({ name: entryName(entry) }))];
}
