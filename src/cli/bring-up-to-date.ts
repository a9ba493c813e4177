import { type PageToBuild, planRefresh, writeRefresh } from '../publish/refresh.ts';
import { askForChanges, type ProjectOptions } from './project.ts';

export interface BroughtUpToDate {
  /** Pages that were written. */
  written: string[];
  /** Pages that only a build can bring up to date. Unless they are to be skipped, nothing was written then. */
  toBuild: PageToBuild[];
}

/**
 * Puts what was published since into the built site of the project in the current folder.
 *
 * @throws AstroError with the report of a build, when there is a snippet that cannot be had. Nothing was written then.
 */
export async function bringUpToDate(
  project: ProjectOptions,
  { skipModified = false }: { skipModified?: boolean },
  signal?: AbortSignal,
): Promise<BroughtUpToDate> {
  const { file, manifest, contents, warnings } = await askForChanges(project, signal);
  const refresh = await planRefresh(file, manifest, contents);
  const { pages, toBuild } = refresh;
  if (pages.length === 0 || (toBuild.length > 0 && !skipModified)) return { written: [], toBuild };
  for (const warning of warnings) process.stderr.write(`${warning}\n`);
  await writeRefresh(file, manifest, contents, refresh);
  return { written: pages.map(({ page }) => page.name), toBuild };
}
