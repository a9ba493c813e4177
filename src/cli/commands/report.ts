import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { entryName } from '../../failures/places.ts';
import { writeAtomically } from '../../files/write.ts';
import { byKey, type Manifest } from '../../record/manifest.ts';
import { cleanText } from '../../text/clean-text.ts';
import { count, formatBytes, formatDuration } from '../../text/format.ts';
import type { ReportOutput } from '../json-output.ts';
import { openProject } from '../project/open-project.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import type { Cli, CommandResult } from '../terminal/terminal.ts';
import { listSnippets } from './list.ts';

type ReportedSnippet = ReportOutput['snippets'][number];

/**
 * The command `report`: writes one HTML page about the snippets of the last build to a file, or prints what
 * the page is made from as JSON.
 */
export async function report(cli: Cli, to: string): Promise<void> {
  const { manifest } = await openProject(cli);
  const snippets = reportSnippets(manifest);
  const { builtAt, refreshedAt, previous } = manifest;
  const facts = { builtAt, refreshedAt, comparedWith: previous?.at, totals: totalsOf(manifest, snippets) };
  const result: CommandResult<ReportOutput> = { exitStatus: exitCodes.ok, ...facts, snippets };
  const file = resolve(cli.cwd, to);
  if (!cli.terminal.json) writeAtomically(file, await reportPage(result));
  cli.terminal.show(result, () => file);
}

/** The snippets of the site now and before, each with its change: added, changed, gone, same or unknown. */
function reportSnippets(manifest: Manifest): ReportedSnippet[] {
  const { previous } = manifest;
  const previousByKey = byKey(previous?.snippets);
  const snippets = listSnippets(manifest).map((snippet, index): ReportedSnippet => {
    if (!previous) return { ...snippet, change: 'unknown' };
    const { key = '' } = manifest.snippets[index] ?? {};
    const previousSnippet = previousByKey.get(key);
    previousByKey.delete(key);
    if (!previousSnippet) return { ...snippet, change: 'added' };
    const isSame = previousSnippet.hash === snippet.content?.hash;
    return { ...snippet, change: isSame ? 'same' : 'changed' };
  });
  for (const { id, params } of previousByKey.values()) {
    snippets.push({ id, params, change: 'gone', pages: [], collections: [] });
  }
  return snippets;
}

function totalsOf({ snippets, files }: Manifest, reported: ReportedSnippet[]): ReportOutput['totals'] {
  const contents = reported.flatMap(({ content }) => content ?? []);
  return {
    snippets: snippets.length,
    pages: files.length,
    embeds: files.reduce((sum, { shows }) => sum + shows.length, 0),
    bytes: contents.reduce((sum, { bytes }) => sum + bytes, 0),
    slowestMilliseconds: contents.reduce((slowest, { milliseconds }) => Math.max(slowest, milliseconds), 0),
    changed: reported.filter(({ change }) => change !== 'same' && change !== 'unknown').length,
  };
}

/** How many pages and entries are listed for a snippet at most: it may be on all pages of a large site. */
const placesShown = 200;

/** Renders the HTML page. Its Content Security Policy only allows its own style and script. */
async function reportPage(result: CommandResult<ReportOutput>) {
  // Loaded only here, as `report --json` does not need this module.
  const { Eta } = await import('eta');
  const template = readFileSync(join(import.meta.dirname, 'report.eta'), 'utf8');
  const sources = template
    .matchAll(/<(style|script)>(.*?)<\/\1>/gs)
    .map(([, name, code = '']) => `${name}-src 'sha256-${hash('sha256', code, 'base64')}'`);
  const policy = ["default-src 'none'", ...sources].join('; ');
  const helpers = { placesOf, placesShown, cleanText, count, formatBytes, formatDuration, formatTime };
  // Eta escapes all values, which contain text from outside.
  return new Eta({ useWith: true }).renderString(template, { ...result, policy, ...helpers });
}

/** The pages and collection entries that show a snippet, as the HTML page lists them. */
function placesOf({ pages, collections }: ReportedSnippet): { name: string; href?: string | false }[] {
  // Without Astro's option `site`, URLs are relative and would not work in the report, so they are no links.
  const files = pages.map(({ file, url }) => ({ name: file, href: /^https?:/.test(url) && url }));
  return [...files, ...collections.map((entry) => ({ name: entryName(entry) }))];
}

/** Shows an ISO 8601 time in UTC, as the page may be read in any time zone. */
function formatTime(time: string) {
  return `${time.slice(0, 16).replace('T', ' ')} UTC`;
}
