import { mkdirSync, renameSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

// Where a folder cannot be moved: it is on another disk, is one itself (a volume of a container), or is held open.
const immovable = new Set(['EXDEV', 'EBUSY', 'EPERM', 'EACCES', 'ENOTSUP']);

const day = 24 * 60 * 60 * 1000;

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
  // A name of its own, because two may build the same site into two folders at once.
  const place = join(aside, `output-${process.pid}-${Date.now()}`);
  try {
    // At once, and not in turns: until it is moved, it is in sight.
    mkdirSync(aside, { recursive: true });
    renameSync(folder, place);
  } catch (error) {
    if (immovable.has((error as NodeJS.ErrnoException).code ?? '')) return work(folder);
    throw error;
  }
  try {
    await removeLeftovers(aside);
    return await work(place);
  } finally {
    renameSync(place, folder);
  }
}

async function removeLeftovers(aside: string): Promise<void> {
  for (const name of await readdir(aside)) {
    const [, owner, since] = /^output-(\d+)-(\d+)$/.exec(name) ?? [];
    if (owner === undefined) continue;
    // In a container every build may have the same number; none takes a day.
    if (isRunning(Number(owner)) && Date.now() - Number(since) < day) continue;
    // What cannot be removed is in nobody's way.
    await rm(join(aside, name), { recursive: true, force: true }).catch(() => {});
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
