import { type Failures, writeFailureReport } from '../report/failure-report.ts';
import { userError } from '../report/user-error.ts';
import { consequenceOf } from './consequence.ts';
import type { FailedSnippet, FetchedSnippets } from './fetch-snippets.ts';
import type { FaultyEmbed } from './page-embeds.ts';

type Outcome = Pick<FetchedSnippets, 'failed' | 'notAsked'>;

/** @throws AstroError with one report, when there is something that a build must fail for. */
export function throwFailures(outcome: Outcome, faults: readonly FaultyEmbed[]): void {
  const failures = failuresOf(outcome, faults);
  if (failures === undefined) return;
  const { message, hint } = writeFailureReport(failures);
  throw userError(message, hint);
}

/** Nothing where there is nothing, or where children take the place of what failed. */
function failuresOf({ failed, notAsked }: Outcome, faults: readonly FaultyEmbed[]): Failures | undefined {
  const ends = ({ error }: FailedSnippet) => consequenceOf(error.code) === 'end';
  // Several may have received the answer that ends the run before it ended: the first speaks for all of them.
  const [first, ...alike] = failed.filter(ends);
  const snippets = failed
    .filter((failure) => !ends(failure) || failure === first)
    .map(({ snippet, error }) => {
      const pages = consequenceOf(error.code) === 'fallback' ? snippet.pagesWithoutFallback : snippet.pages;
      return { id: snippet.id, params: snippet.params, pages: [...pages], error };
    })
    .filter(({ pages }) => pages.length > 0);
  if (snippets.length + faults.length === 0) return undefined;
  return { snippets, embeds: faults, notAsked: notAsked.length + alike.length };
}
