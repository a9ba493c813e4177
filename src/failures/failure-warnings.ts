import { SnippetError } from '../client/snippet-error.ts';
import { formatDuration } from '../text/format.ts';
import { describeByCause, describePlaces, type FailedSnippet, nameSnippet } from './describe-failures.ts';
import type { PlaceOf } from './embed-notes.ts';
import type { SnippetFailure } from './errors.ts';
import type { PlacedRequest } from './places.ts';

/** Warnings about failed snippets whose children, or last good content, are shown instead. */
export function failureWarnings(failed: readonly FailedSnippet[], placeOf?: PlaceOf): string[] {
  const describe = (failure: FailedSnippet) => {
    const { request, error } = failure;
    // The message of an error of all snippets, such as a wrong key, names no snippet, so its name is added.
    const isForAll = error instanceof SnippetError && error.snippetId === undefined;
    const message = isForAll ? `${nameSnippet(request)}: ${error.reason}` : error.message;
    const sentence = message.replace(/\.?$/, '.');
    return `${sentence} ${shownInstead([failure])} on ${describePlaces(failure, placeOf)}. [${error.code}]`;
  };
  return describeByCause(failed, placeOf, describe, (group) => `\n${shownInstead(group)}.`);
}

/** The facts about a shown snippet that lead to warnings. */
export interface ShownContent {
  /** The error because of which older content is shown. */
  error?: SnippetFailure | undefined;
  /** The time at which the content was fetched, in milliseconds since the epoch. */
  fetchedAt?: number | undefined;
  /** Flaws of the content, as sentences. */
  warnings: readonly string[];
}

/**
 * Warnings about content that is shown: older content, and content with flaws.
 *
 * @param snippets what is shown, by the `key` of its request (id and params).
 */
export function shownWarnings(
  snippets: ReadonlyMap<string, ShownContent>,
  uses: readonly PlacedRequest[],
  placeOf?: PlaceOf,
): string[] {
  const flaws = new Set<string>();
  const stale: FailedSnippet[] = [];
  for (const use of uses) {
    const { error, fetchedAt = 0, warnings = [] } = snippets.get(use.request.key) ?? {};
    if (error) stale.push({ ...use, error, fetchedAt });
    // A snippet has the same flaw with other params, so a set keeps equal warnings once.
    for (const warning of warnings) flaws.add(`${warning} It is on ${describePlaces(use, placeOf)}.`);
  }
  return [...failureWarnings(stale, placeOf), ...flaws];
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
