import { readFile, rm } from 'node:fs/promises';
import type { AstroIntegrationLogger } from 'astro';
import { mayHoldEmbeds } from '../embed/index.ts';
import type { Settings } from '../options.ts';
import { HeaderPolicies, type RouteToHeaders } from '../policy/header-policies.ts';
import { removeManifest } from '../publish/manifest.ts';
import { userError } from '../report/user-error.ts';
import type { BuildBeginning } from './begin-build.ts';
import { fetchContents } from './fetch-contents.ts';
import { findEmbeds } from './find-embeds.ts';
import { inlinePages } from './inline-pages.ts';
import { BuildRecord } from './record-build.ts';
import { listSiteFiles, type SiteFile } from './site-files.ts';
import { describeBuild } from './summary.ts';
import { OutputVerifier } from './verify-output.ts';

export interface Site {
  /** Where the output belongs. */
  directory: string;
  /** Where it is while it is worked on. */
  aside: string;
  /** Where to write down what was embedded. */
  manifest: string;
  /** What an adapter will send with the pages. */
  routeToHeaders: RouteToHeaders;
  /** The path under which the site is served. */
  base: string;
}

/**
 * What happens after the pages are generated: scan, fetch, inline, verify. Ends with every embed replaced, or
 * with an error and no page in the output that still holds an embed.
 *
 * @throws AstroError with one report of everything that went wrong.
 */
export async function inlineSite(
  site: Site,
  beginning: BuildBeginning,
  settings: Settings,
  logger: AstroIntegrationLogger,
  signal: AbortSignal,
): Promise<void> {
  const { directory, aside, manifest } = site;
  const files = listSiteFiles(aside);
  const finished = new Set<SiteFile>();
  await removeManifest(manifest);
  const verifier = new OutputVerifier(settings.apiKey);
  const pages: Pages = { files: files.pages, finished, verifier };
  let record: BuildRecord | undefined;
  try {
    record = await inlineSnippets(site, pages, beginning, settings, logger, signal);
  } catch (error) {
    await beginning.end();
    await removePagesWithEmbeds(files.pages.filter((page) => !finished.has(page)));
    throw error;
  }
  await verifier.texts(files.texts, signal);
  await report(verifier, logger);
  await record?.write(manifest, directory, settings, beginning.before);
}

/** The pages of the output, which of them are as they will be published, and who looks at those. */
interface Pages {
  files: readonly SiteFile[];
  finished: Set<SiteFile>;
  verifier: OutputVerifier;
}

async function inlineSnippets(
  { routeToHeaders, base }: Site,
  { files, finished, verifier }: Pages,
  beginning: BuildBeginning,
  settings: Settings,
  logger: AstroIntegrationLogger,
  signal: AbortSignal,
): Promise<BuildRecord | undefined> {
  const start = performance.now();
  const found = await findEmbeds(files, signal, (file, bytes) => verifier.page(file, bytes), beginning.ask);
  if (found.pages.length === 0) return undefined;
  const { contents, counts } = await fetchContents(found, beginning, settings.html, logger, signal);
  const record = new BuildRecord(found.snippets, contents);
  const headers = settings.html.policy === 'hash' ? new HeaderPolicies(routeToHeaders, base) : undefined;
  await inlinePages(found.pages, contents, headers, signal, (page, inlined) => {
    finished.add(page.source);
    verifier.page(page.source, inlined.page);
    record.add(page, inlined);
  });
  logger.info(describeBuild(found, counts, performance.now() - start));
  return record;
}

/** @throws AstroError when the API key is in the output. What held it is gone then. */
async function report({ withKey, withEmbed }: OutputVerifier, logger: AstroIntegrationLogger): Promise<void> {
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
