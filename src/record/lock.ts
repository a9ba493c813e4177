import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { type Clock, systemClock } from '../client/clock.ts';
import { userError } from '../failures/errors.ts';
import { hasErrorCode, statsOf } from '../files/read.ts';
import { writeError } from '../files/write.ts';
import { cleanText } from '../text/clean-text.ts';

export interface LockHolder {
  work: 'build' | 'refresh' | 'command';
  /** Tells two locks of one process apart. */
  token: string;
  pid: number;
  /** When the process started, in the system's units: another may get its pid later. */
  started?: string | undefined;
  host: string;
}

// Rendering blocks the event loop: a heartbeat may be late.
const heartbeatInterval = 5_000;

const abandonedAfter = 30_000;

const pollInterval = 100;

const refreshPatience = 60_000;

/** Takes a lock that is free or abandoned. @throws AstroError if an abandoned one cannot be removed. */
export function takeLock(
  file: string,
  work: LockHolder['work'],
):
  | {
      token: string;
      /** Unless it was taken over. Never throws: the work is done. */
      release(): void;
    }
  | undefined {
  const { pid } = process;
  const own: LockHolder = { work, token: randomUUID(), pid, started: startTimeOf(pid), host: hostname() };
  const create = () => writeNew(file, JSON.stringify(own));
  while (!create()) {
    const holder = readHolder(file);
    if (!holder) continue;
    if (!isLockAbandoned(file, holder)) return undefined;
    removeLock(file, holder);
  }
  const beat = setInterval(() => {
    const now = new Date();
    try {
      // Another process may have it: a build that fails does not release it.
      const holder = readHolder(file);
      if (holder?.token === own.token) return utimesSync(file, now, now);
      // `npm ci` empties the folder. The lock of a build that failed must not come back.
      if (!holder && work === 'command') create();
    } catch {
      // Tried again with the next beat.
    }
  }, heartbeatInterval).unref();
  return {
    token: own.token,
    /** Unless it was taken over. Never throws: the work is done. */
    release() {
      clearInterval(beat);
      try {
        removeLock(file, own);
      } catch {
        // Another process takes it once this one has ended.
      }
    },
  };
}

interface WaitOptions {
  log(line: string): void;
  /** Throws if this holder is not waited for. By default, every holder is. */
  refuse?(holder: LockHolder): void;
  clock: Clock;
  signal?: AbortSignal | undefined;
}

/** Takes a lock as soon as it is free. @throws as `refuse` and {@link takeLock}. */
export async function waitForLock(
  file: string,
  work: LockHolder['work'],
  options: WaitOptions,
): Promise<{
  token: string;
  /** Unless it was taken over. Never throws: the work is done. */
  release(): void;
}> {
  for (;;) {
    const lock = takeLock(file, work);
    if (lock) return lock;
    await waitUntilFree(file, options);
  }
}

/** Does not take it: that could fail a build that has just begun. */
export async function waitUntilFree(
  file: string,
  { log, refuse, clock, signal }: WaitOptions,
): Promise<void> {
  let isLogged = false;
  for (let holder = holderOf(file); holder; holder = holderOf(file)) {
    refuse?.(holder);
    if (!isLogged) log(`Waiting for ${describeHolder(holder)}.`);
    isLogged = true;
    await clock.wait(pollInterval, signal);
  }
}

/** Takes the lock of an output. @throws AstroError if another build, or a refresh that takes long, has it. */
export function lockForBuild(
  file: string,
  folder: string,
  log: WaitOptions['log'],
): Promise<{
  token: string;
  /** Unless it was taken over. Never throws: the work is done. */
  release(): void;
}> {
  const until = Date.now() + refreshPatience;
  const refuse = (holder: LockHolder) => {
    if (holder.work === 'refresh' && Date.now() < until) return;
    const message = `${folder} is in use by ${describeHolder(holder)}. The lock file is ${file}.`;
    throw userError('output-in-use', message);
  };
  return waitForLock(file, 'build', { log, refuse, clock: systemClock });
}

/** Who holds a lock, unless it is abandoned. */
export function holderOf(file: string): any {
  const holder = readHolder(file);
  return holder && !isLockAbandoned(file, holder) ? holder : undefined;
}

function describeHolder({ pid, host }: LockHolder) {
  const elsewhere = host === hostname() ? '' : ` on ${cleanText(host)}`;
  return `another astro-snippets process${pid === 0 ? '' : ` (pid ${pid}${elsewhere})`}`;
}

/** Removes a lock, which another process may take in the meantime. */
function removeLock(file: string, { token }: LockHolder) {
  if (readHolder(file)?.token !== token) return;
  const aside = `${file}.${randomUUID()}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return;
    throw writeError(file, error, 'The lock of a process that has ended is still there.');
  }
  if (readHolder(aside)?.token !== token) writeNew(file, readFileSync(aside, 'utf8'));
  rmSync(aside, { force: true });
}

/** @returns `false` if the file exists. */
function writeNew(file: string, text: string) {
  mkdirSync(dirname(file), { recursive: true });
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (hasErrorCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** `undefined` without a lock. One that cannot be read, as if incomplete, counts as another machine's. */
function readHolder(file: string) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    return hasErrorCode(error, 'ENOENT') ? undefined : { work: 'build', token: '', pid: 0, host: '' };
  }
}

/** A program that builds again still has the lock of a build that failed: Astro has no hook for that. */
function isLockAbandoned(file: string, { work, host, pid, started }: LockHolder) {
  if (host !== hostname()) return Date.now() - (statsOf(file)?.mtimeMs ?? 0) > abandonedAfter;
  return !isAlive(pid) || startTimeOf(pid) !== started || (work === 'build' && pid === process.pid);
}

function isAlive(pid: number) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It is another user's.
    return hasErrorCode(error, 'EPERM');
  }
}

/** When a process started: field 22 of its `stat` on Linux, behind a name of any characters. */
function startTimeOf(pid: number) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
