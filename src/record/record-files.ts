import { hash, randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type Clock, systemClock } from '../client/clock.ts';
import { cleanText } from '../client/text.ts';
import { userError } from '../failures/errors.ts';
import { contains, pathFrom, statsOf, writeError } from '../files/files.ts';
import type { Manifest } from './manifest.ts';

/** Of one output: in Astro's cache directory, or without Astro in `.cache`. */
export function manifestFile({ cacheDir, root, outDir }: Record<'cacheDir' | 'root' | 'outDir', string>) {
  const name = pathFrom(root, outDir);
  const parts = ['manifest', ...(name === 'dist' ? [] : [encodeURIComponent(name)])];
  // Projects may share another folder. With a relative path, both can be moved together.
  if (!contains(root, cacheDir)) parts.push(hash('sha256', pathFrom(cacheDir, outDir)).slice(0, 8));
  return join(cacheDir, 'astro-snippets', `${parts.join('.')}.json`);
}

/** Where a project may have caches: its config is not loaded. New ones are in the first folder. */
export function cacheDirsOf(root: string): [own: string, other: string] {
  const [astro, other] = [join(root, 'node_modules/.astro'), join(root, '.cache')];
  const usesAstro = readdirSync(root).some((name) => /^astro\.config\.[cm]?[jt]s$/.test(name));
  return usesAstro ? [astro, other] : [other, astro];
}

/** The manifest of an output folder, or where it would be. */
export function manifestOf(root: string, outDir: string) {
  const files = cacheDirsOf(root).map((cacheDir) => manifestFile({ cacheDir, root, outDir }));
  return files.find(existsSync) ?? files[0] ?? '';
}

export const listManifests = (root: string) =>
  cacheDirsOf(root).flatMap((dir) => manifestsIn(join(dir, 'astro-snippets')));

/** All manifests in a folder. A running build has none, but a lock. */
export function manifestsIn(folder: string) {
  const records = namesIn(folder).flatMap((name) => {
    const [, record, kind] = /^(manifest(?:\..+)?)\.(json|lock)$/.exec(name) ?? [];
    const isThere = kind === 'json' || (kind === 'lock' && holderOf(join(folder, name)));
    return isThere ? join(folder, `${record}.json`) : [];
  });
  return [...new Set(records)];
}

const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);

const stemOf = (manifest: string) => manifest.replace(/\.json$/, '');

/** Its pack, and those of earlier ones. Several sites may share the folder. */
export function listPacks(manifest: string) {
  const stem = basename(stemOf(manifest));
  const isPack = (name: string) =>
    name.startsWith(stem) && /^\.[0-9a-f]{16}\.pack$/.test(name.slice(stem.length));
  return namesIn(dirname(manifest))
    .filter(isPack)
    .map((name) => join(dirname(manifest), name));
}

export const packFile = (manifest: string, id: string | undefined) => `${stemOf(manifest)}.${id}.pack`;

/** @param record names the pack that stays. */
export function removeOtherPacks(manifest: string, record?: Manifest) {
  const own = packFile(manifest, record?.pack?.id);
  for (const file of listPacks(manifest)) if (file !== own) rmSync(file, { force: true });
}

/** A file that says, as a sentence, why there is no manifest. */
export const missingNote = (manifest: string) => `${manifest}.missing`;

/** @param why a sentence, or the error of a build, whose beginning is noted */
export function noteMissing(manifest: string, why: string | Error) {
  const note = typeof why === 'string' ? why : `The last build failed: ${startOf(why)}`;
  mkdirSync(dirname(manifest), { recursive: true });
  writeFileSync(missingNote(manifest), note);
}

/** Removes a manifest and its pages, and notes why. */
export function removeManifest(manifest: string, why: string | Error) {
  rmSync(manifest, { force: true });
  removeOtherPacks(manifest);
  noteMissing(manifest, why);
}

function startOf({ message }: Error) {
  const lines = message.split('\n\n', 2).map((paragraph) => paragraph.split('\n', 1)[0]);
  return lines.filter(Boolean).join(' ').replace(/\.?$/, '.');
}

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

/** The lock of an output: beside the manifest, unless Astro empties that folder. */
export function lockFile(manifest: string, outDir: string) {
  const [beside, elsewhere] = possibleLockFiles(manifest);
  return contains(outDir, manifest) ? elsewhere : beside;
}

/** Where the lock may be, if it is not known what Astro empties. */
export function possibleLockFiles(manifest: string): [beside: string, elsewhere: string] {
  const elsewhere = join(tmpdir(), 'astro-snippets', `${encodeURIComponent(manifest)}.lock`);
  return [`${stemOf(manifest)}.lock`, elsewhere];
}

/** Of the commands of `--exec`, `--build` and `--after`, which may lock the output. It comes back if one empties the folder. */
export const commandLockFile = (manifest: string) => `${possibleLockFiles(manifest)[0]}.command`;

/** Takes a lock that is free or abandoned. @throws AstroError if an abandoned one cannot be removed. */
export function takeLock(file: string, work: LockHolder['work']) {
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
export async function waitForLock(file: string, work: LockHolder['work'], options: WaitOptions) {
  for (;;) {
    const lock = takeLock(file, work);
    if (lock) return lock;
    await waitUntilFree(file, options);
  }
}

/** Does not take it: that could fail a build that has just begun. */
export async function waitUntilFree(file: string, { log, refuse, clock, signal }: WaitOptions) {
  let isLogged = false;
  for (let holder = holderOf(file); holder; holder = holderOf(file)) {
    refuse?.(holder);
    if (!isLogged) log(`Waiting for ${describeHolder(holder)}.`);
    isLogged = true;
    await clock.wait(pollInterval, signal);
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

/** Who holds a lock, unless it is abandoned. */
export function holderOf(file: string) {
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

export const hasErrorCode = (error: unknown, code: string) =>
  (error as NodeJS.ErrnoException | undefined)?.code === code;
