import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Eta } from 'eta';
import { cleanText } from '../../client/clean-text.ts';
import { count, formatBytes, formatDuration } from '../../client/format.ts';
import { toRequest } from '../../client/snippet-request.ts';
import { entryName } from '../../failures/report.ts';
import { writeAtomically } from '../../files/write.ts';
import { byKey } from '../../record/manifest.ts';
import type { ReportOutput } from '../cli-output.ts';
import { listSnippets } from '../list.ts';
import { exitCodes, type Result } from '../output.ts';
import { openProject } from '../project.ts';
import type { CliContext } from '../terminal.ts';

type Row = ReportOutput['snippets'][number];

export async function report(context: CliContext): Promise<Result<ReportOutput>> {
  const { manifest } = await openProject(context);
  const { builtAt, refreshedAt, before } = manifest;
  const earlier = byKey(before?.snippets);
  const snippets = listSnippets(manifest).map((snippet): Row => {
    const { key } = toRequest(snippet.id, snippet.params);
    const known = earlier.get(key);
    earlier.delete(key);
    const change = known === undefined ? 'added' : known.hash === snippet.content?.hash ? 'same' : 'changed';
    return { ...snippet, change: before === undefined ? 'unknown' : change };
  });
  for (const { id, params } of earlier.values()) {
    snippets.push({ id, params, change: 'gone', pages: [], collections: [] });
  }
  const contents = snippets.flatMap(({ content }) => content ?? []);
  return {
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

/** Writes one page that needs no other file and no request: its policy allows only its own style and script. */
export function writeReport({ cwd }: CliContext, document: Result<ReportOutput>, to: string): string {
  const file = resolve(cwd, to);
  const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
  const style = read('report.css');
  const script = read('sort-table.js');
  const sourceOf = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`;
  // The template escapes all text from outside.
  const html = new Eta({ autoEscape: true, autoTrim: false }).renderString(read('report.eta'), {
    ...document,
    style,
    script,
    policy: `default-src 'none'; style-src ${sourceOf(style)}; script-src ${sourceOf(script)}`,
    placesOf,
    placesShown,
    cleanText,
    count,
    formatBytes,
    formatDuration,
    // In UTC, so that a report does not depend on where it is rendered.
    formatTime: (time: string) => `${time.slice(0, 16).replace('T', ' ')} UTC`,
  });
  writeAtomically(file, html);
  return file;
}

/** A place with a URL that a browser can open is a link. */
function placesOf({ pages, collections }: Row) {
  const files = pages.map(({ file, url }) => ({ name: file, href: /^https?:/.test(url) && url }));
  return [...files, ...collections.map((entry) => ({ name: entryName(entry), href: false }))];
}
