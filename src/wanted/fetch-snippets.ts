import { SnippetError } from '../client/snippet-error.ts';
import { applyRules, type HtmlRules, type PreparedSnippet, unprepared } from '../html-rules/apply-rules.ts';
import type { SnippetSource } from '../snippet-source.ts';
import { consequenceOf } from './consequence.ts';
import type { WantedSnippet } from './page-embeds.ts';

export interface FailedSnippet {
  snippet: WantedSnippet;
  error: SnippetError;
}

export interface FetchedSnippets {
  contents: Map<WantedSnippet, PreparedSnippet>;
  failed: FailedSnippet[];
  /** Snippets that were not asked for, because an earlier answer stands for all of them. */
  notAsked: WantedSnippet[];
}

/**
 * Asks for every snippet that is wanted, each once, as many at a time as the source allows. One that fails does
 * not keep the others from being asked for, so that all failures are known at once; except where the answer
 * would be the same for each (a key that is not valid). What comes is made ready to stand in a page.
 *
 * @param onSettled called after each snippet with how many are settled.
 */
export async function fetchSnippets(
  source: Pick<SnippetSource, 'get'>,
  snippets: readonly WantedSnippet[],
  rules: HtmlRules,
  signal: AbortSignal,
  onSettled: (settled: number) => void,
): Promise<FetchedSnippets> {
  const fetched: FetchedSnippets = { contents: new Map(), failed: [], notAsked: [] };
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  let settled = 0;
  const outcomes = await Promise.all(
    snippets.map(async (snippet) => {
      try {
        const params = snippet.params === undefined ? undefined : JSON.parse(snippet.params);
        const got = await source.get(snippet.id, params, { signal: either });
        return { snippet, got: snippet.asHtml ? await applyRules(got, snippet, rules) : unprepared(got) };
      } catch (error) {
        if (!(error instanceof SnippetError)) throw error;
        if (consequenceOf(error.code) === 'end') ended.abort();
        return { snippet, error };
      } finally {
        settled += 1;
        onSettled(settled);
      }
    }),
  );
  signal.throwIfAborted();
  for (const { snippet, got, error } of outcomes) {
    if (got !== undefined) fetched.contents.set(snippet, got);
    else if (error !== undefined && error.code !== 'aborted') fetched.failed.push({ snippet, error });
    else fetched.notAsked.push(snippet);
  }
  return fetched;
}
