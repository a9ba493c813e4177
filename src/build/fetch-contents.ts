import type { AstroIntegrationLogger } from 'astro';
import { requireAccess } from '../access.ts';
import { type Counts, SnippetClient } from '../client/snippet-client.ts';
import type { Settings } from '../options.ts';
import { consequenceOf } from '../page/consequence.ts';
import type { WantedSnippet } from '../page/page-embeds.ts';
import { type Failures, writeFailureReport, writeFallbackWarning } from '../report/failure-report.ts';
import { userError } from '../report/user-error.ts';
import { type FailedSnippet, type FetchedSnippets, fetchSnippets } from './fetch-snippets.ts';
import type { SiteEmbeds } from './find-embeds.ts';
import { showProgress } from './progress.ts';
import { describeNotice } from './summary.ts';

export interface Contents {
  /** What to inline. A snippet that is not in it was not to be had: its embeds show their children. */
  contents: ReadonlyMap<WantedSnippet, string>;
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
  const client = new SnippetClient({
    ...requireAccess(settings, whoNeedsIt(site)),
    ca: settings.ca,
    concurrency: settings.concurrency,
    onNotice(notice) {
      progress.erase();
      logger.warn(describeNotice(notice));
    },
  });
  try {
    progress.show(0);
    const fetched = await fetchSnippets(client, site.snippets, signal, progress.show);
    progress.erase();
    const failures = failuresOf(site, fetched);
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

/** What the build must fail for; nothing where there is nothing, or children take the place of what failed. */
function failuresOf({ faults }: SiteEmbeds, { failed, notAsked }: FetchedSnippets): Failures | undefined {
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

function whoNeedsIt({ pages: [first, ...others] }: SiteEmbeds): string {
  return `${first?.source.name} holds an embed${others.length > 0 ? ` (as do ${others.length} more pages)` : ''}`;
}
