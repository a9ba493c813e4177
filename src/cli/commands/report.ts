import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { entryName } from '../../failures/places.ts';
import { writeAtomically } from '../../files/write.ts';
import { byKey } from '../../record/manifest.ts';
import { cleanText } from '../../text/clean-text.ts';
import { count, formatBytes, formatDuration } from '../../text/format.ts';
import type { ReportOutput } from '../json-output.ts';
import { openProject } from '../project/open-project.ts';
import type { Cli } from '../terminal/cli.ts';
import { exitCodes, type Result } from '../terminal/exit-codes.ts';
import { listSnippets } from './list.ts';

type Row = ReportOutput['snippets'][number];

export async function report(cli: Cli, to: string): Promise<void> {
  const { manifest } = await openProject(cli);
  const { builtAt, refreshedAt, previous, files } = manifest;
  const earlier = byKey(previous?.snippets);
  const snippets = listSnippets(manifest).map((snippet, index): Row => {
    const { key = '' } = manifest.snippets[index] ?? {};
    const known = earlier.get(key);
    earlier.delete(key);
    const change = !known ? 'added' : known.hash === snippet.content?.hash ? 'same' : 'changed';
    return { ...snippet, change: previous ? change : 'unknown' };
  });
  for (const { id, params } of earlier.values()) {
    snippets.push({ id, params, change: 'gone', pages: [], collections: [] });
  }
  const contents = snippets.flatMap(({ content }) => content ?? []);
  const document: Result<ReportOutput> = {
    exitStatus: exitCodes.ok,
    builtAt,
    refreshedAt,
    comparedWith: previous?.at,
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
  if (!cli.terminal.json) writeAtomically(file, await reportPage(document));
  cli.terminal.show(document, () => file);
}

/** Its policy allows only its own style and script. */
async function reportPage(document: Result<ReportOutput>) {
  // `list` does without it.
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
    // It may be read anywhere.
    formatTime: (time: string) => `${time.slice(0, 16).replace('T', ' ')} UTC`,
  });
}

/** A place with a URL that a browser can open is a link. */
function placesOf({ pages, collections }: Row) {
  const files = pages.map(({ file, url }) => ({ name: file, href: /^https?:/.test(url) && url }));
  return [...files, ...collections.map((entry) => ({ name: entryName(entry) }))];
}
