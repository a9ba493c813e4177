import { planRefresh } from '../publish/refresh.ts';
import { type BroughtUpToDate, bringUpToDate } from './bring-up-to-date.ts';
import { exitCodes } from './exit-codes.ts';
import { nameOf, print, printPatch } from './print.ts';
import { askForChanges, type ProjectOptions } from './project.ts';

export interface RefreshOptions {
  dryRun?: boolean;
  skipModified?: boolean;
}

/** `astro-snippets refresh`: brings the built site up to date without building it again. */
export async function refresh(project: ProjectOptions, options: RefreshOptions): Promise<void> {
  const { written, toBuild } = options.dryRun
    ? await showRefresh(project)
    : await bringUpToDate(project, options);
  for (const name of written) print(`${name} ${options.dryRun ? 'would be written' : 'is up to date'}`);
  for (const { name, why } of toBuild) print(`${name} ${why}`);
  if (written.length + toBuild.length === 0) print('Nothing has changed.');
  if (toBuild.length > 0) print(adviceFor(options));
  process.exitCode = toBuild.length > 0 ? exitCodes.needsBuild : exitCodes.ok;
}

/** Shows what would change, and writes nothing. */
async function showRefresh(project: ProjectOptions): Promise<BroughtUpToDate> {
  const { file, manifest, contents } = await askForChanges(project);
  const { pages, toBuild } = await planRefresh(file, manifest, contents);
  const { diffContents } = await import('../publish/content-diff.ts');
  for (const diff of diffContents(manifest, pages)) {
    print(`${nameOf(diff)}, on ${diff.pages.length} ${diff.pages.length === 1 ? 'page' : 'pages'}`);
    printPatch(diff.patch);
  }
  return { written: pages.map(({ page }) => page.name), toBuild };
}

function adviceFor({ dryRun = false, skipModified = false }: RefreshOptions): string {
  if (skipModified) return 'Build the site to bring those up to date too.';
  return `Nothing ${dryRun ? 'would be' : 'was'} written. Build the site, or go on with the other pages: --skip-modified.`;
}
