import { isAbsolute, relative, sep } from 'node:path';

/** With slashes, on all systems. */
export function pathFrom(folder: string, path: string): string {
  return relative(folder, path).split(sep).join('/');
}

/** A path from where people are, as messages show it. */
export function shownPath(cwd: string, path: string): string {
  return pathFrom(cwd, path) || '.';
}

/** Whether a path is a folder, or something in it. */
export function contains(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return !isAbsolute(inside) && inside !== '..' && !inside.startsWith(`..${sep}`);
}
