import { SnippetError } from '../client/snippet-error.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { cleanText } from '../text/clean-text.ts';
import { count } from '../text/format.ts';
import { titles } from './error-table.ts';
import type { SnippetFailure } from './errors.ts';
import { listPlaces, type PlacedRequest, type PlaceOf } from './places.ts';

export type FailedSnippet = PlacedRequest & { error: SnippetFailure };

const paramsShown = 80;

export const examplesShown = 10;

export type Placed = Pick<PlacedRequest, 'request' | 'places'>;

/** With the time of the last good content, if that is shown instead. */
export type Failed = Placed & { error: SnippetFailure; fetchedAt?: number };

export const allPlaces = ({ request, places }: Placed, placeOf?: PlaceOf): string =>
  [listPlaces(places), placeOf?.({ id: String(request.id) })].filter(Boolean).join(', ');

export function nameSnippet({ id, params = '' }: SnippetRequest): string {
  const clean = cleanText(params);
  const shown = clean.length > paramsShown ? `${clean.slice(0, paramsShown - 1)}…` : clean;
  return `Snippet ${id} ${shown}`.trimEnd();
}

function isAnswer(error: SnippetFailure): error is SnippetError {
  return error instanceof SnippetError && error.status !== undefined && error.title !== undefined;
}

export const failureReason = (error: SnippetFailure): string =>
  isAnswer(error) ? `${error.status} ${error.title}` : error.reason;

/** A few snippets with the same fault one by one; many in one paragraph, with examples. */
export function groupByCause(
  failed: readonly Failed[],
  placeOf: PlaceOf | undefined,
  tellOne: (one: Failed) => string,
  end = (_many: readonly Failed[]) => '',
): string[] {
  // The same fault has the same status and title.
  const groups = Map.groupBy(
    failed,
    ({ error }) => `${error.code} ${isAnswer(error) && failureReason(error)}`,
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first || group.length <= examplesShown) return group.map(tellOne);
    // They may differ in details, such as the number of attempts.
    const isCommon = group.every(({ error }) => failureReason(error) === failureReason(first.error));
    const examples = group.slice(0, examplesShown).map((one) => {
      const place = `${nameSnippet(one.request)} on ${allPlaces(one, placeOf)}`;
      return isCommon ? place : `${place}: ${failureReason(one.error)}`;
    });
    const reason = (isCommon ? undefined : titles[first.error.code]) ?? failureReason(first.error);
    const lines = [...examples, `and ${count(group.length - examplesShown, 'more snippet')}`];
    return paragraph(count(group.length, 'snippet'), reason, first.error, lines) + end(group);
  });
}

type Lines = readonly (string | undefined)[];

export function paragraph(what: string, reason: string, error: SnippetFailure, lines: Lines): string {
  const details = isAnswer(error) ? [error.detail, error.type] : [];
  return indented(`${what}: ${reason} [${error.code}]`, ...details, ...lines);
}

export const indented = (...lines: Lines): string => lines.filter(Boolean).join('\n    ');
