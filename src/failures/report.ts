import { cleanText } from '../client/clean-text.ts';
import { count, formatDuration } from '../client/format.ts';
import { SnippetError } from '../client/snippet-error.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { type ErrorCode, effectOf, hints, type SnippetFailure, titles, UserError } from './errors.ts';

/** A request, and where it is needed. */
export interface PlacedSnippet {
  request: SnippetRequest;
  /** Names of files and of entries of collections, each once. */
  places: string[];
  placesWithoutChildren: string[];
  /** Where each of its embeds is optional. */
  optionalPlaces?: Set<string>;
}

export type FailedSnippet = PlacedSnippet & { error: SnippetFailure };

export interface CollectionEntry {
  collection: string;
  entry: string;
}

export function entryName({ collection, entry }: CollectionEntry): string {
  return `${collection} (collection), entry "${entry}"`;
}

/** What a build says about an embed without failing. */
export interface EmbedNote {
  message: string;
  /** As it is written. */
  id?: string | undefined;
  file?: string | undefined;
  line?: number | undefined;
  code?: ErrorCode | undefined;
  /** Whether it is text that only looks like an embed. */
  isDoubtful?: boolean | undefined;
}

/** Where an embed, or a snippet on any page, is written. */
export type PlaceOf = (sought: Omit<EmbedNote, 'message'>) => string;

export type InvalidEmbed = EmbedNote & { file: string; code: ErrorCode };

export function describeNote(note: EmbedNote, placeOf: PlaceOf = () => ''): string {
  const place = placeOf(note);
  return place === '' ? note.message : `${note.message} It is ${place}.`;
}

export interface Failures {
  failed: readonly FailedSnippet[];
  /** Requests that were not made, as each would have failed the same way. */
  notAsked: number;
  embeds: readonly InvalidEmbed[];
  placeOf?: PlaceOf | undefined;
}

const placesShown = 3;
const paramsShown = 80;
const examplesShown = 10;

type Placed = Pick<PlacedSnippet, 'request' | 'places'>;
/** With the time of the last good content, if that is shown instead. */
type Failed = Placed & { error: SnippetFailure; fetchedAt?: number };

/** @throws AstroError with one report of everything that a build fails for, which is nothing where children are shown. */
export function throwFailures({ failed, notAsked, embeds, placeOf = () => '' }: Failures): void {
  // One stands for all that received the answer that ends the run.
  const ending = failed.filter(({ error }) => effectOf(error) === 'end');
  const reported = failed
    .filter((failure) => effectOf(failure.error) !== 'end' || failure === ending[0])
    .map((failure): Failed => ({ ...failure, places: placesThatFail(failure) }))
    .filter(({ places }) => places.length > 0);
  if (reported.length + embeds.length === 0) return;
  const skipped = notAsked + Math.max(0, ending.length - 1);
  const describe = ({ request, error, places }: Failed) => {
    const lines = [`on ${listPlaces(places)}`, placeOf({ id: String(request.id) })];
    return paragraph(nameOf(request), reasonOf(error), error, lines);
  };
  const entries = [...tell(reported, placeOf, describe), ...describeEmbeds(embeds, placeOf)];
  if (skipped > 0) entries.push(`${count(skipped, 'more snippet')} would fail the same way.`);
  const codes = new Set([...reported.map(({ error }) => error.code), ...embeds.map(({ code }) => code)]);
  throw new UserError(
    `${headline(reported, skipped, embeds.length)}\n\n${entries.join('\n\n')}\n`,
    [...codes].map((code) => `${code}: ${hints[code]}`).join('\n'),
    [...codes],
  );
}

/** About snippets whose children, or last good content, are shown instead. */
export function failureWarnings(failed: readonly Failed[], placeOf: PlaceOf = () => ''): string[] {
  const warn = (one: Failed) => {
    const { request, error } = one;
    // What fails for all snippets at once does not name one.
    const isForAll = error instanceof SnippetError && error.snippetId === undefined;
    const message = isForAll ? `${nameOf(request)}: ${error.reason}` : error.message;
    return `${message.replace(/\.?$/, '.')} ${shownInstead([one])} on ${allPlaces(one, placeOf)}. [${error.code}]`;
  };
  return tell(failed, placeOf, warn, (many) => `\n${shownInstead(many)}.`);
}

interface ShownSnippet {
  error?: SnippetFailure | undefined;
  fetchedAt?: number | undefined;
  warnings: readonly string[];
}

export function shownWarnings(
  snippets: ReadonlyMap<string, ShownSnippet>,
  uses: readonly Placed[],
  placeOf?: PlaceOf,
): string[] {
  const flaws = new Set<string>();
  const stale: Failed[] = [];
  for (const { request, places } of uses) {
    const { error, fetchedAt = 0, warnings = [] } = snippets.get(request.key) ?? {};
    if (error !== undefined) stale.push({ request, error, places, fetchedAt });
    // With other params, a snippet has the same flaw: one warning for each list of pages.
    for (const flaw of warnings) flaws.add(`${flaw} It is on ${allPlaces({ request, places }, placeOf)}.`);
  }
  return [...failureWarnings(stale, placeOf), ...flaws];
}

