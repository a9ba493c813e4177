import type { AstroIntegrationLogger } from 'astro';
import type { HtmlRules, PreparedSnippet } from '../html-rules/apply-rules.ts';
import { writeFallbackWarning } from '../report/failure-report.ts';
import type { SnippetSource } from '../snippet-source.ts';
import { throwFailures } from '../wanted/failures.ts';
import { fetchSnippets } from '../wanted/fetch-snippets.ts';
import type { WantedSnippet } from '../wanted/page-embeds.ts';
import { warnOfContents } from '../wanted/warn-of-contents.ts';
import type { BuildBeginning } from './begin-build.ts';
import type { SiteEmbeds } from './find-embeds.ts';
import { showProgress } from './progress.ts';

export interface Contents {
  /** What to inline. A snippet that is not in it was not to be had: its embeds show their children. */
  contents: ReadonlyMap<WantedSnippet, PreparedSnippet>;
  counts: SnippetSource['counts'];
}

/**
 * Fetches the content of every snippet of the site, showing how far it has come.
 *
 * @throws AstroError with one report, when there is an embed that cannot be used or a snippet that cannot be
 * had and has no children to take its place.
 */
export async function fetchContents(
  site: SiteEmbeds,
  beginning: BuildBeginning,
  rules: HtmlRules,
  logger: AstroIntegrationLogger,
  signal: AbortSignal,
): Promise<Contents> {
  const source = beginning.source(whoNeedsIt(site));
  const progress = showProgress(site.snippets.length, process.stdout, (line) => logger.info(line));
  beginning.beforeWarning(progress.erase);
  try {
    progress.show(0);
    const fetched = await fetchSnippets(source, site.snippets, rules, signal, progress.show);
    progress.erase();
    throwFailures(fetched, site.faults);
    for (const { snippet, error } of fetched.failed) {
      logger.warn(writeFallbackWarning({ ...snippet, pages: [...snippet.pages], error }));
    }
    warnOfContents(fetched.contents, (line) => logger.warn(line));
    return { contents: fetched.contents, counts: source.counts };
  } finally {
    progress.erase();
    await source.close();
  }
}

function whoNeedsIt({ pages: [first, ...others] }: SiteEmbeds): string {
  return `${first?.source.name} holds an embed${others.length > 0 ? ` (as do ${others.length} more pages)` : ''}`;
}
