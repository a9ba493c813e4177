import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

// Where a folder cannot be moved: it is on another disk, is one itself (a volume of a container), or is held open.
const immovable = new Set(['EXDEV', 'EBUSY', 'EPERM', 'EACCES', 'ENOTSUP']);

/**
 * Works on a folder where nobody looks for it, and puts it back when the work has ended, well or badly. If the process
 * is killed meanwhile, nothing is where the folder was: no half of a site is taken for a whole one.
 *
 * Where the folder cannot be moved, the work is done in its place.
 *
 * @param place a path on the same disk. What an earlier run left there is removed.
 */
export async function setAside<T>(
  folder: string,
  place: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  await rm(place, { recursive: true, force: true });
  await mkdir(dirname(place), { recursive: true });
  try {
    await rename(folder, place);
  } catch (error) {
    if (immovable.has((error as NodeJS.ErrnoException).code ?? '')) return work(folder);
    throw error;
  }
  try {
    return await work(place);
  } finally {
    await rename(place, folder);
  }
}
