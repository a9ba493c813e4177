import { rm } from 'node:fs/promises';
import type { AstroIntegrationLogger } from 'astro';
import type { Notice } from '../client/notice.ts';
import { SnippetClient } from '../client/snippet-client.ts';
import type { Settings } from '../options.ts';
import { type Failures, writeFailureReport } from '../report/failure-report.ts';
import { userError } from '../report/user-error.ts';
import { consequenceOf } from './consequence.ts';
import { type FetchedSnippets, fetchSnippets } from './fetch-snippets.ts';
import { findEmbeds, type SiteEmbeds, type SitePage, type WantedSnippet } from './find-embeds.ts';
import { inlinePages } from './inline-pages.ts';
import { interruptible } from './interruption.ts';
import { showProgress } from './progress.ts';
import { requireAccess } from './require-access.ts';
import { listSiteFiles, type SiteFile } from './site-files.ts';
import { describeBuild, describeNotice } from './summary.ts';
import { verifyOutput } from './verify-output.ts';

/**
 * What happens after the pages are generated: scan, fetch, inline, verify. Ends with every embed replaced, or
 * with an error and no page in the output that still holds an embed.
 *
 * @throws AstroError with one report of everything that went wrong.
 */
export async function inlineSite(
  directory: string,
  settings: Settings,
  logger: AstroIntegrationLogger,
): Promise<void> {
  await interruptible(async (signal) => {
    const unfinished = new Set<SitePage>();
    try {
      await scanFetchInlineVerify(directory, settings, logger, signal, unfinished);
    } catch (error) {
      await removeFiles([...unfinished]);
      throw error;
    }
  });
}

async function scanFetchInlineVerify(
  directory: string,
  settings: Settings,
  logger: AstroIntegrationLogger,
  signal: AbortSignal,
  unfinished: Set<SitePage>,
): Promise<void> {
  const start = performance.now();
  const files = await listSiteFiles(directory);
  const site = await findEmbeds(files.pages, signal);
  for (const page of site.pages) unfinished.add(page);
  if (site.pages.length > 0) {
    const client = new SnippetClient({
      ...requireAccess(settings, site),
      ca: settings.ca,
      concurrency: settings.concurrency,
      onNotice: (notice: Notice) => logger.warn(describeNotice(notice)),
    });
    try {
      const fetched = await fetchWithProgress(client, site.snippets, logger, signal);
      const failures = failuresOf(site, fetched);
      if (failures !== undefined) {
        const { message, hint } = writeFailureReport(failures);
        throw userError(message, hint);
      }
      warnOfFallbacks(fetched, logger);
      await inlinePages(unfinished, fetched.contents, signal);
      logger.info(describeBuild(site, client.counts, performance.now() - start));
    } finally {
      await client.close();
    }
  }
  const { withKey, withEmbed } = await verifyOutput(files, settings.apiKey, signal);
  for (const { name } of withEmbed) {
    logger.warn(`${name} holds an embed, but is no HTML page: nothing will replace it there.`);
  }
  if (withKey.length > 0) {
    await removeFiles(withKey);
    throw userError(
      `The API key would have been published in ${withKey.map(({ name }) => name).join(', ')}. The build stops here, and what held it was removed.`,
      'Find out how the key came there (a PUBLIC_ variable, a snippet that holds it, a value printed into a page), and replace the key.',
    );
  }
}

async function fetchWithProgress(
  client: SnippetClient,
  snippets: readonly WantedSnippet[],
  logger: AstroIntegrationLogger,
  signal: AbortSignal,
): Promise<FetchedSnippets> {
  const progress = showProgress(snippets.length, process.stdout, (line) => logger.info(line));
  try {
    return await fetchSnippets(client, snippets, signal, progress.show);
  } finally {
    progress.end();
  }
}

/** What the build must fail for; nothing where there is nothing, or children take the place of what failed. */
function failuresOf({ faults }: SiteEmbeds, { failed, notAsked }: FetchedSnippets): Failures | undefined {
  const ended = failed.find(({ error }) => consequenceOf(error.code) === 'end');
  const reported = failed
    .filter(
      (failure) => ended === undefined || failure === ended || consequenceOf(failure.error.code) !== 'end',
    )
    .map(({ snippet, error }) => {
      const pages = consequenceOf(error.code) === 'fallback' ? snippet.pagesWithoutFallback : snippet.pages;
      return { id: snippet.id, params: snippet.params, pages: [...pages], error };
    })
    .filter(({ pages }) => pages.length > 0);
  if (reported.length + faults.length === 0) return undefined;
  const sameAnswer = failed.filter(
    (failure) => failure !== ended && consequenceOf(failure.error.code) === 'end',
  );
  return { snippets: reported, embeds: faults, notAsked: notAsked.length + sameAnswer.length };
}

function warnOfFallbacks({ failed }: FetchedSnippets, logger: AstroIntegrationLogger): void {
  for (const { snippet, error } of failed) {
    logger.warn(`${error.message} Its embeds show their children instead, on ${snippet.pages.size} pages.`);
  }
}

async function removeFiles(files: readonly SiteFile[]): Promise<void> {
  for (const { file } of files) await rm(file, { force: true });
}
