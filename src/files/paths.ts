import { isAbsolute, relative, sep } from 'node:path';

/** With slashes, on all systems. */
export const pathFrom = (folder: string, path: string): string => relative(folder, path).replaceAll(sep, '/');

/** As messages show it. */
export const shownPath = (cwd: string, path: string): string => pathFrom(cwd, path) || '.';

/** Whether a path is a folder, or something in it. */
export function contains(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return !isAbsolute(inside) && inside !== '..' && !inside.startsWith(`..${sep}`);
}