function shownInstead(some: readonly Failed[]): string {
  const isOne = some.length === 1;
  const times = some.flatMap(({ fetchedAt }) => fetchedAt ?? []);
  if (times.length === 0) return `${isOne ? 'Its' : 'Their'} children are shown instead`;
  const oldest = formatDuration(Math.max(0, Date.now() - Math.min(...times)), 'long');
  const content = isOne ? 'Its last good content,' : 'Their last good content, the oldest';
  return `${content} fetched ${oldest} ago, is shown instead`;
}

/** The first few, cleaned, and how many more there are. */
export function listNames(names: readonly string[], most = 10): string {
  const shown = names.slice(0, most).map(cleanText).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

export function listPlaces(places: readonly string[]): string {
  const shown = places.slice(0, placesShown).join(', ');
  const more = places.length - placesShown;
  return more > 0 ? `${shown} and ${count(more, 'more place')}` : shown;
}

function allPlaces({ request, places }: Placed, placeOf: PlaceOf = () => ''): string {
  return [listPlaces(places), placeOf({ id: String(request.id) })].filter(Boolean).join(', ');
}

function placesThatFail(failed: FailedSnippet): string[] {
  const { error, places, placesWithoutChildren, optionalPlaces } = failed;
  const failing = effectOf(error) === 'children' ? placesWithoutChildren : places;
  // An optional embed shows its children.
  return error.code === 'not-found' ? failing.filter((place) => !optionalPlaces?.has(place)) : failing;
}

/** How many snippets are not shown, with those that were not asked for. */
function headline(snippets: readonly Failed[], skipped: number, embeds: number): string {
  const isFetched = ({ error }: Failed) => !(error instanceof SnippetError) && error.code !== 'not-cached';
  const refused = snippets.filter(isFetched).length;
  const failed = snippets.length - refused + skipped;
  const parts = [
    ...(failed > 0 ? [`${count(failed, 'snippet')} could not be fetched`] : []),
    ...(refused > 0 ? [`${count(refused, 'snippet')} must not be shown`] : []),
    ...(embeds > 0 ? [`${count(embeds, 'embed')} ${embeds === 1 ? 'is' : 'are'} invalid`] : []),
  ];
  return `${parts.join(', and ')}.`;
}

function nameOf({ id, params = '' }: SnippetRequest): string {
  const clean = cleanText(params);
  const shown = clean.length > paramsShown ? `${clean.slice(0, paramsShown - 1)}…` : clean;
  return `Snippet ${id} ${shown}`.trimEnd();
}

function isAnswer(error: SnippetFailure): error is SnippetError {
  return error instanceof SnippetError && error.status !== undefined && error.title !== undefined;
}

function reasonOf(error: SnippetFailure): string {
  return isAnswer(error) ? `${error.status} ${error.title}` : error.reason;
}

/** Tells the same fault of a few snippets one by one; of many, in one paragraph with examples. */
function tell(
  failed: readonly Failed[],
  placeOf: PlaceOf,
  tellOne: (one: Failed) => string,
  end: (many: readonly Failed[]) => string = () => '',
): string[] {
  // The same fault has the same status and title.
  const groups = Map.groupBy(failed, ({ error }) => `${error.code} ${isAnswer(error) && reasonOf(error)}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined || group.length <= examplesShown) return group.map(tellOne);
    // They may differ in details, such as the number of attempts.
    const isCommon = group.every(({ error }) => reasonOf(error) === reasonOf(first.error));
    const examples = group.slice(0, examplesShown).map((one) => {
      const place = `${nameOf(one.request)} on ${allPlaces(one, placeOf)}`;
      return isCommon ? place : `${place}: ${reasonOf(one.error)}`;
    });
    const reason = (isCommon ? undefined : titles[first.error.code]) ?? reasonOf(first.error);
    const lines = [...examples, `and ${count(group.length - examplesShown, 'more snippet')}`];
    return paragraph(count(group.length, 'snippet'), reason, first.error, lines) + end(group);
  });
}

function paragraph(what: string, reason: string, error: SnippetFailure, lines: readonly string[]): string {
  const details = isAnswer(error) ? [error.detail, error.type] : [];
  return indented(`${what}: ${reason} [${error.code}]`, ...details, ...lines);
}

function indented(...lines: readonly (string | undefined)[]): string {
  return lines.filter(Boolean).join('\n    ');
}

/** The first few of each kind: one mistake in a layout may be on every page. */
function describeEmbeds(embeds: readonly InvalidEmbed[], placeOf: PlaceOf): string[] {
  const kinds = [...Map.groupBy(embeds, ({ code }) => code)];
  const shown = new Set(kinds.flatMap(([, alike]) => alike.slice(0, examplesShown)));
  const described = embeds.flatMap((embed) => {
    const { file, line, code, message } = embed;
    const place = line === undefined ? file : `${file}:${line}`;
    return shown.has(embed) ? indented(place, `${message} [${code}]`, placeOf(embed)) : [];
  });
  const more = kinds.flatMap(([code, { length }]) => {
    const left = count(length - examplesShown, 'more embed');
    return length > examplesShown ? [`${left} with the same error. [${code}]`] : [];
  });
  return [...described, ...more];
}
