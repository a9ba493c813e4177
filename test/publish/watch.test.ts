import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { isCommandPending, markPending } from '../../src/cli/pending-command.ts';
import { jittered, poll, WatchedSite } from '../../src/cli/watch.ts';
import { userError } from '../../src/failures/user-error.ts';
import { instantClock } from '../support/clock.ts';
import { type RunningCommand, startCommand } from '../support/command.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';

test.for([
  [0, 27_000],
  [0.5, 30_000],
  [1, 33_000],
] as const)('an interval of 30 s with a random number of %d is a wait of %d ms', ([random, expected]) => {
  expect(jittered(30_000, random)).toBeCloseTo(expected, 5);
});

test('polling never overlaps, and ends when its signal is aborted', async () => {
  const controller = new AbortController();
  const clock = instantClock();
  let atOnce = 0;
  let turns = 0;
  await poll(
    30_000,
    async () => {
      atOnce += 1;
      expect(atOnce).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 3));
      atOnce -= 1;
      turns += 1;
      if (turns === 5) controller.abort();
    },
    clock,
    controller.signal,
  );
  expect(turns).toBe(5);
  expect(clock.waits).toEqual([30_000, 30_000, 30_000, 30_000]);
});

describe('a watched site', () => {
  const b = { name: 'b.html', reason: 'was changed after the build' };
  const nothing = { written: [], toBuild: [] };
  const some = { written: ['a.html'], toBuild: [] };
  const down = (attempts: number) =>
    userError('network', `Snippet 1: refused after ${attempts} attempts`, 'Check the network.');

  async function turns(
    outcomes: (typeof nothing | Error)[],
    deployments: boolean[] = [],
  ): Promise<{ logged: string[]; deployed: number }> {
    const logged: string[] = [];
    let deployed = 0;
    const site = new WatchedSite({
      every: 30_000,
      needsDeploy: false,
      isUnfinished: false,
      signal: new AbortController().signal,
      clock: instantClock(),
      async update() {
        const outcome = outcomes.shift() ?? nothing;
        if (outcome instanceof Error) throw outcome;
        return { ...outcome, published: '', isUnfinished: false };
      },
      build: undefined,
      async deploy() {
        deployed += 1;
        return deployments.shift() === false ? 7 : 0;
      },
      log: (line) => logged.push(line),
    });
    for (const _ of [...outcomes]) await site.update();
    return { logged, deployed };
  }

  test.for([
    ['logs nothing if nothing changed', [nothing, nothing], [], [], 0],
    ['deploys a change once', [nothing, some, nothing, nothing], [], ['a.html is up to date'], 1],
    ['deploys two changes separately', [some, some], [], ['a.html is up to date', 'a.html is up to date'], 2],
    [
      'repeats a failed deployment until it succeeds',
      [some, nothing, nothing, nothing],
      [false, false, true],
      [
        'a.html is up to date',
        'The command of --exec exited with status 7. It is run again with the next check.',
        'The command of --exec exited with status 7. It is run again with the next check.',
      ],
      3,
    ],
    [
      'logs an error once, and when it is over',
      [down(2), down(5), nothing, nothing],
      [],
      [
        expect.stringContaining(
          'Snippet 1: refused after 2 attempts\nCheck the network.\nThe site stays as it is',
        ),
        'The check succeeded again.',
      ],
      0,
    ],
    [
      'logs an error of another kind',
      [down(2), userError('payment-required', '402', 'Renew the subscription.')],
      [],
      [expect.stringContaining('Check the network'), expect.stringContaining('Renew')],
      0,
    ],
    [
      'logs a page that needs a build again after it did not',
      [{ written: [], toBuild: [b] }, nothing, { written: [], toBuild: [b] }],
      [],
      [expect.stringContaining('b.html'), expect.stringContaining('b.html')],
      0,
    ],
    [
      'logs a page that needs a build once',
      [
        { written: [], toBuild: [b] },
        { written: [], toBuild: [b] },
        { written: [], toBuild: [b, { ...b, name: 'c.html' }] },
      ],
      [],
      [expect.stringContaining('b.html'), expect.stringContaining('c.html was changed')],
      0,
    ],
  ] as const)('%s', async ([, outcomes, deployments, logged, deployed]) => {
    expect(await turns([...outcomes] as (typeof nothing | Error)[], [...deployments])).toEqual({
      logged: [...logged],
      deployed,
    });
  });
});

