import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { type Clock, systemClock } from '../client/clock.ts';
import { userError } from '../failures/errors.ts';
import { hasErrorCode, statsOf } from '../files/read.ts';
import { writeError } from '../files/write.ts';
import { cleanText } from '../text/clean-text.ts';

/** What a lock file says about the process that holds the lock. */
export interface LockHolder {
  work: 'build' | 'refresh' | 'command';
  /** Tells two locks of one process apart. */
  token: string;
  /** The id of the process; 0 if the lock file cannot be read. */
  pid: number;
  /** When the process started, in the system's units: tells it from a later process with the same pid. */
  started?: string | undefined;
  host: string;
}

/** A lock that this process holds. */
export interface HeldLock {
  token: string;
  /** Removes the lock, unless another process has taken it over. Never throws, as the work is done. */
  release(): void;
}

/** How often a holder renews its lock file's time, in milliseconds. */
const heartbeatInterval = 5_000;
/** How late a heartbeat may be, in milliseconds. Rendering blocks the event loop, so it may be very late. */
const abandonedAfter = 30_000;

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
 * @returns `undefined` if another process holds the lock
 * @throws UserError if an abandoned lock cannot be removed
 */
export function takeLock(file: string, work: LockHolder['work']): HeldLock | undefined {
  const { pid } = process;
  const own: LockHolder = { work, token: randomUUID(), pid, started: startTimeOf(pid), host: hostname() };
  const create = () => writeNew(file, JSON.stringify(own));

  while (!create()) {
    const holder = readHolder(file);
    if (holder && !isLockAbandoned(file, holder)) return undefined;
    // Without a holder, the lock has been released meanwhile, so `create` is tried again.
    if (holder) removeLock(file, holder);
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
        removeLock(file, own);
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

/** Takes a lock as soon as it is free. @throws as `refuse` and {@link takeLock} */
export async function waitForLock(
  file: string,
  work: LockHolder['work'],
  options: WaitOptions,
): Promise<HeldLock> {
  for (;;) {
    const lock = takeLock(file, work);
    if (lock) return lock;
    await waitUntilFree(file, options);
  }
}

/** The interval at which a waiting process looks at the lock again, in milliseconds. */
const pollInterval = 100;

/** Waits until a lock is free, but does not take it, as that could fail a build that has just begun. */
export async function waitUntilFree(file: string, options: WaitOptions): Promise<void> {
  const { log, refuse, clock, signal } = options;
  let isLogged = false;
  for (let holder = holderOf(file); holder; holder = holderOf(file)) {
    refuse?.(holder);
    if (!isLogged) log(`Waiting for ${describeHolder(holder)}.`);
    isLogged = true;
    await clock.wait(pollInterval, signal);
  }
}

/** How long a build waits for a running refresh before it fails, in milliseconds. */
const refreshPatience = 60_000;

/** Takes the lock of an output for a build. @throws UserError if another build has it, or a long refresh */
export function lockForBuild(file: string, shownFolder: string, log: WaitOptions['log']): Promise<HeldLock> {
  const waitUntil = Date.now() + refreshPatience;
  const refuse = (holder: LockHolder) => {
    if (holder.work === 'refresh' && Date.now() < waitUntil) return;
    const message = `${shownFolder} is in use by ${describeHolder(holder)}. The lock file is ${file}.`;
    throw userError('output-in-use', message);
  };
  return waitForLock(file, 'build', { log, refuse, clock: systemClock });
}

/** Who holds a lock; `undefined` if it is free or abandoned. */
export function holderOf(file: string): LockHolder | undefined {
  const holder = readHolder(file);
  return holder && !isLockAbandoned(file, holder) ? holder : undefined;
}

function describeHolder({ pid, host }: LockHolder) {
  const elsewhere = host === hostname() ? '' : ` on ${cleanText(host)}`;
  return `another astro-snippets process${pid === 0 ? '' : ` (pid ${pid}${elsewhere})`}`;
}

/** Removes a holder's lock. If another process takes it over meanwhile, that process's lock is put back. */
function removeLock(file: string, { token }: LockHolder): void {
  if (readHolder(file)?.token !== token) return;
  const aside = `${file}.${randomUUID()}`;
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
    throw error;
  }
}

/** Reads a lock, if there is one. A half-written file counts as another machine's, so its age decides. */
function readHolder(file: string): LockHolder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    return hasErrorCode(error, 'ENOENT') ? undefined : { work: 'build', token: '', pid: 0, host: '' };
  }
}

function isLockAbandoned(file: string, { work, host, pid, started }: LockHolder): boolean {
  if (host !== hostname()) return fileSystemTime(file) - (statsOf(file)?.mtimeMs ?? 0) > abandonedAfter;
  // A program that builds again still holds the lock of its failed build, so its own lock is abandoned.
  const isOwnBuild = work === 'build' && pid === process.pid;
  return !isAlive(pid) || startTimeOf(pid) !== started || isOwnBuild;
}

/**
 * The time by the clock of a file system, in milliseconds since the epoch. The clocks of two machines that share
 * a folder may differ by more than a lock stays silent.
 *
 * @param file the path of a file in that file system
 */
function fileSystemTime(file: string): number {
  const probe = join(dirname(file), randomUUID());
  try {
    writeFileSync(probe, '');
    return statSync(probe).mtimeMs;
  } catch {
    // Where nothing can be written, no lock can be taken, so the time only decides what messages say.
    return Date.now();
  } finally {
    rmSync(probe, { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // `EPERM`: the process is alive, but belongs to another user.
    return hasErrorCode(error, 'EPERM');
  }
}

/**
 * When a process started: on Linux, field 22 of `/proc/<pid>/stat`. The program's name, field 2, may contain blanks
 * and parentheses, so fields are counted from the last parenthesis.
 */
function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fieldsAfterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fieldsAfterName[19];
  } catch {
    return undefined;
  }
}
