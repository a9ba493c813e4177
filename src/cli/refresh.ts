import { findChanges } from '../publish/changes.ts';
import { planRefresh } from '../publish/refresh.ts';
import { bringUpToDate } from './bring-up-to-date.ts';
import { exitCodes } from './exit-codes.ts';
import { nameOf, print, printPatch } from './print.ts';
import { connect, openProject, type ProjectOptions } from './project.ts';

export interface RefreshOptions {
  dryRun?: boolean;
  skipModified?: boolean;
}

/** `astro-snippets refresh`: brings the built site up to date without building it again. */
export async function refresh(project: ProjectOptions, options: RefreshOptions): Promise<void> {
  const { written, modified } = options.dryRun
    ? await showRefresh(project)
    : await bringUpToDate(project, options);
  for (const name of written) print(`${name} ${options.dryRun ? 'would be written' : 'is up to date'}`);
  for (const name of modified) print(`${name} was changed after the build`);
  if (written.length + modified.length === 0) print('Nothing has changed.');
  if (modified.length > 0) print(adviceFor(options));
  process.exitCode = modified.length > 0 ? exitCodes.needsBuild : exitCodes.ok;
}

/** Shows what would change, and writes nothing. */
async function showRefresh(project: ProjectOptions): Promise<{ written: string[]; modified: string[] }> {
  const { file, manifest } = await openProject(project);
  const client = await connect(project);
  try {
    const { contents } = await findChanges(manifest, client);
    const { pages, modified } = await planRefresh(file, manifest, contents);
    const { diffContents } = await import('../publish/content-diff.ts');
    for (const diff of diffContents(manifest, pages)) {
      print(`${nameOf(diff)}, on ${diff.pages.length} ${diff.pages.length === 1 ? 'page' : 'pages'}`);
      printPatch(diff.patch);
    }
    return { written: pages.map(({ page }) => page.name), modified };
  } finally {
    await client.close();
  }
}

function adviceFor({ dryRun = false, skipModified = false }: RefreshOptions): string {
  if (skipModified) return 'Build the site to bring those up to date too.';
  return `Nothing ${dryRun ? 'would be' : 'was'} written. Build the site, or go on with the other pages: --skip-modified.`;
}
