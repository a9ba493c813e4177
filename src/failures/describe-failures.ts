import { SnippetError } from '../client/snippet-error.ts';
import { count } from '../text/format.ts';
import type { PlaceOf } from './embed-notes.ts';
import { errorTable } from './error-table.ts';
import type { SnippetFailure } from './errors.ts';
import { nameSnippet } from './name-snippet.ts';
import { listPlaces, type PlacedRequest } from './places.ts';

/** A request that failed, and the places that need its snippet. */
export interface FailedSnippet extends PlacedRequest {
  error: SnippetFailure;
  /** When the last good content was fetched, if pages show that, in milliseconds since the epoch. */
  fetchedAt?: number;
  /** The name that people gave the snippet, if it is known. */
  name?: string | undefined;
}

/** Where a snippet was shown in the last build: names of files and collection entries. Empty if it was not. */
export type EarlierPlaces = (id: number) => readonly string[];

/** The most snippets or embeds with the same fault that a report lists; it only counts the others. */
export const maxExamples = 10;

/**
 * Describes failures by cause: a few snippets one by one, many in one paragraph with examples.
 *
 * @param endOfGroup text to put after the paragraph about many snippets.
 */
export function describeByCause(
  failed: readonly FailedSnippet[],
  placeOf: PlaceOf | undefined,
  describe: (failure: FailedSnippet) => string,
  endOfGroup: (group: readonly FailedSnippet[]) => string = () => '',
): string[] {
  return [...Map.groupBy(failed, causeOf).values()].flatMap((group) => {
    const [first] = group;
    if (!first || group.length <= maxExamples) return group.map(describe);

    // Reasons may differ in details, such as the number of attempts; then each example shows its own.
    const hasOneReason = group.every(({ error }) => failureReason(error) === failureReason(first.error));
    const title = hasOneReason ? undefined : errorTable[first.error.code].title;
    const examples = group.slice(0, maxExamples).map((failure) => {
      const example = `${nameFailed(failure)} on ${describePlaces(failure, placeOf)}`;
      return hasOneReason ? example : `${example}: ${failureReason(failure.error)}`;
    });

    const heading = count(group.length, 'snippet');
    const lines = [...examples, `and ${count(group.length - maxExamples, 'more snippet')}`];
    return paragraph(heading, title ?? failureReason(first.error), first.error, lines) + endOfGroup(group);
  });
}

/** The text by which failures are grouped: the code, with the status and title if the service sent them. */
const causeOf = ({ error }: FailedSnippet): string =>
  `${error.code} ${isAnswer(error) && failureReason(error)}`;

/** The reason to show: the status and title that the service sent, or else the reason in the error. */
export const failureReason = (error: SnippetFailure): string =>
  isAnswer(error) ? `${error.status} ${error.title}` : error.reason;

function isAnswer(error: SnippetFailure): error is SnippetError {
  return error instanceof SnippetError && error.status !== undefined && error.title !== undefined;
}

/** The name of a failed snippet in messages. */
export const nameFailed = ({ request, name }: FailedSnippet): string => nameSnippet({ ...request, name });

/** The places in the output that need a snippet, and where its embed is written in the source. */
export const describePlaces = ({ request, places }: PlacedRequest, placeOf?: PlaceOf): string =>
  [listPlaces(places), placeOf?.({ id: String(request.id) })].filter(Boolean).join(', ');

type Lines = readonly (string | undefined)[];

/** A heading with the reason and the error code; below, indented, the service's details and `lines`. */
export function paragraph(subject: string, reason: string, error: SnippetFailure, lines: Lines): string {
  const details = isAnswer(error) ? [error.detail, error.type] : [];
  return indented(`${subject}: ${reason} [${error.code}]`, ...details, ...lines);
}

/** Joins lines, indented below the first one. Lines that are empty or `undefined` are left out. */
export const indented = (...lines: Lines): string => lines.filter(Boolean).join('\n    ');
