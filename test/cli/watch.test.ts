import { existsSync } from 'node:fs';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type SteppedClock, steppedClock } from '../support/service/clock.ts';
import { webhookSecret } from '../support/service/signed-call.ts';
import { copyOfEverything, type Everything, renewPrecache } from '../support/site/everything.ts';
import { type Folder, folderWith } from '../support/site/folder.ts';
import { snippetsCommand } from '../support/site/installation.ts';
import { changeRecord } from '../support/site/records.ts';
import { cli, type RunningCli, startCli, startWatch } from '../support/tools/cli.ts';

let site: Everything;
let clock: SteppedClock;

beforeEach(async () => {
  site = await copyOfEverything();
});

const fileOf = (name: string) => join(site.directory, name);
const read = (name: string) => readFile(fileOf(name), 'utf8').catch(() => '');
const deploy = `node -e "fs.appendFileSync('deployed', 'x'); process.exitCode = fs.existsSync('fails') ? 7 : 0"`;
const deployed = () => read('deployed');

/** Starts a watch. `check` runs its next check. */
async function start(
  arguments_: readonly string[],
  { random = 0.5, folder = site.directory } = {},
): Promise<RunningCli> {
  clock = steppedClock({ random });
  const { environment } = site.service;
  const watching = startWatch(folder, ['watch', '--every', '30s', ...arguments_], environment, { clock });
  await clock.waiting();
  return watching;
}

/** Ends the wait for the next check, and waits until that check is done. */
async function check(times = 1): Promise<void> {
  for (let time = 0; time < times; time++) {
    (await clock.waiting()).end();
    await clock.waiting();
  }
}

const lines = ({ output }: RunningCli, text: string) => output().split(text).length - 1;

test.each([
  [0, 27_000],
  [1, 33_000],
])('an interval of 30 s with a random number of %d is a wait of %d ms', async (random, expected) => {
  await start([], { random });
  expect((await clock.waiting()).at - clock.now()).toBeCloseTo(expected, 5);
});

test.each([
  [[], 'Checking every 30 s. Press Ctrl-C to stop.'],
  [['--listen', '127.0.0.1:0'], 'Checking every 300 s.'],
  [['--listen', '127.0.0.1:0', '--every', '10s'], 'Checking every 10 s.'],
])('with %j it prints %s', async (arguments_, expected) => {
  const environment = { ...site.service.environment, SNIPPETS_WEBHOOK_SECRET: webhookSecret };
  const watching = startWatch(site.directory, ['watch', ...arguments_], environment, {
    clock: steppedClock(),
  });
  await expect.poll(watching.output).toContain(expected);
});

