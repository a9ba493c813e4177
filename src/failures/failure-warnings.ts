import { SnippetError } from '../client/snippet-error.ts';
import { formatDuration } from '../text/format.ts';
import { allPlaces, type Failed, groupByCause, nameSnippet, type Placed } from './describe-failures.ts';
import type { SnippetFailure } from './errors.ts';
import type { PlaceOf } from './places.ts';

/** About snippets whose children, or last good content, are shown instead. */
export function failureWarnings(failed: readonly Failed[], placeOf?: PlaceOf): string[] {
  const warn = (one: Failed) => {
    const { request, error } = one;
    // What fails for all snippets at once does not name one.
    const isForAll = error instanceof SnippetError && error.snippetId === undefined;
    const message = isForAll ? `${nameSnippet(request)}: ${error.reason}` : error.message;
    return `${message.replace(/\.?$/, '.')} ${shownInstead([one])} on ${allPlaces(one, placeOf)}. [${error.code}]`;
  };
  return groupByCause(failed, placeOf, warn, (many) => `\n${shownInstead(many)}.`);
}

interface ShownContent {
  error?: SnippetFailure | undefined;
  fetchedAt?: number | undefined;
  warnings: readonly string[];
}

export function shownWarnings(
  snippets: ReadonlyMap<string, ShownContent>,
  uses: readonly Placed[],
  placeOf?: PlaceOf,
): string[] {
  const flaws = new Set<string>();
  const stale: Failed[] = [];
  for (const { request, places } of uses) {
    const { error, fetchedAt = 0, warnings = [] } = snippets.get(request.key) ?? {};
    if (error) stale.push({ request, error, places, fetchedAt });
    // With other params, a snippet has the same flaw: one warning for each list of pages.
    for (const flaw of warnings) flaws.add(`${flaw} It is on ${allPlaces({ request, places }, placeOf)}.`);
  }
  return [...failureWarnings(stale, placeOf), ...flaws];
}

function shownInstead(some: readonly Failed[]) {
  const isOne = some.length === 1;
  const times = some.flatMap(({ fetchedAt }) => fetchedAt ?? []);
  if (times.length === 0) return `${isOne ? 'Its' : 'Their'} children are shown instead`;
  const oldest = formatDuration(Math.max(0, Date.now() - Math.min(...times)), 'long');
  const content = isOne ? 'Its last good content,' : 'Their last good content, the oldest';
  return `${content} fetched ${oldest} ago, is shown instead`;
}
