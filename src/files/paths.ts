import { isAbsolute, relative, sep } from 'node:path';

/** A path relative to a folder, with slashes on all systems. */
export const pathFrom = (folder: string, path: string): string => relative(folder, path).replaceAll(sep, '/');

/** A path as messages show it: relative to the current folder. */
export const shownPath = (cwd: string, path: string): string => pathFrom(cwd, path) || '.';

/** Whether a path is a folder, or something in it. */
export function contains(folder: string, path: string): boolean {
  const pathInside = relative(folder, path);
  // On Windows, the relative path to another drive is absolute.
  return !isAbsolute(pathInside) && pathInside !== '..' && !pathInside.startsWith(`..${sep}`);
}
