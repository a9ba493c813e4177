import { count } from '../client/format.ts';
import { containsKnownKey } from '../client/known-keys.ts';
import { listPlaces } from '../failures/report.ts';
import { userError } from '../failures/user-error.ts';
import { type PageToBuild, planRefresh, type RefreshedPage, writeRefresh } from '../record/refresh.ts';
import { exitCodes, nameOf, print, printError, printPatch } from './output.ts';
import { openChanges, type ProjectOptions } from './project.ts';

export interface RefreshOptions {
  dryRun?: boolean;
  skipModified?: boolean;
}

export interface RefreshResult {
  /** The pages that were written. */
  written: string[];
  /** The pages that only a build can update. Nothing was written, unless these are skipped. */
  toBuild: PageToBuild[];
}

/** `astro-snippets refresh`: updates the built site without building it again. */
export async function refresh(project: ProjectOptions, options: RefreshOptions): Promise<void> {
  const { written, toBuild } = options.dryRun
    ? await previewRefresh(project)
    : await updateSite(project, options);
  for (const name of written) print(`${name} ${options.dryRun ? 'would be written' : 'is up to date'}`);
  for (const { name, reason } of toBuild) print(`${name} ${reason}`);
  if (written.length + toBuild.length === 0) print('Nothing has changed.');
  if (toBuild.length > 0) print(nextStep(options));
  process.exitCode = toBuild.length > 0 ? exitCodes.needsBuild : exitCodes.ok;
}

/**
 * Writes what has changed since the build into the pages of the project in the current folder.
 *
 * @throws AstroError with one report if a snippet could not be fetched. Nothing was written then.
 */
export async function updateSite(
  project: ProjectOptions,
  { skipModified = false }: Pick<RefreshOptions, 'skipModified'>,
  signal?: AbortSignal,
): Promise<RefreshResult> {
  const { file, manifest, snippets, warnings } = await openChanges(project, signal);
  const plan = await planRefresh(file, manifest, snippets);
  refuseKey(plan.pages);
  const { pages, toBuild } = plan;
  if (pages.length === 0 || (toBuild.length > 0 && !skipModified)) return { written: [], toBuild };
  for (const warning of warnings) printError(warning);
  await writeRefresh(file, manifest, snippets, plan);
  return { written: pages.map(({ page }) => page.name), toBuild };
}

async function previewRefresh(project: ProjectOptions): Promise<RefreshResult> {
  const { file, manifest, snippets } = await openChanges(project);
  const { pages, toBuild } = await planRefresh(file, manifest, snippets);
  refuseKey(pages);
  const { diffContents } = await import('../record/content-diff.ts');
  for (const diff of diffContents(manifest, pages)) {
    print(`${nameOf(diff.request)}, on ${count(diff.pages.length, 'page')}`);
    printPatch(diff.patch);
  }
  return { written: pages.map(({ page }) => page.name), toBuild };
}

/** @throws AstroError if a page would contain the API key, as a build does. */
function refuseKey(pages: readonly RefreshedPage[]): void {
  const names = pages.filter(({ after }) => containsKnownKey(after.toString())).map(({ page }) => page.name);
  if (names.length === 0) return;
  throw userError('published-key', `The API key would be in ${listPlaces(names)}. Nothing was written.`);
}

function nextStep({ dryRun = false, skipModified = false }: RefreshOptions): string {
  if (skipModified) return 'Build the site to update these pages too.';
  return `Nothing ${dryRun ? 'would be' : 'was'} written. Build the site, or update the other pages with --skip-modified.`;
}
