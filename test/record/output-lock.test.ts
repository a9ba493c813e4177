import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { type LockHolder, takeLock } from '../../src/record/lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'output-lock-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The lock of another process on the same host. */
const another: LockHolder = {
  work: 'build',
  token: 'another',
  pid: spawnSync(process.execPath, ['--version']).pid,
  host: hostname(),
};
const running = { pid: process.ppid, started: startOf(process.ppid) };
const own = { pid: process.pid, started: startOf(process.pid) };

function startOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  return readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/, '').trim().split(' ')[19];
}

function take(file: string, work: LockHolder['work']) {
  const taken = takeLock(file, work);
  if (taken === undefined) throw new Error('The lock was held.');
  return taken;
}

test.for<[name: string, lock: Partial<LockHolder> | string, silence: number, isTaken: boolean]>([
  ['from a process that is gone', {}, 0, true],
  ['not from a process that runs, however silent', running, 1e6, false],
  ['from another process with its pid', { ...running, started: '1' }, 0, true],
  ['from a build of this process that failed', own, 0, true],
  ['not from a refresh of this process', { ...own, work: 'refresh' }, 1e6, false],
  ['not from another host that was active just now', { host: 'build-2' }, 29_000, false],
  ['from another host after 30 s of silence', { host: 'build-2' }, 31_000, true],
  ['not from an unreadable lock', 'half of a', 0, false],
  ['from an unreadable lock after 30 s of silence', 'half of a', 31_000, true],
])('a lock may be taken over %s', ([, lock, silence, isTaken]) => {
  const file = join(folder, 'taken.lock');
  writeFileSync(file, typeof lock === 'string' ? lock : JSON.stringify({ ...another, ...lock }));
  const heard = new Date(Date.now() - silence);
  utimesSync(file, heard, heard);
  const taken = takeLock(file, 'refresh');
  expect(taken !== undefined).toBe(isTaken);
  taken?.release();
});

// A file with this name cannot be renamed to a longer name, even by root.
const unmovable = join(folder, `${'x'.repeat(245)}.lock`);

test('an abandoned lock that cannot be removed is an error instead of an endless loop', async () => {
  take(unmovable, 'build');
  const holder = JSON.parse(readFileSync(unmovable, 'utf8'));
  writeFileSync(unmovable, JSON.stringify({ ...holder, started: 'before this process' }));
  // In its own process, since a synchronous loop cannot be stopped.
  const program = `
    import { takeLock } from ${JSON.stringify(import.meta.resolve('../../src/record/lock.ts'))};
    try { takeLock(${JSON.stringify(unmovable)}, 'refresh'); } catch (error) { console.log(error.message); }`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program], {
    timeout: 60_000,
  });
  expect(stdout).toContain(`${unmovable} could not be written: `);
  expect(stdout).toContain('ENAMETOOLONG');
  expect(stdout).toContain('The lock of a process that has ended is still there.');
});

test('releasing a lock that cannot be removed does not throw', () => {
  rmSync(unmovable, { force: true });
  const taken = take(unmovable, 'build');
  taken.release();
  expect(existsSync(unmovable)).toBe(true);
});

test.for([
  ['command', 'comes back', true],
  ['build', 'does not come back', false],
] as const)('if its folder was emptied, the held lock of a %s %s', ([work, , comesBack]) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const file = join(folder, 'emptied/manifest.lock');
  const taken = take(file, work);
  const written = readFileSync(file, 'utf8');
  rmSync(join(folder, 'emptied'), { recursive: true });
  vi.advanceTimersByTime(5_000);
  expect(existsSync(file)).toBe(comesBack);
  if (comesBack) expect(readFileSync(file, 'utf8')).toBe(written);
  taken.release();
  vi.advanceTimersByTime(5_000);
  expect(existsSync(file)).toBe(false);
});

test('releasing a lock that was taken over leaves the new one', () => {
  const file = join(folder, 'released.lock');
  const first = take(file, 'build');
  const second = take(file, 'refresh');
  first.release();
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ work: 'refresh' });
  second.release();
  expect(existsSync(file)).toBe(false);
});

test.for<[where: string, skew: number]>([
  ['ahead of', 60_000],
  ['behind', -60_000],
])('the lock of another host counts by the clock of the disk, which this process is %s', ([, skew]) => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'], now: Date.now() + skew });
  onTestFinished(() => void vi.useRealTimers());
  const file = join(folder, `skewed${skew}.lock`);
  writeFileSync(file, JSON.stringify({ ...another, host: 'build-2' }));
  expect(takeLock(file, 'refresh')).toBeUndefined();
  const { mtimeMs } = statSync(file);
  const silent = new Date(mtimeMs - 31_000);
  utimesSync(file, silent, silent);
  const own = take(file, 'build');
  vi.advanceTimersByTime(5_000);
  expect(Math.abs(statSync(file).mtimeMs - mtimeMs)).toBeLessThan(30_000);
  own.release();
});

test('a lock is kept alive until another machine has taken it', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const file = join(folder, 'silent.lock');
  const own = take(file, 'build');
  const silent = new Date(Date.now() - 31_000);
  for (const isKeptAlive of [true, false]) {
    utimesSync(file, silent, silent);
    vi.advanceTimersByTime(5_000);
    expect(statSync(file).mtimeMs > silent.getTime()).toBe(isKeptAlive);
    writeFileSync(file, JSON.stringify({ ...another, host: 'build-2' }));
  }
  own.release();
});
