import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

// Where a folder cannot be moved: it is on another disk, is one itself (a volume of a container), or is held open.
const immovable = new Set(['EXDEV', 'EBUSY', 'EPERM', 'EACCES', 'ENOTSUP']);

const prefix = 'output-';

/**
 * Works on a folder where nobody looks for it, and puts it back when the work has ended, well or badly. If the process
 * is killed meanwhile, nothing is where the folder was: no half of a site is taken for a whole one.
 *
 * Where the folder cannot be moved, the work is done in its place.
 *
 * @param aside a folder on the same disk. What killed processes have left in it is removed.
 */
export async function setAside<T>(
  folder: string,
  aside: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  await mkdir(aside, { recursive: true });
  await removeLeftovers(aside);
  // A name for each process, because two may build the same site into two folders at once.
  const place = join(aside, `${prefix}${process.pid}`);
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

async function removeLeftovers(aside: string): Promise<void> {
  for (const name of await readdir(aside)) {
    if (!name.startsWith(prefix)) continue;
    const owner = Number(name.slice(prefix.length));
    if (owner !== process.pid && isRunning(owner)) continue;
    await rm(join(aside, name), { recursive: true, force: true });
  }
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    // Another user's process is there too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