describe('a watch', () => {
  test('keeps a site up to date through outages, and runs the command once for each set of changes', async () => {
    const { service } = site;
    const watching = await start(['--exec', deploy]);
    await check();
    expect(await deployed()).toBe('');
    service.put(2, 'about them');
    await check(2);
    expect(await site.read('about.html')).toContain('about them');
    expect(await deployed()).toBe('x');

    // Each kind of trouble is printed once, and so is its end.
    Object.assign(service.faults, { failing: 1, failingStatus: 402 });
    await check(2);
    expect(lines(watching, '402 Payment Required [payment-required]')).toBe(1);
    expect(lines(watching, 'The site stays as it is until then.')).toBe(1);
    Object.assign(service.faults, { failing: 1, failingStatus: 403 });
    await check(2);
    expect(lines(watching, 'The site stays as it is until then.')).toBe(2);
    service.put(1, 'lost');
    service.put(1, 'the woozle');
    service.clearFaults();
    await check(2);
    expect(lines(watching, 'The check succeeded again.')).toBe(1);
    expect(lines(watching, 'Updated index.html')).toBe(1);
    expect(await deployed()).toBe('xx');
  });

  test('runs a command again until it has succeeded, also while the service is in trouble', async () => {
    const watching = await start(['--exec', deploy]);
    await site.write({ fails: '' });
    site.service.put(2, 'about them');
    await check(2);
    await rm(fileOf('fails'));
    Object.assign(site.service.faults, { failing: 1, failingStatus: 402 });
    await check(2);
    expect(await deployed()).toBe('xxx');
    const failed = 'The command of --exec exited with status 7. It is run again with the next check.';
    expect(lines(watching, failed)).toBe(2);
  });

  test('names what needs a build once, and once more if it comes back, and does not run the command', async () => {
    const page = await site.read('about.html');
    site.service.put(2, 'about them');
    await appendFile(fileOf('dist/about.html'), '<!-- minified -->');
    const watching = await start(['--exec', deploy]);
    await check();
    const said = 'Build the site to update these pages.';
    expect(lines(watching, said)).toBe(1);
    // Each line starts with the time.
    const times = /^\d\d:\d\d:\d\d about\.html was changed after the build\n\d\d:\d\d:\d\d Build the site/m;
    expect(watching.output()).toMatch(times);
    expect(await deployed()).toBe('');
    site.service.put(2, 'about us');
    await check();
    site.service.put(2, 'about them');
    await check();
    expect(lines(watching, said)).toBe(2);
    await writeFile(fileOf('dist/about.html'), page);
    await check();
    expect(await deployed()).toBe('x');
  });

  test('deploys a build made elsewhere, at once or when it starts again', async () => {
    const watching = await start(['--exec', deploy]);
    const build = async (builtAt: string) => {
      await changeRecord(site.record, (record) => ({ ...record, builtAt }));
    };
    await build('2030-01-01T00:00:00.000Z');
    await check(2);
    expect(await deployed()).toBe('x');
    watching.kill('SIGTERM');
    await watching.ended;
    await build('2030-01-02T00:00:00.000Z');
    await start(['--exec', deploy]);
    await check();
    expect(await deployed()).toBe('xx');
  });

  test('runs the --after command before the --exec command, and does not deploy until it has succeeded', async () => {
    site = await copyOfEverything('sw.js');
    const after = `node -e "fs.appendFileSync('deployed', 'a'); process.exitCode = fs.existsSync('fails') ? 5 : 0" && node -e "${renewPrecache}"`;
    await site.write({ fails: '' });
    site.service.put(2, 'about them');
    const watching = await start(['--after', after, '--exec', deploy]);
    expect(await deployed()).toBe('a');
    expect(watching.output()).toContain('It is run again with the next check.');
    Object.assign(site.service.faults, { failing: 1, failingStatus: 402 });
    await check();
    expect(await deployed()).toBe('a');
    watching.kill('SIGTERM');
    expect((await watching.ended).exitCode).toBe(143);

    // Neither does another watch, whether the service is down or not.
    const other = await start(['--exec', deploy]);
    site.service.clearFaults();
    await check();
    expect(other.output()).toContain('The command of the last refresh --after has not succeeded yet');
    expect(await deployed()).toBe('a');
    other.kill('SIGTERM');
    await other.ended;

    await start(['--after', after, '--exec', deploy]);
    await rm(fileOf('fails'));
    await check(2);
    expect(await deployed()).toBe('aaax');
    expect(await site.run('check')).toMatchObject({ exitCode: 0 });
  });
});

