import type { PageToBuild } from '../record/refresh.ts';
import { searchIndexCommand, whyStale } from '../record/side-products/derived-files.ts';
import { type StaleFile, staleFiles, watchFiles } from '../record/side-products/pending.ts';
import { shownName, siteFolders } from '../record/side-products/site-folders.ts';
import type { Project } from './project.ts';

/** What came of the command of `refresh --after`. */
export interface AfterResult {
  /** Its exit status. */
  status: number;
  /** What it should have rebuilt and did not. Empty if it failed. */
  left: StaleFile[];
}

/**
 * Runs the command of `refresh --after`, and looks at what it has rebuilt.
 *
 * @param run returns the exit status of a command.
 */
export async function runAfter(
  command: string,
  stale: readonly StaleFile[],
  run: (command: string) => Promise<number>,
): Promise<AfterResult> {
  const notRenewed = watchFiles(stale);
  const status = await run(command);
  return { status, left: status === 0 ? notRenewed() : [] };
}

/** Files that keep a refresh without a command from writing, by the reason. */
export function linesOf(stale: readonly StaleFile[], why = whyStale): PageToBuild[] {
  return stale.map((file) => ({ name: shownName(file.folder, file.name), reason: why(file) }));
}

/** A refresh was not finished, and there is no file to name. */
export const commandPending: PageToBuild = {
  name: 'The command of the last refresh --after',
  reason: 'has not succeeded yet',
};

/** The option that renews these files. A placeholder stands for a command that cannot be known here. */
export function afterOption(stale: readonly StaleFile[]): string {
  const indexes = stale.filter(({ kind }) => kind === 'search-index');
  const others = stale
    .filter(({ kind }) => kind === 'revision')
    .map(({ folder, name }) => shownName(folder, name));
  const commands = [
    indexes.length === 0 ? [] : searchIndexCommand(indexes),
    others.length === 0 ? [] : `<the command that writes ${others.join(' and ')}>`,
  ].flat();
  return `--after '${commands.join(' && ') || '<command>'}'`;
}

/** What an earlier refresh has left undone: it was interrupted, or its command has failed. */
export function unfinishedOf(
  { file, manifest }: Pick<Project, 'file' | 'manifest'>,
  cwd: string,
): PageToBuild[] {
  const { pending, renewing = [] } = manifest;
  const pages = renewing.map(({ page }) => ({ name: page, reason: 'was not written to all its copies' }));
  const stale = staleFiles(siteFolders(file, manifest, cwd), pending);
  if (pending !== undefined && stale.length === 0) return [...pages, commandPending];
  return [...pages, ...linesOf(stale, () => 'was not renewed after the last refresh')];
}
