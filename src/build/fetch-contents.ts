import type { AstroIntegrationLogger } from 'astro';
import type { Counts, Snippet } from '../client/snippet-client.ts';
import { createClient } from '../create-client.ts';
import type { Settings } from '../options.ts';
import { writeFailureReport, writeFallbackWarning } from '../report/failure-report.ts';
import { userError } from '../report/user-error.ts';
import { failuresOf } from '../wanted/failures.ts';
import { fetchSnippets } from '../wanted/fetch-snippets.ts';
import type { WantedSnippet } from '../wanted/page-embeds.ts';
import type { SiteEmbeds } from './find-embeds.ts';
import { showProgress } from './progress.ts';
import { describeNotice } from './summary.ts';

export interface Contents {
  /** What to inline. A snippet that is not in it was not to be had: its embeds show their children. */
  contents: ReadonlyMap<WantedSnippet, Snippet>;
  counts: Readonly<Counts>;
}

/**
 * Fetches the content of every snippet of the site, showing how far it has come.
 *
 * @throws AstroError with one report, when there is an embed that cannot be used or a snippet that cannot be
 * had and has no children to take its place.
 */
export async function fetchContents(
  site: SiteEmbeds,
  settings: Settings,
  logger: AstroIntegrationLogger,
  signal: AbortSignal,
): Promise<Contents> {
  const progress = showProgress(site.snippets.length, process.stdout, (line) => logger.info(line));
  const client = createClient(settings, whoNeedsIt(site), {
    onNotice(notice) {
      progress.erase();
      logger.warn(describeNotice(notice));
    },
  });
  try {
    progress.show(0);
    const fetched = await fetchSnippets(client, site.snippets, signal, progress.show);
    progress.erase();
    const failures = failuresOf(fetched, site.faults);
    if (failures !== undefined) {
      const { message, hint } = writeFailureReport(failures);
      throw userError(message, hint);
    }
    for (const { snippet, error } of fetched.failed) {
      logger.warn(writeFallbackWarning({ ...snippet, pages: [...snippet.pages], error }));
    }
    return { contents: fetched.contents, counts: client.counts };
  } finally {
    progress.erase();
    await client.close();
  }
}

function whoNeedsIt({ pages: [first, ...others] }: SiteEmbeds): string {
  return `${first?.source.name} holds an embed${others.length > 0 ? ` (as do ${others.length} more pages)` : ''}`;
}
