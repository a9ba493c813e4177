import { hash } from 'node:crypto';
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { hasErrorCode } from './read.ts';

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

/** The path without symbolic links, also of a file or folder that does not exist yet. */
export function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const parent = dirname(path);
    // The root has no parent. If it cannot be resolved, nothing can.
    if (parent === path) return path;
    const place = join(realPathOf(parent), basename(path));
    const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
    // Links in a circle have another code. Following them would not end.
    if (!isLink || !hasErrorCode(error, 'ENOENT')) return place;
    return realPathOf(resolve(dirname(place), readlinkSync(place)));
  }
}

/** The most bytes of a name that gets a suffix. File systems allow 255 bytes in a name, some only 143. */
const longestStem = 64;

/** A name to which a suffix can be added: the name itself or, if it is too long for that, a hash of it. */
export const shortName = (name: string): string =>
  Buffer.byteLength(name) <= longestStem ? name : hash('sha256', name).slice(0, 32);
