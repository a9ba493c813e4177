import { execFile, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../src/client/clock.ts';
import { fileLock, takeLock, waitUntilFree } from '../../src/record/lock.ts';
import { holderOf, type LockHolder } from '../../src/record/lock-holder.ts';
import { OutputLock } from '../../src/record/output-lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'output-lock-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The lock of another process on the same host. */
const another: Omit<LockHolder, 'file'> = {
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

type LockCase = [name: string, lock: Partial<LockHolder> | string, silence: number, isTaken: boolean];

test.for<LockCase>([
  ['from a process that is gone', {}, 0, true],
  ['not from a process that runs, however silent', running, 1e6, false],
  ['from another process with its pid', { ...running, started: '1' }, 0, true],
  ['not from a process that runs and whose start is not known', { pid: process.ppid }, 1e6, false],
  ['from a build of this process that failed', own, 0, true],
  ['not from a refresh of this process', { ...own, work: 'refresh' }, 1e6, false],
  ['not from another host that was active just now', { host: 'build-2' }, 29_000, false],
  ['from another host after 30 s of silence', { host: 'build-2' }, 31_000, true],
  ['not from an unreadable lock', 'half of a', 0, false],
  ['from an unreadable lock after 30 s of silence', 'half of a', 31_000, true],
  ['not from an empty lock', '', 0, false],
  ...['null', 'false', '[]', '{}', '"another"', '\0\0\0'].flatMap((damaged): LockCase[] => [
    [`not from a lock that was damaged to ${damaged}`, damaged, 0, false],
    [`from a lock that was damaged to ${damaged}, after 30 s of silence`, damaged, 31_000, true],
  ]),
  ['not from a lock whose pid is no number', { pid: 'one' as never }, 0, false],
])('a lock may be taken over %s', ([, lock, silence, isTaken]) => {
  const file = join(folder, 'taken.lock');
  writeFileSync(file, typeof lock === 'string' ? lock : JSON.stringify({ ...another, ...lock }));
  const heard = new Date(Date.now() - silence);
  utimesSync(file, heard, heard);
  const taken = takeLock(file, 'refresh');
  expect(taken !== undefined).toBe(isTaken);
  taken?.release();
});

/** Runs code in its own process, whose files cannot be renamed. A synchronous loop here could not be stopped. */
async function runWithoutRenaming(code: string) {
  const program = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    fs.renameSync = () => { throw Object.assign(new Error('EPERM: operation not permitted'), { code: 'EPERM' }); };
    syncBuiltinESMExports();
    const { takeLock } = await import(${JSON.stringify(import.meta.resolve('../../src/record/lock.ts'))});
    ${code}`;
  const flags = ['--input-type=module', '--eval', program];
  return (await promisify(execFile)(process.execPath, flags, { timeout: 60_000 })).stdout;
}

test('an abandoned lock that cannot be removed is an error instead of an endless loop', async () => {
  const file = join(folder, 'unmovable.lock');
  writeFileSync(file, JSON.stringify(another));
  const stdout = await runWithoutRenaming(
    `try { takeLock(${JSON.stringify(file)}, 'refresh'); } catch (error) { console.log(error.message); }`,
  );
  expect(stdout).toContain(`${file} could not be written: `);
  expect(stdout).toContain('EPERM');
  expect(stdout).toContain('The lock of a process that has ended is still there.');
});

test.skipIf(process.platform === 'win32')('a lock that a full disk cuts off is not left behind', async () => {
  const file = join(folder, 'cut-off.lock');
  const program = `
    const { takeLock } = await import(${JSON.stringify(import.meta.resolve('../../src/record/lock.ts'))});
    try { takeLock(${JSON.stringify(file)}, 'build'); } catch (error) { console.log(error.code); }`;
  // A limit of the size of files fails as a full disk does: the file is made, and cannot be written.
  const limited = [
    '-c',
    'ulimit -f 0; "$0" --input-type=module --eval "$1" | cat',
    process.execPath,
    program,
  ];
  const { stdout } = await promisify(execFile)('sh', limited, { timeout: 60_000 });
  expect(stdout).toBe('EFBIG\n');
  expect(existsSync(file)).toBe(false);
});

test('while a lock is held, waiting for it looks at its own file alone', async () => {
  const file = join(folder, 'awaited.lock');
  const held = take(file, 'refresh');
  const lock = { ...fileLock(file), holder: vi.fn(() => holderOf(file)) };
  let waits = 0;
  const wait = async () => {
    waits += 1;
    if (waits === 3) held.release();
  };
  await waitUntilFree(lock, { log() {}, clock: { ...systemClock, wait } });
  expect([waits, lock.holder.mock.calls.length]).toEqual([3, 2]);
});

test('releasing a lock that cannot be removed does not throw', async () => {
  const file = join(folder, 'kept.lock');
  await runWithoutRenaming(`takeLock(${JSON.stringify(file)}, 'build').release();`);
  expect(existsSync(file)).toBe(true);
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

describe('two records', () => {
  const at = (...names: string[]) => join(folder, 'outputs', ...names);
  mkdirSync(at('real/www/blog'), { recursive: true });
  symlinkSync(at('real/www'), at('link'));
  symlinkSync(at('real/later'), at('dangling'));
  symlinkSync(at('circle'), at('circle'));
  const lockOf = (checkout: string, output: string) =>
    new OutputLock(join(folder, checkout, 'manifest.json'), output);

  test.for([
    ['one folder', at('real/www'), at('real/www'), false],
    ['a folder and a link to it', at('real/www'), at('link'), false],
    ['a folder and one inside', at('real/www'), at('real/www/blog'), false],
    ['a folder and one inside, by a link', at('link/blog'), at('real'), false],
    ['a folder and one inside that does not exist yet', at('real/www'), at('link/new/one'), false],
    ['one folder that does not exist yet', at('new'), at('new'), false],
    ['a folder that does not exist yet and a link to it', at('real/later'), at('dangling'), false],
    ['a circle of links', at('circle'), at('circle'), false],
    ['two folders', at('real/www'), at('other'), true],
    ['two folders whose names begin alike', at('real/www'), at('real/www2'), true],
  ] as const)('as to whether both may be written at once, of %s', ([, one, other, mayBoth]) => {
    for (const [first, second] of [
      [one, other],
      [other, one],
    ] as const) {
      const held = lockOf('first', first).take('refresh');
      expect(held).toBeDefined();
      const waiting = lockOf('second', second);
      const taken = waiting.take('refresh');
      expect(taken !== undefined).toBe(mayBoth);
      if (!mayBoth) {
        expect(waiting.holder()).toMatchObject({ pid: process.pid, work: 'refresh' });
        expect(waiting.holder()?.writes).toMatch(/ for \S+first.manifest\.json$/);
        expect(existsSync(join(folder, 'second/manifest.lock'))).toBe(false);
      }
      held?.release();
      taken?.release();
      expect([waiting.hasFiles, lockOf('first', first).hasFiles]).toEqual([false, false]);
    }
  });

  test('of one folder are written at once if the process of one has been killed', async () => {
    const program = `
      const { OutputLock } = await import(${JSON.stringify(import.meta.resolve('../../src/record/output-lock.ts'))});
      new OutputLock(${JSON.stringify(join(folder, 'first/manifest.json'))}, ${JSON.stringify(at('link'))}).take('build');
      process.kill(process.pid, 'SIGKILL');`;
    spawnSync(process.execPath, ['--input-type=module', '--eval', program]);
    const lock = lockOf('second', at('real/www'));
    expect([lock.hasFiles, lock.holder()]).toEqual([true, undefined]);
    const held = lock.take('refresh');
    expect(held).toBeDefined();
    held?.release();
    expect(lock.hasFiles).toBe(false);
  });

  test('without a folder for temporary files, a lock is taken beside the record, and its flaw is said', () => {
    writeFileSync(join(folder, 'no-folder'), '');
    vi.stubEnv('TMPDIR', join(folder, 'no-folder'));
    onTestFinished(() => void vi.unstubAllEnvs());
    const held = lockOf('first', at('real/www')).take('refresh');
    expect(held?.flaw).toContain(
      'Processes of other projects that write the same output are not noticed: EEXIST',
    );
    expect(lockOf('first', at('real/www')).holder()).toMatchObject({ work: 'refresh' });
    expect(lockOf('second', at('real/www')).holder()).toBeUndefined();
    held?.release();
  });
});
