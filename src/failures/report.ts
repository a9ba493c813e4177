import { cleanText } from '../client/clean-text.ts';
import { count, formatDuration } from '../client/format.ts';
import { SnippetError } from '../client/snippet-error.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { type ErrorCode, effectOf, errors, type SnippetFailure } from './errors.ts';
import { reportError } from './user-error.ts';

/** A request that failed, and where its snippet belongs. */
export interface FailedSnippet {
  request: SnippetRequest;
  error: SnippetFailure;
  /** The names of pages, and of entries of collections. */
  places: ReadonlySet<string>;
  /** Those where no children can be shown instead. */
  placesWithoutChildren: ReadonlySet<string>;
}

/** An embed that is invalid, and where it is. */
export interface InvalidEmbed {
  /** The name of the file, or the path of its URL. */
  file: string;
  line?: number | undefined;
  code: ErrorCode;
  message: string;
  /** The tag of a component that was not rendered, to search the sources for. */
  componentTag?: string;
}

export interface Failures {
  failed: readonly FailedSnippet[];
  /** Requests that were not made, because every one would have failed the same way. */
  notAsked: number;
  embeds: readonly InvalidEmbed[];
}

const placesShown = 3;
const paramsShown = 80;
const embedsShown = 10;

/**
 * Throws one report of everything a build has to fail for; returns if there is nothing, or if children are shown
 * instead.
 *
 * @throws AstroError
 */
export function throwFailures({ failed, notAsked, embeds }: Failures): void {
  // Several requests may have received the answer that ends the run. One stands for all of them.
  const [first, ...alike] = failed.filter(({ error }) => effectOf(error) === 'end');
  const reported = failed
    .filter((failure) => effectOf(failure.error) !== 'end' || failure === first)
    .map((failure): ReportedSnippet => ({ ...failure, places: [...placesThatFail(failure)] }))
    .filter(({ places }) => places.length > 0);
  if (reported.length + embeds.length === 0) return;
  const entries = [...reported.map(describeSnippet), ...describeEmbeds(embeds)];
  const skipped = notAsked + alike.length;
  if (skipped > 0) entries.push(`${count(skipped, 'more snippet')} would fail the same way.`);
  const codes = new Set([...reported.map(({ error }) => error.code), ...embeds.map(({ code }) => code)]);
  throw reportError(
    `${headline(reported, embeds.length)}\n\n${entries.join('\n\n')}\n`,
    [...codes].map((code) => `${code}: ${errors[code].hint}`).join('\n'),
  );
}

/** Warns that embeds show their children because their snippet could not be fetched. */
export function childrenWarning({ places, error }: FailedSnippet): string {
  return `${error.message} Its children are shown instead on ${listPlaces([...places])}. [${error.code}]`;
}

/** Warns that the last good content is shown because the snippet could not be fetched now. */
export function staleWarning(places: Iterable<string>, error: SnippetFailure, milliseconds: number): string {
  const age = formatDuration(Math.max(0, milliseconds), 'long');
  return `${error.message} Its last good content, fetched ${age} ago, is shown instead on ${listPlaces([...places])}. [${error.code}]`;
}

/** The first few names, and how many more there are. */
export function listPlaces(places: readonly string[]): string {
  const shown = places.slice(0, placesShown).join(', ');
  return places.length > placesShown
    ? `${shown} and ${count(places.length - placesShown, 'more page')}`
    : shown;
}

interface ReportedSnippet {
  request: SnippetRequest;
  error: SnippetFailure;
  places: readonly string[];
}

function placesThatFail({ error, places, placesWithoutChildren }: FailedSnippet): ReadonlySet<string> {
  return effectOf(error) === 'children' ? placesWithoutChildren : places;
}

function headline(snippets: readonly ReportedSnippet[], embeds: number): string {
  const failed = snippets.filter(({ error }) => error instanceof SnippetError || error.code === 'not-cached');
  const refused = snippets.length - failed.length;
  const parts = [
    ...(failed.length > 0 ? [`${count(failed.length, 'snippet')} could not be fetched`] : []),
    ...(refused > 0 ? [`${count(refused, 'snippet')} must not be shown`] : []),
    ...(embeds > 0 ? [`${count(embeds, 'embed')} ${embeds === 1 ? 'is' : 'are'} invalid`] : []),
  ];
  return `${parts.join(', and ')}.`;
}

function describeSnippet({ request: { id, params }, places, error }: ReportedSnippet): string {
  const name = `Snippet ${id}${params === undefined ? '' : ` ${shorten(params, paramsShown)}`}`;
  const lines = [`${name}: ${reasonOf(error)} [${error.code}]`];
  if (hasProblem(error)) lines.push(error.detail ?? '', error.type ?? '');
  lines.push(`on ${listPlaces(places)}`);
  return lines.filter((line) => line !== '').join('\n    ');
}

function hasProblem(error: SnippetFailure): error is SnippetError {
  return error instanceof SnippetError && error.status !== undefined && error.title !== undefined;
}

function reasonOf(error: SnippetFailure): string {
  return hasProblem(error) ? `${error.status} ${error.title}` : error.reason;
}

/** The first few of each kind, in their order: one mistake in a layout may be on every page. */
function describeEmbeds(embeds: readonly InvalidEmbed[]): string[] {
  const times = new Map<ErrorCode, number>();
  const shown = embeds.filter(({ code }) => {
    times.set(code, (times.get(code) ?? 0) + 1);
    return (times.get(code) ?? 0) <= embedsShown;
  });
  const more = [...times].flatMap(([code, found]) =>
    found > embedsShown ? [`${count(found - embedsShown, 'more embed')} with the same error. [${code}]`] : [],
  );
  return [...shown.map(describeEmbed), ...more];
}

function describeEmbed({ file, line, code, message }: InvalidEmbed): string {
  return `${line === undefined ? file : `${file}:${line}`}\n    ${message} [${code}]`;
}

function shorten(text: string, length: number): string {
  const clean = cleanText(text);
  return clean.length > length ? `${clean.slice(0, length - 1)}…` : clean;
}