describe('astro-snippets watch', () => {
  let service: TestService;
  let site: Site;
  let watching: RunningCommand;
  let record: string;

  beforeAll(async () => {
    service = await startTestService({ 1: 'first' });
    site = await createSite({ 'src/pages/index.astro': '<p><snippet-embed id="1"></snippet-embed></p>' });
    expect((await site.build(service.environment)).exitCode).toBe(0);
    record = join(site.directory, 'node_modules/.astro/astro-snippets/manifest.json');
    // Records its beginning and its end, so that two at once would show.
    await site.write({
      'deploy.mjs': `import { appendFileSync, existsSync } from 'node:fs';\nimport { setTimeout } from 'node:timers/promises';\nappendFileSync('deployed', 'begin\\n');\nawait setTimeout(1_500);\nwhile (existsSync('held')) await setTimeout(20);\nappendFileSync('deployed', 'end\\n');\n`,
    });
  });
  afterEach(async () => {
    service.clearFaults();
    // A watch that is killed before its command has ended leaves the command to the next one.
    await vi.waitFor(async () => expect(await isCommandPending(record)).toBe(false), { timeout: 60_000 });
    watching.process.kill('SIGKILL');
  });
  afterAll(async () => {
    await site.remove();
    await service.close();
  });

  function start(...arguments_: string[]): RunningCommand {
    watching = startCommand(site.directory, ['watch', '--every', '1s', ...arguments_], service.environment);
    return watching;
  }
  /** Waits for a check, and for the next one, which begins when the first has ended. */
  async function checkedAgain(): Promise<void> {
    for (let check = 0; check < 2; check++) {
      const held = service.hold();
      await held.asked();
      held.release();
    }
  }
  const deployed = () => readFile(join(site.directory, 'deployed'), 'utf8').catch(() => '');

  test('keeps a site up to date through an outage, and runs the command once per change', async () => {
    await rm(join(site.directory, 'deployed'), { force: true });
    const { output } = start('--exec', 'node deploy.mjs');
    await vi.waitFor(() => expect(output()).toContain('Checking every 1 s. Press Ctrl-C to stop.'), {
      timeout: 60_000,
    });

    service.put(1, 'second');
    await vi.waitFor(async () => expect(await deployed()).toBe('begin\nend\n'), { timeout: 60_000 });
    expect(await site.read('index.html')).toContain('<p>second</p>');

    Object.assign(service.faults, { failing: 1, failingStatus: 402 });
    await vi.waitFor(() => expect(output()).toContain('402 Payment Required [payment-required]'), {
      timeout: 60_000,
    });
    await checkedAgain();
    expect(output().match(/402 Payment Required/g)).toHaveLength(1);
    service.clearFaults();
    await vi.waitFor(() => expect(output()).toContain('The check succeeded again.'), { timeout: 60_000 });
    expect(await deployed()).toBe('begin\nend\n');

    // Two changes while the command runs are one change set after it.
    service.put(1, 'third');
    await vi.waitFor(async () => expect(await deployed()).toBe('begin\nend\nbegin\n'), { timeout: 60_000 });
    service.put(1, 'fourth');
    service.put(1, 'fifth');
    await vi.waitFor(async () => expect(await deployed()).toBe('begin\nend\n'.repeat(3)), {
      timeout: 60_000,
    });
    expect(await site.read('index.html')).toContain('<p>fifth</p>');
  });

  test('does not deploy a site that is out of date since an earlier command of --after failed, while the service is down', async () => {
    await rm(join(site.directory, 'deployed'), { force: true });
    const before = await readFile(record, 'utf8');
    await writeFile(record, JSON.stringify({ ...JSON.parse(before), pending: true }));
    await markPending(record);
    Object.assign(service.faults, { failing: 1, failingStatus: 402 });
    const { output } = start('--exec', 'node deploy.mjs');
    await vi.waitFor(() => expect(output()).toContain('402 Payment Required'), { timeout: 60_000 });
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(await deployed()).toBe('');
    // The service is healthy again, and the command of --after has still not succeeded.
    service.clearFaults();
    await vi.waitFor(() => expect(output()).toContain('has not succeeded yet'), { timeout: 60_000 });
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(await deployed()).toBe('');
    watching.process.kill('SIGKILL');
    await watching.ended;
    await writeFile(record, before);
    start('--exec', 'node deploy.mjs');
    await vi.waitFor(async () => expect(await deployed()).toBe('begin\nend\n'), { timeout: 60_000 });
  });

  test('deploys what was written before it was ended, when it is started again', async () => {
    await rm(join(site.directory, 'deployed'), { force: true });
    const { output } = start('--exec', 'node deploy.mjs', '--after', 'node -e "setTimeout(() => {}, 3000)"');
    await vi.waitFor(() => expect(output()).toContain('Checking every 1 s'), { timeout: 60_000 });
    service.put(1, 'written and not deployed');
    await vi.waitFor(async () => expect(await site.read('index.html')).toContain('not deployed'), {
      timeout: 60_000,
    });
    watching.process.kill('SIGKILL');
    await watching.ended;
    expect(await isCommandPending(record)).toBe(true);
    start('--exec', 'node deploy.mjs', '--after', 'node -e 0');
    await vi.waitFor(async () => expect(await deployed()).toBe('begin\nend\n'), { timeout: 60_000 });
    await vi.waitFor(async () => expect(await isCommandPending(record)).toBe(false), { timeout: 60_000 });
    service.put(1, 'fifth');
    await vi.waitFor(async () => expect(await deployed()).toBe('begin\nend\n'.repeat(2)), {
      timeout: 60_000,
    });
  });

  describe('beside a check --exec', () => {
    const check = () =>
      startCommand(site.directory, ['check', '--exec', 'node deploy.mjs'], service.environment);
    const waits = ({ output }: RunningCommand) =>
      vi.waitFor(() => expect(output()).toMatch(/Waiting for the command of process \d+ on /), {
        timeout: 60_000,
      });
    const begun = () => vi.waitFor(async () => expect(await deployed()).toBe('begin\n'), { timeout: 60_000 });
    const release = () => rm(join(site.directory, 'held'), { force: true });

    beforeEach(async () => {
      await rm(join(site.directory, 'deployed'), { force: true });
      await site.write({ held: '' });
      return release;
    });

    test('runs its command alone: the check waits, and has nothing to run afterwards', async () => {
      start('--exec', 'node deploy.mjs');
      service.put(1, 'deployed by the watch');
      await begun();
      const checking = check();
      await waits(checking);
      await release();
      expect(await checking.ended).toMatchObject({ exitCode: 0 });
      expect(await deployed()).toBe('begin\nend\n');
    });

    test('waits while that command runs, and does not run its own when it has succeeded', async () => {
      await markPending(record);
      const checking = check();
      await begun();
      await waits(start('--exec', 'node deploy.mjs'));
      await release();
      expect(await checking.ended).toMatchObject({ exitCode: 0 });
      await checkedAgain();
      expect(await deployed()).toBe('begin\nend\n');
    });
  });

  // Windows has no SIGTERM: a process is ended without notice.
  test.skipIf(process.platform === 'win32')(
    'ends on SIGTERM while the service does not answer, with exit status 143',
    async () => {
      const { output, process: child, ended } = start();
      await vi.waitFor(() => expect(output()).toContain('Checking every 1 s'), { timeout: 60_000 });
      await service.hold().asked();
      child.kill('SIGTERM');
      expect((await ended).exitCode).toBe(143);
    },
  );

  test('names a page that was changed after the build once, and does not run the command', async () => {
    await rm(join(site.directory, 'deployed'), { force: true });
    await appendFile(join(site.directory, 'dist/index.html'), '<!-- minified -->');
    service.put(1, 'sixth');
    const { output } = start('--exec', 'node deploy.mjs');
    await vi.waitFor(
      () =>
        expect(output()).toContain(
          'index.html was changed after the build\nBuild the site to update these pages.',
        ),
      { timeout: 60_000 },
    );
    await checkedAgain();
    expect(output().match(/Build the site to update these pages/g)).toHaveLength(1);
    expect(await deployed()).toBe('');
  });

  test('rejects an interval without a unit or below one second, and a site that was not built', async () => {
    for (const time of ['30', '10ms', 'often']) {
      const { exitCode, output } = await start('--every', time).ended;
      expect(exitCode).toBe(2);
      expect(output).toContain('Expected a duration of at least 1s, such as 30s or 5m.');
    }
    await writeFile(record, '{}');
    const { exitCode, output } = await start().ended;
    expect(exitCode).toBe(3);
    expect(output).toContain('manifest.json is damaged. [missing-manifest]\n\nBuild the site once.');
  });
});
