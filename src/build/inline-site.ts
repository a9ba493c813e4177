import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AstroIntegrationLogger } from 'astro';
import { mayHoldEmbeds } from '../embed/index.ts';
import { interruptible } from '../interruption.ts';
import type { Settings } from '../options.ts';
import { HeaderPolicies, type RouteToHeaders } from '../policy/header-policies.ts';
import { removeManifest } from '../publish/manifest.ts';
import { userError } from '../report/user-error.ts';
import type { BuildBeginning } from './begin-build.ts';
import { fetchContents } from './fetch-contents.ts';
import { findEmbeds } from './find-embeds.ts';
import { inlinePages } from './inline-pages.ts';
import { BuildRecord } from './record-build.ts';
import { setAside } from './set-aside.ts';
import { listSiteFiles, type SiteFile, type SiteFiles } from './site-files.ts';
import { describeBuild } from './summary.ts';
import { verifyOutput } from './verify-output.ts';

export interface Site {
  /** Where the pages are. */
  directory: string;
  /** Where to write down what was embedded. */
  manifest: string;
  /** What an adapter will send with the pages. */
  routeToHeaders: RouteToHeaders;
  /** The path under which the site is served. */
  base: string;
}

/**
 * What happens after the pages are generated: scan, fetch, inline, verify. Ends with every embed replaced, or
 * with an error and no page in the output that still holds an embed; also when it is interrupted.
 *
 * @throws AstroError with one report of everything that went wrong.
 */
export async function inlineSite(
  site: Site,
  beginning: BuildBeginning,
  settings: Settings,
  logger: AstroIntegrationLogger,
): Promise<void> {
  const { directory, manifest } = site;
  await interruptible((signal) =>
    setAside(directory, join(dirname(manifest), 'output'), async (aside) => {
      const files = await listSiteFiles(aside);
      const finished = new Set<SiteFile>();
      await removeManifest(manifest);
      let record: BuildRecord | undefined;
      try {
        record = await inlineSnippets(site, files.pages, finished, beginning, settings, logger, signal);
      } catch (error) {
        await removePagesWithEmbeds(files.pages.filter((page) => !finished.has(page)));
        throw error;
      }
      await verify(files, settings.apiKey, logger, signal);
      await record?.write(manifest, directory, settings, beginning.before);
    }),
  );
}

async function inlineSnippets(
  { routeToHeaders, base }: Site,
  pages: readonly SiteFile[],
  finished: Set<SiteFile>,
  beginning: BuildBeginning,
  settings: Settings,
  logger: AstroIntegrationLogger,
  signal: AbortSignal,
): Promise<BuildRecord | undefined> {
  const start = performance.now();
  const found = await findEmbeds(pages, signal);
  if (found.pages.length === 0) return undefined;
  const { contents, counts } = await fetchContents(found, beginning, settings.html, logger, signal);
  const record = new BuildRecord(found.snippets, contents);
  const headers = settings.html.policy === 'hash' ? new HeaderPolicies(routeToHeaders, base) : undefined;
  await inlinePages(found.pages, contents, headers, signal, (page, inlined) => {
    finished.add(page.source);
    record.add(page, inlined);
  });
  logger.info(describeBuild(found, counts, performance.now() - start));
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
