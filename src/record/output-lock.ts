import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { z } from 'zod';
import { cleanText } from '../client/clean-text.ts';
import type { Clock } from '../client/clock.ts';
import { writeError } from '../failures/write-error.ts';

const schema = z.object({
  work: z.enum(['build', 'refresh', 'command']),
  /** Tells two locks of one process apart. */
  token: z.string(),
  pid: z.int(),
  /** When the process started, in the system's own units: a pid is given to another process later. */
  started: z.string().optional(),
  host: z.string(),
  since: z.iso.datetime(),
});

/** What a process says about itself in the lock that it holds. */
export type LockHolder = z.infer<typeof schema>;

// Rendering blocks the event loop, so a heartbeat may be late by far.
const heartbeat = 5_000;
const patience = 30_000;
const pause = 100;

/** A lock that this process holds. */
export interface OutputLock {
  /** Tells it apart from any other. */
  token: string;
  /** Gives it back, unless it was taken over. A second call does nothing. Never throws: the work is done. */
  release(): void;
}

/**
 * Takes a lock, or returns who holds it.
 *
 * @throws AstroError if an abandoned lock cannot be removed.
 */
export function takeLock(file: string, work: LockHolder['work']): OutputLock | LockHolder {
  mkdirSync(dirname(file), { recursive: true });
  const token = randomUUID();
  const { pid } = process;
  const since = new Date().toISOString();
  const own: LockHolder = { work, token, pid, started: startOf(pid), host: hostname(), since };
  for (;;) {
    if (create(file, JSON.stringify(own))) return holding(file, own);
    const holder = readHolder(file);
    if (holder === undefined) continue;
    if (!isAbandoned(file, holder)) return holder;
    remove(file, holder.token);
  }
}

export interface WaitOptions {
  /** Called once, if there is something to wait for. */
  onWait(holder: LockHolder): void;
  /** Why this holder is not waited for, if it is not. By default, every holder is. */
  refuse?(holder: LockHolder): Error | undefined;
  clock: Clock;
  signal?: AbortSignal | undefined;
}

/** Takes a lock, and waits until it is free. @throws what `refuse` returns; AstroError as {@link takeLock}. */
export async function waitForLock(
  file: string,
  work: LockHolder['work'],
  { onWait, refuse, clock, signal }: WaitOptions,
): Promise<OutputLock> {
  let isWaiting = false;
  for (;;) {
    const taken = takeLock(file, work);
    if (!isHolder(taken)) return taken;
    const refusal = refuse?.(taken);
    if (refusal !== undefined) throw refusal;
    if (!isWaiting) onWait(taken);
    isWaiting = true;
    await clock.wait(pause, signal);
  }
}

/** Waits until a lock is free, without taking it, since that could make a build fail that has just begun. */
export async function waitUntilFree(
  file: string,
  { onWait, clock, signal }: Omit<WaitOptions, 'refuse'>,
): Promise<void> {
  let isWaiting = false;
  for (;;) {
    const holder = holderOf(file);
    if (holder === undefined) return;
    if (!isWaiting) onWait(holder);
    isWaiting = true;
    await clock.wait(pause, signal);
  }
}

/** Whether a process holds a lock. */
export function isHeld(file: string): boolean {
  return holderOf(file) !== undefined;
}

/** Who holds a lock, and has not lost it. */
export function holderOf(file: string): LockHolder | undefined {
  const holder = readHolder(file);
  return holder === undefined || isAbandoned(file, holder) ? undefined : holder;
}

/** A holder in the middle of a sentence: `the build of process 42 on web-1, since 12:30:05`. */
export function describeHolder({ work, pid, host, since }: LockHolder): string {
  if (pid === 0) return 'another process';
  return `the ${work} of process ${pid} on ${cleanText(host)}, since ${since.slice(11, 19)} UTC`;
}

export function isHolder(result: OutputLock | LockHolder): result is LockHolder {
  return 'pid' in result;
}

function holding(file: string, own: LockHolder): OutputLock {
  const { token, work } = own;
  const beat = setInterval(() => {
    const now = new Date();
    try {
      // A build that failed has not released it, and another process may hold it by now.
      const holder = readHolder(file);
      if (holder?.token === token) utimesSync(file, now, now);
      // A command may empty the folder: `npm ci` does. The lock of a build that failed must not come back.
      else if (holder === undefined && work === 'command') {
        mkdirSync(dirname(file), { recursive: true });
        create(file, JSON.stringify(own));
      }
    } catch {
      // Tried again with the next beat. Without the file, there is nothing to keep alive.
    }
  }, heartbeat).unref();
  let isHeld = true;
  return {
    token,
    release() {
      if (!isHeld) return;
      isHeld = false;
      clearInterval(beat);
      try {
        remove(file, token);
      } catch {
        // Another process takes it over as soon as this one has ended.
      }
    },
  };
}

/** Removes the lock of one holder and no other's: between looking and removing, another process may have taken it. */
function remove(file: string, token: string): void {
  const aside = `${file}.${randomUUID()}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw writeError(file, error, 'The lock of a process that has ended is still there.');
  }
  if (readHolder(aside)?.token !== token) create(file, readFileSync(aside, 'utf8'));
  rmSync(aside, { force: true });
}

/** Writes a file, unless there is one. */
function create(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

const unknown: LockHolder = {
  work: 'build',
  token: '',
  pid: 0,
  host: '',
  since: new Date(0).toISOString(),
};

/** `undefined` if there is no lock. One that cannot be read, or is being written, counts as that of another machine. */
function readHolder(file: string): LockHolder | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : unknown;
  }
}

/**
 * Whether a lock may be taken over. A process takes that of its own build over, because Astro has no hook for a build that
 * failed: a program that builds again after that still holds the lock of the first build.
 */
function isAbandoned(file: string, { work, host, pid, started }: LockHolder): boolean {
  if (host !== hostname()) return silenceOf(file) > patience;
  if (!isAlive(pid) || startOf(pid) !== started) return true;
  return work === 'build' && pid === process.pid;
}

/** How long ago the holder of a lock was last heard of, in milliseconds. */
function silenceOf(file: string): number {
  return Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists, and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** When a process started, where the system tells: field 22 of its `stat`, behind a name that may contain anything. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
