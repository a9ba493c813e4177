import type { Snippet } from '../client/snippet-client.ts';
import { createClient } from '../create-client.ts';
import type { Settings } from '../options.ts';
import { writeFailureReport } from '../report/failure-report.ts';
import { userError } from '../report/user-error.ts';
import { failuresOf } from '../wanted/failures.ts';
import { fetchSnippets } from '../wanted/fetch-snippets.ts';
import type { WantedSnippet } from '../wanted/page-embeds.ts';

/** What the hook for loaders does: see {@link import('./fetch-hook.ts').FetchHook}. */
export async function fetchEntries(
  settings: Settings,
  who: string,
  snippets: readonly WantedSnippet[],
): Promise<ReadonlyMap<WantedSnippet, Snippet>> {
  const client = createClient(settings, who);
  try {
    const fetched = await fetchSnippets(client, snippets, new AbortController().signal, () => {});
    const failures = failuresOf(fetched, []);
    if (failures === undefined) return fetched.contents;
    const { message, hint } = writeFailureReport(failures);
    throw userError(message, hint);
  } finally {
    await client.close();
  }
}
