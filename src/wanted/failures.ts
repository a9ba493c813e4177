import type { Failures } from '../report/failure-report.ts';
import { consequenceOf } from './consequence.ts';
import type { FailedSnippet, FetchedSnippets } from './fetch-snippets.ts';
import type { FaultyEmbed } from './page-embeds.ts';

/**
 * What a build must fail for; nothing where there is nothing, or where children take the place of what failed.
 */
export function failuresOf(
  { failed, notAsked }: Pick<FetchedSnippets, 'failed' | 'notAsked'>,
  faults: readonly FaultyEmbed[],
): Failures | undefined {
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
