import type { PageToBuild } from '../build/refresh.ts';
import { type DerivedFile, searchIndexCommand } from '../build/side-products/derived-files.ts';
import { copyOf } from '../build/side-products/page-copies.ts';
import type { Project } from './project.ts';

/** Files that keep a refresh without a command from writing, and why. */
export function linesOf(stale: readonly DerivedFile[]): PageToBuild[] {
  return stale.map(({ folder, name, reason }) => ({ name: copyOf(folder, name).name, reason }));
}

/** A refresh was not finished: its command was interrupted, or has failed. */
export const commandPending: PageToBuild = {
  name: 'The command of the last refresh --after',
  reason: 'has not succeeded yet',
};

/** The option that renews these files. A placeholder stands for a command that cannot be known here. */
export function afterOption(stale: readonly DerivedFile[]): string {
  const indexes = stale.filter(({ isIndex }) => isIndex);
  const others = stale.filter(({ isIndex }) => !isIndex).map(({ folder, name }) => copyOf(folder, name).name);
  const commands = [
    indexes.length === 0 ? [] : searchIndexCommand(indexes),
    others.length === 0 ? [] : `<the command that writes ${others.join(' and ')}>`,
  ].flat();
  return `--after '${commands.join(' && ')}'`;
}

/** What an earlier refresh has left undone: it was interrupted, or its command has failed. */
export function unfinishedOf({ manifest: { pending, files } }: Pick<Project, 'manifest'>): PageToBuild[] {
  const pages = files
    .filter(({ next }) => next !== undefined)
    .map(({ name }) => ({ name, reason: 'was being written when a refresh was interrupted' }));
  return pending ? [...pages, commandPending] : pages;
}
