import { resolve } from 'node:path';
import { systemClock } from '../client/clock.ts';
import { outDirOf } from '../record/manifest.ts';
import { execLockFile, lockFile, possibleLockFiles } from '../record/manifest-file.ts';
import {
  describeHolder,
  holderOf,
  type LockHolder,
  type WaitOptions,
  waitForLock,
  waitUntilFree,
} from '../record/output-lock.ts';
import { printError } from './output.ts';
import { findManifest, manifestPath, type ProjectOptions } from './project.ts';

/** The tokens of the locks that the processes above this one hold, which wait for this one. */
const inherited = 'ASTRO_SNIPPETS_LOCKS';

/**
 * Runs work that runs the command of `--exec` or `--build`, while no other process does so for the same output. One of
 * two at once would empty the folder that the other one deploys.
 *
 * @param work called with whether another process had to end first: what it was for may have been done there.
 */
export async function whileAlone<T>(
  project: ProjectOptions,
  work: (hasWaited: boolean) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const file = await manifestPath(project);
  const tokens = (process.env[inherited] ?? '').split(' ').filter(Boolean);
  let hasWaited = false;
  const options = waiting(signal, () => {
    hasWaited = true;
  });
  // The place of the lock depends on the record, and the first build is what leaves it.
  for (const lock of possibleLockFiles(file).map(execLockFile)) {
    const holder = holderOf(lock);
    // It is running this very process.
    if (holder !== undefined && tokens.includes(holder.token)) return work(false);
    await waitUntilFree(lock, options);
  }
  const manifest = await findManifest(project);
  const outDir = manifest === undefined ? resolve(project.output ?? 'dist') : outDirOf(file, manifest);
  const lock = await waitForLock(execLockFile(lockFile(file, outDir)), 'command', options);
  process.env[inherited] = [...tokens, lock.token].join(' ');
  try {
    return await work(hasWaited);
  } finally {
    process.env[inherited] = tokens.join(' ');
    lock.release();
  }
}

/** Runs work that holds a lock, as soon as it is free. */
export async function whileLocked<T>(
  file: string,
  work: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const lock = await waitForLock(file, 'refresh', waiting(signal));
  try {
    return await work();
  } finally {
    lock.release();
  }
}

/** How a command waits for a lock: it says once for whom. */
export function waiting(signal: AbortSignal | undefined, onWait = (_holder: LockHolder) => {}): WaitOptions {
  return {
    onWait(holder) {
      onWait(holder);
      printError(`Waiting for ${describeHolder(holder)}, to end.`);
    },
    clock: systemClock,
    signal,
  };
}
