import ms from 'ms';
import { cleanText } from '../client/clean-text.ts';
import type { SnippetError, SnippetErrorCode } from '../client/snippet-error.ts';
import { embedHint, hints } from './hints.ts';

/** A snippet that could not be had, and the pages that need it. */
export interface ReportedSnippet {
  id: number;
  /** Canonical JSON. */
  params: string | undefined;
  pages: readonly string[];
  error: SnippetError;
}

/** An embed that cannot be used. */
export interface ReportedEmbed {
  page: string;
  line: number;
  flaw: string;
}

export interface Failures {
  snippets: readonly ReportedSnippet[];
  embeds: readonly ReportedEmbed[];
  /** How many more snippets were not asked for, because the answer would have been the same. */
  notAsked: number;
}

export interface FailureReport {
  message: string;
  hint: string;
}

// Snippets that came, but not as the site's rules want them.
const refusals = new Set<SnippetErrorCode>(['sanitize-failed', 'script-refused', 'left-open']);
const pagesShown = 3;
const paramsShown = 80;

/** Writes the one report of everything that went wrong, and below it what to do about each kind of failure. */
export function writeFailureReport({ snippets, embeds, notAsked }: Failures): FailureReport {
  const entries = [...snippets.map(describeSnippet), ...embeds.map(describeEmbed)];
  if (notAsked > 0) {
    entries.push(`${count(notAsked, 'more snippet')} not asked for: the answer would have been the same.`);
  }
  const advice = [...new Set(snippets.map(({ error }) => hints[error.code]))];
  if (embeds.length > 0) advice.push(embedHint);
  return {
    message: `${headline(snippets, embeds.length)}\n\n${entries.join('\n\n')}\n`,
    hint: advice.join('\n'),
  };
}

/** Says that the children of embeds were shown, because their snippet could not be had. */
export function writeFallbackWarning({ pages, error }: ReportedSnippet): string {
  return `${error.message} Its embeds show their children instead, on ${listPages(pages)}.`;
}

/** Says that the last good content was shown, because the snippet could not be had now. */
export function writeStaleWarning({ pages, error }: ReportedSnippet, milliseconds: number): string {
  const age = ms(Math.max(0, milliseconds), { long: true });
  return `${error.message} Its last good content, of ${age} ago, is shown instead, on ${listPages(pages)}.`;
}

function headline(snippets: readonly ReportedSnippet[], embeds: number): string {
  const refused = snippets.filter(({ error }) => refusals.has(error.code)).length;
  const failed = snippets.length - refused;
  const parts = [
    ...(failed > 0 ? [`${count(failed, 'snippet')} could not be fetched`] : []),
    ...(refused > 0 ? [`${count(refused, 'snippet')} must not be shown`] : []),
    ...(embeds > 0 ? [`${count(embeds, 'embed')} cannot be used`] : []),
  ];
  return `${parts.join(', and ')}.`;
}

function describeSnippet({ id, params, pages, error }: ReportedSnippet): string {
  const name = `Snippet ${id}${params === undefined ? '' : ` ${shorten(params, paramsShown)}`}`;
  const told = error.status !== undefined && error.title !== undefined;
  const lines = told
    ? [`${name}: ${error.status} ${error.title}`, error.detail, error.type]
    : [`${name}: ${reasonOf(error)}`];
  return [...lines.filter((line) => line !== undefined && line !== ''), `on ${listPages(pages)}`].join(
    '\n    ',
  );
}

/** What the error's message says after the part that names the snippet. */
function reasonOf({ message }: SnippetError): string {
  return message.replace(/^Snippet \d+ (could not be (rendered|retrieved): )?/, '');
}

function describeEmbed({ page, line, flaw }: ReportedEmbed): string {
  return `${page}:${line}\n    ${flaw}`;
}

/** The first few by their names, and how many more there are. */
export function listPages(pages: readonly string[]): string {
  const shown = pages.slice(0, pagesShown).join(', ');
  return pages.length > pagesShown ? `${shown} and ${count(pages.length - pagesShown, 'more page')}` : shown;
}

function shorten(text: string, length: number): string {
  const clean = cleanText(text);
  return clean.length > length ? `${clean.slice(0, length - 1)}…` : clean;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
