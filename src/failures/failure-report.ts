import { SnippetError } from '../client/snippet-error.ts';
import { count } from '../text/format.ts';
import {
  describeByCause,
  type EarlierPlaces,
  type FailedSnippet,
  failureReason,
  indented,
  maxExamples,
  nameFailed,
  paragraph,
} from './describe-failures.ts';
import type { InvalidEmbed, PlaceOf } from './embed-notes.ts';
import { consequenceOf } from './error-table.ts';
import { UserError } from './errors.ts';
import { type AdvisedSettings, hintOf } from './hints.ts';
import { listPlaces } from './places.ts';

/** Everything that went wrong in a run. */
export interface Failures {
  failed: readonly FailedSnippet[];
  /** The number of requests that were not made, as each would have failed the same way. */
  notAsked: number;
  embeds: readonly InvalidEmbed[];
  placeOf?: PlaceOf | undefined;
  earlierPlaces?: EarlierPlaces | undefined;
  /** The settings of the run, so that no hint advises what is set. */
  settings: AdvisedSettings;
}

/**
 * Throws one report of everything that a build fails for, if anything. Snippets whose children are shown are
 * left to the warnings.
 *
 * @throws UserError
 */
export function throwFailures(failures: Failures): void {
  const { failed, notAsked, embeds, placeOf, earlierPlaces, settings } = failures;
  // Of the errors that end the run, only the first is reported: the others have the same cause.
  const fatal = failed.filter(({ error }) => consequenceOf(error) === 'end');
  const reported = failed
    .filter((failure) => consequenceOf(failure.error) !== 'end' || failure === fatal[0])
    .map((failure) => ({ ...failure, places: placesThatFail(failure) }))
    .filter(({ places }) => places.length > 0);
  if (reported.length + embeds.length === 0) return;

  const describe = (failure: FailedSnippet) => {
    const { request, error, places } = failure;
    const earlier = error.code === 'not-found' ? earlierPlaces?.(request.id) : undefined;
    const lines = [`on ${listPlaces(places)}`, placeOf?.({ id: String(request.id) }), adviseOnGone(earlier)];
    return paragraph(nameFailed(failure), failureReason(error), error, lines);
  };
  const endOfGroup = (group: readonly FailedSnippet[]) => {
    const gone = group.filter(
      ({ error, request }) => error.code === 'not-found' && earlierPlaces?.(request.id).length,
    );
    return gone.length === 0 ? '' : `\n    ${adviseOnAllGone(gone.length, group.length)}`;
  };
  const entries = [
    ...describeByCause(reported, placeOf, describe, endOfGroup),
    ...describeEmbeds(embeds, placeOf),
  ];
  const skipped = notAsked + Math.max(0, fatal.length - 1);
  if (skipped > 0) entries.push(`${count(skipped, 'more snippet')} would fail the same way.`);

  const codes = new Set([...reported.map(({ error }) => error.code), ...embeds.map(({ code }) => code)]);
  throw new UserError(
    `${headline(reported, skipped, embeds.length)}\n\n${entries.join('\n\n')}\n`,
    [...codes].map((code) => `${code}: ${hintOf(code, settings)}`).join('\n'),
    [...codes],
  );
}

/** What to do about a snippet that does not exist, and was on the site before. Empty if it was not. */
function adviseOnGone(earlierPlaces: readonly string[] = []): string {
  if (earlierPlaces.length === 0) return '';
  const arePages = earlierPlaces.every((place) => place.endsWith('.html'));
  const where = count(earlierPlaces.length, arePages ? 'page' : 'place');
  return `It was on ${where} in the last build: if it is gone for good, remove it; if it comes and goes, write \`optional\`.`;
}

/** What to do about snippets that do not exist, some of which were on the site before. */
const adviseOnAllGone = (gone: number, all: number): string =>
  `${gone === all ? 'All' : gone} of them were on the site in the last build: remove those that are gone for good, and write \`optional\` for those that come and go.`;

/** The files and collection entries that fail the build: not those whose embeds show children instead. */
function placesThatFail({ error, places, placesWithoutChildren, optionalPlaces }: FailedSnippet): string[] {
  const failing = consequenceOf(error) === 'children' ? placesWithoutChildren : places;
  // If the snippet does not exist, an optional embed shows its children and does not fail the build.
  return error.code === 'not-found' ? failing.filter((place) => !optionalPlaces?.has(place)) : failing;
}

/** The first sentence of a report. Snippets that were not asked for count as not fetched. */
function headline(reported: readonly FailedSnippet[], skipped: number, embeds: number): string {
  const hasArrived = ({ error }: FailedSnippet) =>
    !(error instanceof SnippetError) && error.code !== 'not-cached';
  const refused = reported.filter(hasArrived).length;
  const notFetched = reported.length - refused + skipped;
  const parts = [
    notFetched > 0 && `${count(notFetched, 'snippet')} could not be fetched`,
    refused > 0 && `${count(refused, 'snippet')} must not be shown`,
    embeds > 0 && `${count(embeds, 'embed')} ${embeds === 1 ? 'is' : 'are'} invalid`,
  ];
  return `${parts.filter(Boolean).join(', and ')}.`;
}

/** Describes the first few invalid embeds of each kind: one mistake in a layout may be on every page. */
function describeEmbeds(embeds: readonly InvalidEmbed[], placeOf?: PlaceOf): string[] {
  const kinds = [...Map.groupBy(embeds, ({ code }) => code)];
  const examples = new Set(kinds.flatMap(([, sameKind]) => sameKind.slice(0, maxExamples)));

  // Embeds are listed in the order of the pages, not by error code.
  const described = embeds
    .filter((embed) => examples.has(embed))
    .map((embed) => {
      const { file, line, code, message } = embed;
      return indented(line ? `${file}:${line}` : file, `${message} [${code}]`, placeOf?.(embed));
    });
  const more = kinds
    .filter(([, { length }]) => length > maxExamples)
    .map(
      ([code, { length }]) => `${count(length - maxExamples, 'more embed')} with the same error. [${code}]`,
    );
  return [...described, ...more];
}
