import { cleanText } from '../client/clean-text.ts';
import { count, formatDuration } from '../client/format.ts';
import { SnippetError } from '../client/snippet-error.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { type ErrorCode, effectOf, errors, isMissing, type SnippetFailure } from './errors.ts';
import { reportError } from './user-error.ts';

/** A request that failed, and where its snippet belongs. */
export interface FailedSnippet {
  request: SnippetRequest;
  error: SnippetFailure;
  /** The names of pages, and of entries of collections. */
  places: readonly string[];
  /** Those where no children can be shown instead. */
  placesWithoutChildren: readonly string[];
  /** Those where each of its embeds is optional. */
  optionalPlaces?: ReadonlySet<string>;
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
const examplesShown = 10;

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
    .map((failure): ReportedSnippet => ({ ...failure, places: placesThatFail(failure) }))
    .filter(({ places }) => places.length > 0);
  if (reported.length + embeds.length === 0) return;
  const groups = [...Map.groupBy(reported, causeOf).values()];
  const entries = [...groups.flatMap(describeGroup), ...describeEmbeds(embeds)];
  const skipped = notAsked + alike.length;
  if (skipped > 0) entries.push(`${count(skipped, 'more snippet')} would fail the same way.`);
  const codes = new Set([...reported.map(({ error }) => error.code), ...embeds.map(({ code }) => code)]);
  throw reportError(
    `${headline(reported, embeds.length)}\n\n${entries.join('\n\n')}\n`,
    [...codes].map((code) => `${code}: ${errors[code].hint}`).join('\n'),
    [...codes],
  );
}

/** Warns that embeds show their children because their snippets could not be fetched. */
export function childrenWarnings(failed: readonly FailedSnippet[]): string[] {
  return [...Map.groupBy(failed, causeOf).values()].flatMap((group) =>
    warnOf(group, 'Its children are shown instead', 'Their children are shown instead'),
  );
}

/** A snippet that is shown as it was, since it could not be fetched now. */
export interface StaleSnippet extends Pick<FailedSnippet, 'request' | 'error' | 'places'> {
  /** How long ago its content was fetched, in milliseconds. */
  age: number;
}

/** Warns that the last good content is shown because the snippets could not be fetched now. */
export function staleWarnings(stale: readonly StaleSnippet[]): string[] {
  return [...Map.groupBy(stale, causeOf).values()].flatMap((group) => {
    const ages = group.map(({ age }) => age);
    const oldest = formatDuration(Math.max(0, ...ages), 'long');
    return warnOf(
      group,
      ({ age }) =>
        `Its last good content, fetched ${formatDuration(Math.max(0, age), 'long')} ago, is shown instead`,
      `Their last good content, the oldest fetched ${oldest} ago, is shown instead`,
    );
  });
}

function warnOf<T extends Pick<FailedSnippet, 'request' | 'error' | 'places'>>(
  group: readonly T[],
  forOne: string | ((one: T) => string),
  forAll: string,
): string[] {
  const [first] = group;
  if (first === undefined || group.length <= examplesShown) {
    return group.map((one) => {
      const consequence = typeof forOne === 'string' ? forOne : forOne(one);
      return `${messageOf(one)} ${consequence} on ${listPlaces(one.places)}. [${one.error.code}]`;
    });
  }
  const examples = group.slice(0, examplesShown).map(({ request }) => request.id);
  const places = [...new Set(group.flatMap((one) => one.places))];
  return [
    `${count(group.length, 'snippet')} could not be fetched, among them ${examples.join(', ')}: ${reasonOf(first.error)}. ${forAll} on ${listPlaces(places)}. [${first.error.code}]`,
  ];
}

/** What fails for all snippets at once does not name one. */
function messageOf({ request, error }: Pick<FailedSnippet, 'request' | 'error'>): string {
  const isForAll = error instanceof SnippetError && error.snippetId === undefined;
  return isForAll ? `${nameOf(request)}: ${error.reason}` : error.message;
}

/** The first few names, cleaned, and how many more there are. */
export function listNames(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).map(cleanText).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

/** The first few places, and how many more there are. */
export function listPlaces(places: readonly string[]): string {
  const shown = places.slice(0, placesShown).join(', ');
  return places.length > placesShown
    ? `${shown} and ${count(places.length - placesShown, 'more place')}`
    : shown;
}

interface ReportedSnippet {
  request: SnippetRequest;
  error: SnippetFailure;
  places: readonly string[];
}

function placesThatFail(failed: FailedSnippet): readonly string[] {
  const { error, places, placesWithoutChildren, optionalPlaces } = failed;
  const failing = effectOf(error) === 'children' ? placesWithoutChildren : places;
  return isMissing(error) ? failing.filter((place) => !optionalPlaces?.has(place)) : failing;
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

function describeSnippet({ request, places, error }: ReportedSnippet): string {
  return [
    `${nameOf(request)}: ${reasonOf(error)} [${error.code}]`,
    ...problemLines(error),
    `on ${listPlaces(places)}`,
  ].join('\n    ');
}

function nameOf({ id, params }: SnippetRequest): string {
  return `Snippet ${id}${params === undefined ? '' : ` ${shorten(params, paramsShown)}`}`;
}

function problemLines(error: SnippetFailure): string[] {
  return hasProblem(error) ? [error.detail ?? '', error.type ?? ''].filter((line) => line !== '') : [];
}

function hasProblem(error: SnippetFailure): error is SnippetError {
  return error instanceof SnippetError && error.status !== undefined && error.title !== undefined;
}

function reasonOf(error: SnippetFailure): string {
  return hasProblem(error) ? `${error.status} ${error.title}` : error.reason;
}

/** What the same fault has in common: everything but numbers, such as ids, attempts and lengths of time. */
function causeOf({ error }: Pick<FailedSnippet, 'error'>): string {
  return `${error.code} ${reasonOf(error).replace(/[0-9]+/g, '0')}`;
}

/** A few failures with one cause are listed one by one; many are one paragraph with examples. */
function describeGroup(group: readonly ReportedSnippet[]): string[] {
  const [first] = group;
  if (first === undefined || group.length <= examplesShown) return group.map(describeSnippet);
  const { error } = first;
  const examples = group
    .slice(0, examplesShown)
    .map(({ request, places }) => `${nameOf(request)} on ${listPlaces(places)}`);
  return [
    [
      `${count(group.length, 'snippet')}: ${reasonOf(error)} [${error.code}]`,
      ...problemLines(error),
      ...examples,
      `and ${count(group.length - examplesShown, 'more snippet')}`,
    ].join('\n    '),
  ];
}

/** The first few of each kind, in their order: one mistake in a layout may be on every page. */
function describeEmbeds(embeds: readonly InvalidEmbed[]): string[] {
  const times = new Map<ErrorCode, number>();
  const shown = embeds.filter(({ code }) => {
    times.set(code, (times.get(code) ?? 0) + 1);
    return (times.get(code) ?? 0) <= examplesShown;
  });
  const more = [...times].flatMap(([code, found]) =>
    found > examplesShown
      ? [`${count(found - examplesShown, 'more embed')} with the same error. [${code}]`]
      : [],
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
