import { readFile, rm } from 'node:fs/promises';
import type { AstroIntegrationLogger } from 'astro';
import { mayHoldEmbeds } from '../embed/index.ts';
import { interruptible } from '../interruption.ts';
import type { Settings } from '../options.ts';
import { removeManifest } from '../publish/manifest.ts';
import { userError } from '../report/user-error.ts';
import type { BuildBeginning } from './begin-build.ts';
import { fetchContents } from './fetch-contents.ts';
import { findEmbeds } from './find-embeds.ts';
import { inlinePages } from './inline-pages.ts';
import { BuildRecord } from './record-build.ts';
import { listSiteFiles, type SiteFile, type SiteFiles } from './site-files.ts';
import { describeBuild } from './summary.ts';
import { verifyOutput } from './verify-output.ts';

export interface Site {
  /** Where the pages are. */
  directory: string;
  /** Where to write down what was embedded. */
  manifest: string;
}

/**
 * What happens after the pages are generated: scan, fetch, inline, verify. Ends with every embed replaced, or
 * with an error and no page in the output that still holds an embed; also when it is interrupted.
 *
 * @throws AstroError with one report of everything that went wrong.
 */
export async function inlineSite(
  { directory, manifest }: Site,
  beginning: BuildBeginning,
  settings: Settings,
  logger: AstroIntegrationLogger,
): Promise<void> {
  const files = await listSiteFiles(directory);
  await interruptible(async (signal) => {
    const finished = new Set<SiteFile>();
    await removeManifest(manifest);
    let record: BuildRecord | undefined;
    try {
      record = await inlineSnippets(files.pages, finished, beginning, logger, signal);
    } catch (error) {
      await removePagesWithEmbeds(files.pages.filter((page) => !finished.has(page)));
      throw error;
    }
    await verify(files, settings.apiKey, logger, signal);
    await record?.write(manifest, directory, settings, beginning.before);
  });
}

async function inlineSnippets(
  pages: readonly SiteFile[],
  finished: Set<SiteFile>,
  beginning: BuildBeginning,
  logger: AstroIntegrationLogger,
  signal: AbortSignal,
): Promise<BuildRecord | undefined> {
  const start = performance.now();
  const site = await findEmbeds(pages, signal);
  if (site.pages.length === 0) return undefined;
  const { contents, counts } = await fetchContents(site, beginning, logger, signal);
  const record = new BuildRecord(site.snippets, contents);
  await inlinePages(site.pages, contents, signal, (page, inlined) => {
    finished.add(page.source);
    record.add(page, inlined);
  });
  logger.info(describeBuild(site, counts, performance.now() - start));
  return record;
}

async function verify(
  files: SiteFiles,
  apiKey: string | undefined,
  logger: AstroIntegrationLogger,
  signal: AbortSignal,
): Promise<void> {
  const { withKey, withEmbed } = await verifyOutput(files, apiKey, signal);
  for (const { name } of withEmbed) {
    logger.warn(`${name} holds an embed, but is no HTML page: nothing will replace it there.`);
  }
  if (withKey.length === 0) return;
  for (const { file } of withKey) await rm(file, { force: true });
  throw userError(
    `The API key would have been published in ${withKey.map(({ name }) => name).join(', ')}. The build stops here, and what held it was removed.`,
    'Find out how the key came there (a PUBLIC_ variable, a snippet that holds it, a value printed into a page), and replace the key.',
  );
}

async function removePagesWithEmbeds(pages: readonly SiteFile[]): Promise<void> {
  for (const { file } of pages) {
    if (mayHoldEmbeds(await readFile(file))) await rm(file, { force: true });
  }
}
