import { describeFailure, SnippetError } from '../client/snippet-error.ts';
import { formatDuration } from '../text/format.ts';
import { describeByCause, describePlaces, type FailedSnippet, nameFailed } from './describe-failures.ts';
import type { PlaceOf } from './embed-notes.ts';
import type { SnippetFailure } from './errors.ts';
import { nameSnippet } from './name-snippet.ts';
import type { PlacedRequest } from './places.ts';
import { type SnippetFlaw, type SnippetWarning, WarningList } from './snippet-warning.ts';

/** Warnings about failed snippets whose children, or last good content, are shown instead. */
export function failureWarnings(failed: readonly FailedSnippet[], placeOf?: PlaceOf): string[] {
  const describe = (failure: FailedSnippet) => {
    const sentence = sentenceOn(failure).replace(/\.?$/, '.');
    return `${sentence} ${shownInstead([failure])} on ${describePlaces(failure, placeOf)}. [${failure.error.code}]`;
  };
  return describeByCause(failed, placeOf, describe, (group) => `\n${shownInstead(group)}.`);
}

/** The message of a snippet's error, with the name of the snippet. */
function sentenceOn(failure: FailedSnippet): string {
  const { request, error, name } = failure;
  const subject = nameSnippet({ id: request.id, name });
  if (!(error instanceof SnippetError)) return `${subject} ${error.reason}`;
  // The message of an error of all snippets, such as a wrong key, names no snippet.
  const isForAll = error.snippetId === undefined;
  return isForAll
    ? `${nameFailed(failure)}: ${error.reason}`
    : describeFailure(subject, error.reason, error.variant);
}

/** The facts about a shown snippet that lead to warnings. */
export interface ShownContent {
  /** The error because of which older content is shown. */
  error?: SnippetFailure | undefined;
  /** The time at which the content was fetched, in milliseconds since the epoch. */
  fetchedAt?: number | undefined;
  /** The name that people gave the snippet, if it is known. */
  name?: string | undefined;
  /** Flaws of the content. */
  flaws: readonly SnippetFlaw[];
}

/** Shown contents by the keys of their requests (id and params). */
type ShownContents = ReadonlyMap<string, ShownContent>;

/** Warnings about older content that is shown instead of that of the service. */
export function staleWarnings(
  snippets: ShownContents,
  uses: readonly PlacedRequest[],
  placeOf?: PlaceOf,
): string[] {
  const stale = uses.flatMap((use): FailedSnippet[] => {
    const { error, fetchedAt = 0, name } = snippets.get(use.request.key) ?? {};
    return error ? [{ ...use, error, fetchedAt, name }] : [];
  });
  return failureWarnings(stale, placeOf);
}

/** Warnings about the flaws of contents that are shown. */
export function flawWarnings(snippets: ShownContents, uses: readonly PlacedRequest[]): SnippetWarning[] {
  const warnings = new WarningList();
  for (const { request, places } of uses) {
    for (const flaw of snippets.get(request.key)?.flaws ?? []) {
      for (const place of places) warnings.add(flaw, { request, place });
    }
  }
  return warnings.list;
}

/** Says that children, or the last good contents, are shown, with the age of the oldest content. */
function shownInstead(failed: readonly FailedSnippet[]): string {
  const isSingle = failed.length === 1;
  const times = failed.flatMap(({ fetchedAt }) => fetchedAt ?? []);
  if (times.length === 0) return `${isSingle ? 'Its' : 'Their'} children are shown instead`;
  const oldest = formatDuration(Math.max(0, Date.now() - Math.min(...times)), 'long');
  const content = isSingle ? 'Its last good content,' : 'Their last good content, the oldest';
  return `${content} fetched ${oldest} ago, is shown instead`;
}
