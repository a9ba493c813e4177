import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { entryName } from '../../failures/places.ts';
import { decodePath } from '../../settings/site-urls.ts';
import { cleanText } from '../../text/clean-text.ts';
import { count, formatBytes, formatDuration } from '../../text/format.ts';
import type { ReportOutput } from '../json-output.ts';
import type { CommandResult } from '../terminal/terminal.ts';

type PrintedSnippet = ReportOutput['snippets'][number];

/** A place where a snippet is shown, as the page lists it. */
interface ShownPlace {
  name: string;
  /** The URL of the page, if it works from anywhere. */
  href?: string | undefined;
}

/** What the page says about a snippet. Nothing is escaped yet: the template does that. */
interface ReportRow {
  id: number;
  /** The name that people gave the snippet, or else "Snippet 42". */
  title: string;
  /** What tells the snippet from others with its title: the id and the params. */
  subtitle: string;
  text: string;
  editUrl: string | undefined;
  change: PrintedSnippet['change'];
  places: ShownPlace[];
  /** How many more places there are. */
  morePlaces: number;
  /** ISO 8601; absent where children are shown. */
  fetchedAt: string | undefined;
  /** For developers: the variant, the size and the time of the request. */
  details: string;
  bytes: number | undefined;
  milliseconds: number | undefined;
}

/** How many places are listed for a snippet at most: it may be on all pages of a large site. */
const placesShown = 200;

/** How many places are in view; the others can be opened. */
const placesInView = 3;

/** Renders the report as one HTML page. Its Content Security Policy only allows its own style and script. */
export async function renderReport(result: CommandResult<ReportOutput>): Promise<string> {
  // Loaded only here, as `report --json` does not need this module.
  const { Eta } = await import('eta');
  const template = readFileSync(join(import.meta.dirname, 'report.eta'), 'utf8');
  const sources = template
    .matchAll(/<(style|script)>(.*?)<\/\1>/gs)
    .map(([, name, code = '']) => `${name}-src 'sha256-${hash('sha256', code, 'base64')}'`);
  const policy = ["default-src 'none'", ...sources].join('; ');
  const rows = result.snippets.map(toRow);
  const totals = namedTotals(result);
  const helpers = { placesInView, count, formatTime };
  // Eta escapes all values, which contain text from outside.
  const page = { ...result, rows, totals, policy, hasEditLinks: rows.some(({ editUrl }) => editUrl) };
  return new Eta({ useWith: true }).renderString(template, { ...page, ...helpers });
}

function namedTotals({ totals, comparedWith }: CommandResult<ReportOutput>) {
  return {
    Snippets: totals.snippets,
    'Files with snippets': totals.pages,
    Embeds: totals.embeds,
    'New, changed or gone': comparedWith ? totals.changed : '–',
    'Total size': formatBytes(totals.bytes),
    Slowest: formatDuration(totals.slowestMilliseconds),
  };
}

function toRow(snippet: PrintedSnippet): ReportRow {
  const { id, change, content, editUrl } = snippet;
  const params = cleanText(snippet.params ?? '');
  const number = `Snippet ${id}`;
  const name = cleanText(snippet.name ?? '');
  const title = name === '' ? number : name;
  const places = placesOf(snippet);
  return {
    id,
    title,
    subtitle: [title !== number && number, params].filter(Boolean).join(' '),
    text: cleanText(snippet.text ?? withoutText(snippet)),
    editUrl,
    change,
    places: places.slice(0, placesShown),
    morePlaces: Math.max(0, places.length - placesShown),
    fetchedAt: content?.fetchedAt,
    details: content
      ? [
          content.variant === 'render' ? 'rendered' : 'retrieved',
          formatBytes(content.bytes),
          // An answer from the cache has 0 milliseconds, which would say nothing.
          content.milliseconds > 0 && formatDuration(content.milliseconds),
        ]
          .filter(Boolean)
          .join(' · ')
      : '',
    bytes: content?.bytes,
    milliseconds: content && Math.round(content.milliseconds),
  };
}

const childrenShown = 'Pages show what is written in the embed.';

/** What stands in place of the text of a snippet that has none. */
function withoutText({ change, content, missing }: PrintedSnippet): string {
  if (change === 'gone') return 'No longer on the site.';
  if (content) return 'No text, such as an image or a script.';
  return missing ? `Not found. ${childrenShown}` : childrenShown;
}

/** The pages and collection entries that show a snippet. A page is named by the path of its URL. */
function placesOf({ pages, collections }: PrintedSnippet): ShownPlace[] {
  const shown = pages.map(({ url }): ShownPlace => {
    // Without Astro's option `site`, URLs are relative and would not work in the report, so they are no links.
    const absolute = URL.parse(url);
    return { name: cleanText(decodePath(absolute?.pathname ?? url)), href: absolute?.href };
  });
  return [...shown, ...collections.map((entry) => ({ name: cleanText(entryName(entry)) }))];
}

/** Shows an ISO 8601 time in UTC. The script of the page replaces this by the reader's own time. */
function formatTime(time: string) {
  return `${time.slice(0, 16).replace('T', ' ')} UTC`;
}