describe('a watch with --build', () => {
  const built = async () => (await folder.files())['built'] ?? '';
  const deployedThere = async () => (await folder.files())['deployed'] ?? '';
  let folder: Folder;

  beforeEach(async () => {
    folder = await folderWith({
      'source/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
      // A generator and a minifier. A refresh would undo the minifier's work.
      'build.mjs': `import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync } from 'node:fs';
appendFileSync('built', 'x');
if (existsSync('fails')) process.exit(9);
cpSync('source', 'dist', { recursive: true });
const { status } = spawnSync(process.execPath, ['${snippetsCommand}', 'inline', 'dist']);
appendFileSync('dist/index.html', '<!-- minified -->');
process.exitCode = status;`,
    });
  });

  const startThere = (build = 'node build.mjs') => {
    const commands = ['--build', build, '--exec', `node -e "fs.appendFileSync('deployed', 'x')"`];
    return start(commands, { folder: folder.directory });
  };

  test('builds and deploys a site that was never built, and a site with minified pages', async () => {
    const watching = await startThere();
    expect(watching.output()).toMatch(
      /^\d\d:\d\d:\d\d The site has no usable record: No build manifest found .*\[missing-manifest\]\n\d\d:\d\d:\d\d Building the site\.$/m,
    );
    expect([await built(), await deployedThere()]).toEqual(['x', 'x']);
    site.service.put(1, 'the woozle');
    await check();
    expect(watching.output()).toMatch(/index\.html was changed after the build\n\S+ Building the site\./);
    expect(await folder.read('dist/index.html')).toContain('woozle');
    // The new record was read, so nothing is left to do.
    await check(2);
    expect([await built(), await deployedThere()]).toEqual(['xx', 'xx']);
  });

  test('deploys nothing after a failed build, tries again less and less often, and builds at once after another change', async () => {
    const watching = await startThere();
    await folder.write({ fails: '' });
    site.service.put(1, 'the woozle');
    const failed =
      /The command of --build exited with status 9\. It is run again in (.+), or when something else changes\.\n/g;
    const pauses: (string | undefined)[] = [];
    for (let turn = 1; turn <= 31; turn++) {
      await check();
      const said = Array.from(watching.output().matchAll(failed), ([, pause]) => pause);
      if (said.length > pauses.filter(Boolean).length) pauses[turn] = said.at(-1);
    }
    expect(Object.entries(pauses)).toEqual([
      ['1', '60 seconds'],
      ['3', '2 minutes'],
      ['7', '4 minutes'],
      ['15', '8 minutes'],
      ['31', '10 minutes'],
    ]);
    expect([await built(), await deployedThere()]).toEqual(['xxxxxx', 'x']);
    expect(lines(watching, 'index.html was changed after the build\n')).toBe(1);
    await rm(join(folder.directory, 'fails'));
    site.service.put(1, 'the backson');
    await check();
    expect([await folder.read('dist/index.html'), await deployedThere()]).toEqual([
      expect.stringContaining('backson'),
      'xx',
    ]);
  });

  test('says if a command has not built the site, also if an old record is left, and deploys nothing', async () => {
    const watching = await startThere('exit 0');
    const said = 'The command of --build left no new record of a build at';
    expect(lines(watching, said)).toBe(1);
    // A record that is still missing is no new reason to build.
    await check();
    expect(lines(watching, said)).toBe(1);
    await folder.write({ 'dist/index.html': '<p><snippet-embed id="1"></snippet-embed></p>' });
    await cli(folder.directory, ['inline', 'dist'], site.service.environment);
    await folder.write({ 'dist/index.html': 'minified' });
    site.service.put(1, 'the woozle');
    await check();
    expect(lines(watching, said)).toBe(2);
    expect(await deployedThere()).toBe('');
  });

  test('does not repeat what a check --exec has built and deployed meanwhile', async () => {
    await folder.write({
      held: '',
      'wait.mjs': `import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
writeFileSync('begun', '');
while (existsSync('held')) await setTimeout(20);`,
    });
    const exec = `node wait.mjs && node build.mjs && node -e "fs.appendFileSync('deployed', 'x')"`;
    const checking = startCli(folder.directory, ['check', '--exec', exec], site.service.environment);
    await expect.poll(() => existsSync(join(folder.directory, 'begun'))).toBe(true);
    const watching = await startThere();
    await expect.poll(watching.output).toContain('Waiting for another astro-snippets process');
    await rm(join(folder.directory, 'held'));
    expect(await checking.ended).toMatchObject({ exitCode: 0 });
    await check(2);
    expect([await built(), await deployedThere()]).toEqual(['x', 'x']);
    expect(watching.output()).not.toContain('Building');
  });
});
