import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Clock, systemClock } from '../client/clock.ts';
import { cleanText } from '../client/text.ts';
import { userError } from '../failures/errors.ts';
import { contains } from '../files/paths.ts';
import { statsOf } from '../files/read.ts';
import { writeError } from '../files/write.ts';

export interface LockHolder {
  work: 'build' | 'refresh' | 'command';
  /** Tells two locks of one process apart. */
  token: string;
  pid: number;
  /** When the process started, in the system's own units: another process may get its pid later. */
  started?: string | undefined;
  host: string;
}

// Rendering blocks the event loop, so a heartbeat may be very late.
const heartbeat = 5_000;
const patience = 30_000;
const pause = 100;
const refreshPatience = 60_000;

/** The lock of an output: beside the manifest, unless that is in the folder that Astro empties. */
export function lockFile(manifest: string, outDir: string): string {
  const [beside, elsewhere] = possibleLockFiles(manifest);
  return contains(outDir, manifest) ? elsewhere : beside;
}

/** Where the lock may be, if it is not known what Astro empties. */
export function possibleLockFiles(manifest: string): [beside: string, elsewhere: string] {
  const elsewhere = join(tmpdir(), 'astro-snippets', `${encodeURIComponent(manifest)}.lock`);
  return [manifest.replace(/(\.json)?$/, '.lock'), elsewhere];
}

/**
 * The lock of the commands of `--exec`, `--build` and `--after`, which may take the lock of the output themselves. It is always
 * beside the manifest: it comes back if a command empties the folder.
 */
export function commandLockFile(manifest: string): string {
  const [beside] = possibleLockFiles(manifest);
  return `${beside}.command`;
}

/** Takes a lock that is free or abandoned. @throws AstroError if an abandoned one cannot be removed. */
export function takeLock(file: string, work: LockHolder['work']) {
  const { pid } = process;
  const own: LockHolder = { work, token: randomUUID(), pid, started: startOf(pid), host: hostname() };
  const create = () => writeNew(file, JSON.stringify(own));
  while (!create()) {
    const holder = readHolder(file);
    if (!holder) continue;
    if (!isAbandoned(file, holder)) return undefined;
    remove(file, holder);
  }
  const beat = setInterval(() => {
    const now = new Date();
    try {
      // Another process may hold it by now: a build that failed has not released it.
      const holder = readHolder(file);
      if (holder?.token === own.token) return utimesSync(file, now, now);
      // `npm ci` empties the folder. The lock of a build that failed must not come back.
      if (!holder && work === 'command') create();
    } catch {
      // Tried again with the next beat.
    }
  }, heartbeat).unref();
  return {
    token: own.token,
    /** Unless it was taken over. Never throws: the work is done. */
    release() {
      clearInterval(beat);
      try {
        remove(file, own);
      } catch {
        // Another process takes it over once this one has ended.
      }
    },
  };
}

export interface WaitOptions {
  log(line: string): void;
  /** Throws if this holder is not waited for. By default, every holder is. */
  refuse?(holder: LockHolder): void;
  clock: Clock;
  signal?: AbortSignal | undefined;
}

/** Takes a lock as soon as it is free. @throws as `refuse` and {@link takeLock}. */
export async function waitForLock(file: string, work: LockHolder['work'], options: WaitOptions) {
  let lock = takeLock(file, work);
  for (; !lock; lock = takeLock(file, work)) await waitUntilFree(file, options);
  return lock;
}

/** Waits until a lock is free. To take it could make a build fail that has just begun. */
export async function waitUntilFree(file: string, { log, refuse, clock, signal }: WaitOptions) {
  let isLogged = false;
  for (let holder = holderOf(file); holder; holder = holderOf(file)) {
    refuse?.(holder);
    if (!isLogged) log(`Waiting for ${describeHolder(holder)}.`);
    isLogged = true;
    await clock.wait(pause, signal);
  }
}

/** Takes the lock of an output. @throws AstroError if another build, or a refresh that takes long, has it. */
export function lockForBuild(file: string, folder: string, log: WaitOptions['log']) {
  const until = Date.now() + refreshPatience;
  const refuse = (holder: LockHolder) => {
    if (holder.work === 'refresh' && Date.now() < until) return;
    const message = `${folder} is in use by ${describeHolder(holder)}. The lock file is ${file}.`;
    throw userError('output-in-use', message);
  };
  return waitForLock(file, 'build', { log, refuse, clock: systemClock });
}

/** Who holds a lock, and has not lost it. */
export function holderOf(file: string): LockHolder | undefined {
  const holder = readHolder(file);
  return holder && !isAbandoned(file, holder) ? holder : undefined;
}

function describeHolder({ pid, host }: LockHolder): string {
  const elsewhere = host === hostname() ? '' : ` on ${cleanText(host)}`;
  return `another astro-snippets process${pid === 0 ? '' : ` (pid ${pid}${elsewhere})`}`;
}

/** Removes the lock of one holder: another process may take it in the meantime. */
function remove(file: string, { token }: LockHolder) {
  if (readHolder(file)?.token !== token) return;
  const aside = `${file}.${randomUUID()}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (isCode(error, 'ENOENT')) return;
    throw writeError(file, error, 'The lock of a process that has ended is still there.');
  }
  if (readHolder(aside)?.token !== token) writeNew(file, readFileSync(aside, 'utf8'));
  rmSync(aside, { force: true });
}

/** @returns `false` if the file exists. */
function writeNew(file: string, text: string): boolean {
  mkdirSync(dirname(file), { recursive: true });
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** `undefined` without a lock. One that cannot be read counts as another machine's: it may be incomplete yet. */
function readHolder(file: string): LockHolder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    return isCode(error, 'ENOENT') ? undefined : { work: 'build', token: '', pid: 0, host: '' };
  }
}

/** A program that builds again still holds the lock of a build that failed: Astro has no hook for that. */
function isAbandoned(file: string, { work, host, pid, started }: LockHolder): boolean {
  if (host !== hostname()) {
    const heard = statsOf(file)?.mtimeMs ?? 0;
    return Date.now() - heard > patience;
  }
  return !isAlive(pid) || startOf(pid) !== started || (work === 'build' && pid === process.pid);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // The process exists, and belongs to another user.
    return isCode(error, 'EPERM');
  }
}

/** When a process started: field 22 of its `stat` on Linux, behind a name that may contain anything. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}
