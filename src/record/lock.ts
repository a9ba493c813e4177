import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { type Clock, systemClock } from '../client/clock.ts';
import { userError } from '../failures/errors.ts';
import { hasErrorCode } from '../files/read.ts';
import { writeError } from '../files/write.ts';
import {
  describeHolder,
  fileSystemTime,
  holderOf,
  isLockAbandoned,
  type LockHolder,
  readHolder,
  startTimeOf,
} from './lock-holder.ts';

/** Something that one process at a time can hold. */
export interface Lock {
  /** Takes the lock, if it is free or abandoned. @returns `undefined` if another process holds it */
  take(work: LockHolder['work']): HeldLock | undefined;
  /** Who holds the lock; `undefined` if it is free or abandoned. */
  holder(): LockHolder | undefined;
}

/** A lock that this process holds. */
export interface HeldLock {
  token: string;
  /** Which processes the lock does not keep away, and why, as a sentence to print. */
  flaw?: string | undefined;
  /** Removes the lock, unless another process has taken it over. Never throws, as the work is done. */
  release(): void;
}

/** How often a holder renews its lock file's time, in milliseconds. */
const heartbeatInterval = 5_000;

/** A lock that is a single file. */
export const fileLock = (file: string): Lock => ({
  take: (work) => takeLock(file, work),
  holder: () => holderOf(file),
});

/**
 * Takes a lock that is free or abandoned. It keeps two processes from changing one output at the same time.
 *
 * - **Taken**: the lock is a file, which only one process can create. It names its {@link LockHolder}.
 * - **Beating**: the holder sets the file's time every 5 seconds, which tells other machines that it lives.
 * - **Abandoned**: on the same machine, as soon as the holder has ended; on another one, after 30 seconds
 *   without a beat. The lock of a build also counts as abandoned for its own process: Astro has no hook for a
 *   build that failed.
 * - **Taken over**: the next process renames the file of an abandoned lock, checks that it has the right one,
 *   and creates its own. The former holder sees another token, and leaves the file alone.
 * - **Released**: the holder removes its file the same way. A process that is killed releases nothing.
 *
 * @param about what the lock file says besides its holder
 * @returns `undefined` if another process holds the lock
 * @throws UserError if an abandoned lock cannot be removed
 */
export function takeLock(file: string, work: LockHolder['work'], about: object = {}): HeldLock | undefined {
  const { pid } = process;
  const own = { work, token: randomUUID(), pid, started: startTimeOf(pid), host: hostname(), ...about };
  const create = () => writeNew(file, JSON.stringify(own));

  while (!create()) {
    const holder = readHolder(file);
    if (holder && !isLockAbandoned(holder)) return undefined;
    // Without a holder, the lock has been released meanwhile, so `create` is tried again.
    if (holder) removeLock(file, holder.token);
  }

  const beat = () => {
    try {
      const now = new Date(fileSystemTime(file));
      const holder = readHolder(file);
      if (holder?.token === own.token) utimesSync(file, now, now);
      // A command may empty the folder, as `npm ci` does, so its lock comes back. The lock of a build must
      // not: the build may have failed, and would lock the output for as long as its process runs.
      else if (!holder && work === 'command') create();
    } catch {
      // The next beat tries again.
    }
  };
  const heartbeat = setInterval(beat, heartbeatInterval).unref();

  return {
    token: own.token,
    release() {
      clearInterval(heartbeat);
      try {
        removeLock(file, own.token);
      } catch {
        // Another process takes the lock over once this one has ended.
      }
    },
  };
}

export interface WaitOptions {
  /** Called once with what is waited for, if the lock is not free. */
  log(line: string): void;
  /** Throws to end the wait for this holder. By default, every holder is waited for. */
  refuse?(holder: LockHolder): void;
  clock: Clock;
  signal?: AbortSignal | undefined;
}

/** Takes a lock as soon as it is free, and logs its flaw. @throws as `refuse` and {@link takeLock} */
export async function waitForLock(
  lock: Lock,
  work: LockHolder['work'],
  options: WaitOptions,
): Promise<HeldLock> {
  for (;;) {
    const held = lock.take(work);
    if (held?.flaw !== undefined) options.log(held.flaw);
    if (held) return held;
    await waitUntilFree(lock, options);
  }
}

/** The interval at which a waiting process looks at the lock again, in milliseconds. */
const pollInterval = 100;

/** Waits until a lock is free, but does not take it, as that could fail a build that has just begun. */
export async function waitUntilFree(lock: Lock, options: WaitOptions): Promise<void> {
  const { log, refuse, clock, signal } = options;
  let isLogged = false;
  // Looking at the holder's own file is cheap, while finding a holder may search a large folder.
  const isStillHeld = ({ file, token }: LockHolder) => holderOf(file)?.token === token;
  for (let holder = lock.holder(); holder; holder = isStillHeld(holder) ? holder : lock.holder()) {
    refuse?.(holder);
    if (!isLogged) log(`Waiting for ${describeHolder(holder)}.`);
    isLogged = true;
    await clock.wait(pollInterval, signal);
  }
}

/** How long a build waits for a running refresh before it fails, in milliseconds. */
const refreshPatience = 60_000;

/** Takes the lock of an output for a build. @throws UserError if another build has it, or a long refresh */
export function lockForBuild(lock: Lock, shownFolder: string, log: WaitOptions['log']): Promise<HeldLock> {
  const waitUntil = Date.now() + refreshPatience;
  const refuse = (holder: LockHolder) => {
    if (holder.work === 'refresh' && Date.now() < waitUntil) return;
    const message = `${shownFolder} is in use by ${describeHolder(holder)}. The lock file is ${holder.file}.`;
    throw userError('output-in-use', message);
  };
  return waitForLock(lock, 'build', { log, refuse, clock: systemClock });
}

/** Removes a holder's lock. If another process takes it over meanwhile, that process's lock is put back. */
function removeLock(file: string, token: string): void {
  if (readHolder(file)?.token !== token) return;
  const aside = join(dirname(file), `astro-snippets-${randomUUID()}.tmp`);
  try {
    renameSync(file, aside);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return;
    throw writeError(file, error, 'The lock of a process that has ended is still there.');
  }
  // If another process created its own file between the check above and the rename, put that back.
  if (readHolder(aside)?.token !== token) writeNew(file, readFileSync(aside, 'utf8'));
  rmSync(aside, { force: true });
}

/** Creates a file. @returns `false` if it exists already */
function writeNew(file: string, text: string): boolean {
  mkdirSync(dirname(file), { recursive: true });
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (hasErrorCode(error, 'EEXIST')) return false;
    // A full disk leaves an empty file, which would count as the lock of another machine.
    rmSync(file, { force: true });
    throw error;
  }
}
