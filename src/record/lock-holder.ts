import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { hasErrorCode, statsOf } from '../files/read.ts';
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
  /** The path of the lock file. */
  file: string;
  /** What the process writes, for messages, if it is not the same output. */
  writes?: string | undefined;
}

/** Who holds a lock; `undefined` if it is free or abandoned. */
export function holderOf(file: string): LockHolder | undefined {
  const holder = readHolder(file);
  return holder && !isLockAbandoned(holder) ? holder : undefined;
}

/** Names a holder in a message. */
export function describeHolder({ pid, host, writes }: LockHolder): string {
  const elsewhere = host === hostname() ? '' : ` on ${cleanText(host)}`;
  const process = `another astro-snippets process${pid === 0 ? '' : ` (pid ${pid}${elsewhere})`}`;
  return writes === undefined ? process : `${process}, which writes ${cleanText(writes)}`;
}

/** Reads a lock, if there is one. A half-written file counts as another machine's, so its age decides. */
export function readHolder(file: string): LockHolder | undefined {
  try {
    const holder = JSON.parse(readFileSync(file, 'utf8'));
    if (isHolder(holder)) return { ...holder, file };
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined;
  }
  return { work: 'build', token: '', pid: 0, host: '', file };
}

/** Whether a lock file has what a holder writes: the disk may have damaged it. */
function isHolder(holder: Partial<LockHolder> | null): holder is LockHolder {
  const { token, pid = 0, host } = holder ?? {};
  return typeof token === 'string' && typeof host === 'string' && Number.isInteger(pid) && pid > 0;
}

/** How late a heartbeat may be, in milliseconds. Rendering blocks the event loop, so it may be very late. */
const abandonedAfter = 30_000;

/** Whether a holder has ended, or has been silent on another machine for so long that it counts as ended. */
export function isLockAbandoned({ file, work, host, pid, started }: LockHolder): boolean {
  if (host !== hostname()) return fileSystemTime(file) - (statsOf(file)?.mtimeMs ?? 0) > abandonedAfter;
  // A program that builds again still holds the lock of its failed build, so its own lock is abandoned.
  const isOwnBuild = work === 'build' && pid === process.pid;
  return !isAlive(pid) || isLaterProcess(pid, started) || isOwnBuild;
}

/** Whether a pid belongs to a later process now. Systems may hide when the processes of others started. */
function isLaterProcess(pid: number, started: string | undefined): boolean {
  const startedNow = startTimeOf(pid);
  return started !== undefined && startedNow !== undefined && started !== startedNow;
}

/**
 * The time by the clock of a file system, in milliseconds since the epoch. The clocks of two machines that share
 * a folder may differ by more than a lock stays silent.
 *
 * @param file the path of a file in that file system
 */
export function fileSystemTime(file: string): number {
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
export function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fieldsAfterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fieldsAfterName[19];
  } catch {
    return undefined;
  }
}
