import { isAbsolute, relative, sep } from 'node:path';

/** A path relative to a folder, with slashes on all systems. */
export const pathFrom = (folder: string, path: string): string => relative(folder, path).replaceAll(sep, '/');

/** A path as messages show it: relative to `cwd`, or `.` for `cwd` itself. */
export const shownPath = (cwd: string, path: string): string => pathFrom(cwd, path) || '.';

/** Whether a path is the folder itself, or inside it. */
export function contains(folder: string, path: string): boolean {
  const pathInside = relative(folder, path);
  // On Windows, `relative` returns an absolute path for another drive, which is not inside the folder.
  return !isAbsolute(pathInside) && pathInside !== '..' && !pathInside.startsWith(`..${sep}`);
}
