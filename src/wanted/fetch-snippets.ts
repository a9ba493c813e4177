import { SnippetError, type SnippetErrorCode } from '../client/snippet-error.ts';
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
 * Where the service is ailing and not down, what failed is asked for once more after all the others: of thousands of
 * snippets a few would otherwise run out of attempts by bad luck alone, and with them the build.
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
  let settled = 0;
  const fetched = await fetchAll(source, snippets, rules, signal, () => {
    settled += 1;
    onSettled(settled);
  });
  const unlucky = fetched.failed.filter(({ error }) => mayComeAfterAll(error.code));
  if (unlucky.length === 0 || unlucky.length > fetched.contents.size) return fetched;
  const again = unlucky.map(({ snippet }) => snippet);
  const { contents, failed, notAsked } = await fetchAll(source, again, rules, signal, () => {});
  const others = fetched.failed.filter((failure) => !unlucky.includes(failure));
  return {
    contents: new Map([...fetched.contents, ...contents]),
    failed: [...others, ...failed],
    notAsked: [...fetched.notAsked, ...notAsked],
  };
}

function mayComeAfterAll(code: SnippetErrorCode): boolean {
  return consequenceOf(code) === 'fallback' && code !== 'unavailable' && code !== 'not-cached';
}

async function fetchAll(
  source: Pick<SnippetSource, 'get'>,
  snippets: readonly WantedSnippet[],
  rules: HtmlRules,
  signal: AbortSignal,
  onSettled: () => void,
): Promise<FetchedSnippets> {
  const fetched: FetchedSnippets = { contents: new Map(), failed: [], notAsked: [] };
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
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
        onSettled();
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
