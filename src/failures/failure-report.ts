import { SnippetError } from '../client/snippet-error.ts';
import { count } from '../text/format.ts';
import {
  examplesShown,
  type Failed,
  type FailedSnippet,
  failureReason,
  groupByCause,
  indented,
  nameSnippet,
  paragraph,
} from './describe-failures.ts';
import { consequenceOf, hints } from './error-table.ts';
import { UserError } from './errors.ts';
import { type InvalidEmbed, listPlaces, type PlaceOf } from './places.ts';

export interface Failures {
  failed: readonly FailedSnippet[];
  /** Requests that were not made, as each would have failed the same way. */
  notAsked: number;
  embeds: readonly InvalidEmbed[];
  placeOf?: PlaceOf | undefined;
}

/** @throws AstroError with one report of all that a build fails for. */
export function throwFailures({ failed, notAsked, embeds, placeOf }: Failures): void {
  // One stands for all that received the answer that ends the run.
  const ending = failed.filter(({ error }) => consequenceOf(error) === 'end');
  const reported = failed
    .filter((failure) => consequenceOf(failure.error) !== 'end' || failure === ending[0])
    .map((failure): Failed => ({ ...failure, places: placesThatFail(failure) }))
    .filter(({ places }) => places.length > 0);
  if (reported.length + embeds.length === 0) return;
  const skipped = notAsked + Math.max(0, ending.length - 1);
  const describe = ({ request, error, places }: Failed) => {
    const lines = [`on ${listPlaces(places)}`, placeOf?.({ id: String(request.id) })];
    return paragraph(nameSnippet(request), failureReason(error), error, lines);
  };
  const entries = [...groupByCause(reported, placeOf, describe), ...describeEmbeds(embeds, placeOf)];
  if (skipped > 0) entries.push(`${count(skipped, 'more snippet')} would fail the same way.`);
  const codes = new Set([...reported.map(({ error }) => error.code), ...embeds.map(({ code }) => code)]);
  throw new UserError(
    `${headline(reported, skipped, embeds.length)}\n\n${entries.join('\n\n')}\n`,
    [...codes].map((code) => `${code}: ${hints[code]}`).join('\n'),
    [...codes],
  );
}

function placesThatFail({ error, places, placesWithoutChildren, optionalPlaces }: FailedSnippet) {
  const failing = consequenceOf(error) === 'children' ? placesWithoutChildren : places;
  // An optional embed shows its children.
  return error.code === 'not-found' ? failing.filter((place) => !optionalPlaces?.has(place)) : failing;
}

/** Counts snippets that were not asked for, too. */
function headline(snippets: readonly Failed[], skipped: number, embeds: number) {
  const isFetched = ({ error }: Failed) => !(error instanceof SnippetError) && error.code !== 'not-cached';
  const refused = snippets.filter(isFetched).length;
  const failed = snippets.length - refused + skipped;
  const parts = [
    failed > 0 && `${count(failed, 'snippet')} could not be fetched`,
    refused > 0 && `${count(refused, 'snippet')} must not be shown`,
    embeds > 0 && `${count(embeds, 'embed')} ${embeds === 1 ? 'is' : 'are'} invalid`,
  ];
  return `${parts.filter(Boolean).join(', and ')}.`;
}

/** The first few of each kind: one mistake in a layout may be on every page. */
function describeEmbeds(embeds: readonly InvalidEmbed[], placeOf?: PlaceOf) {
  const kinds = [...Map.groupBy(embeds, ({ code }) => code)];
  const shown = new Set(kinds.flatMap(([, alike]) => alike.slice(0, examplesShown)));
  const described = embeds.flatMap((embed) => {
    const { file, line, code, message } = embed;
    const place = line ? `${file}:${line}` : file;
    return shown.has(embed) ? indented(place, `${message} [${code}]`, placeOf?.(embed)) : [];
  });
  const more = kinds.flatMap(([code, { length }]) => {
    const left = count(length - examplesShown, 'more embed');
    return length > examplesShown ? `${left} with the same error. [${code}]` : [];
  });
  return [...described, ...more];
}
