import { createSource } from '../create-source.ts';
import type { PreparedSnippet } from '../html-rules/apply-rules.ts';
import type { Settings } from '../options.ts';
import { throwFailures } from '../wanted/failures.ts';
import { fetchSnippets } from '../wanted/fetch-snippets.ts';
import type { WantedSnippet } from '../wanted/page-embeds.ts';
import { warnOfContents } from '../wanted/warn-of-contents.ts';

/** What the hook for loaders does: see {@link import('./fetch-hook.ts').FetchHook}. */
export async function fetchEntries(
  settings: Settings,
  who: string,
  warn: (line: string) => void,
  snippets: readonly WantedSnippet[],
): Promise<ReadonlyMap<WantedSnippet, PreparedSnippet>> {
  const source = createSource(settings, who, { warn });
  try {
    const fetched = await fetchSnippets(
      source,
      snippets,
      settings.html,
      new AbortController().signal,
      () => {},
    );
    throwFailures(fetched, []);
    warnOfContents(fetched.contents, warn);
    return fetched.contents;
  } finally {
    await source.close();
  }
}
