import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { WatchedSite } from '../../src/cli/watch.ts';
import { userError } from '../../src/failures/user-error.ts';
import { instantClock } from '../support/clock.ts';
import { type RunningCommand, startCommand } from '../support/command.ts';
import { astroCommand } from '../support/installation.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';

describe('a watched site with a build command', () => {
  const every = 30_000;
  const toBuild = [{ name: 'b.html', reason: 'was changed after the build' }];
  const current = { written: [], toBuild: [], published: 'one', isUnfinished: false };
  const minified = { written: [], toBuild, published: 'two', isUnfinished: false };
  const unbuilt = () => userError('missing-manifest', 'No build manifest found.');

  /** Runs a turn for each outcome. Without a text, a build succeeds. */
  async function turns(
    outcomes: (typeof current | typeof minified | Error)[],
    builds: (string | undefined)[] = [],
  ) {
    const logged: string[] = [];
    const done: string[] = [];
    const clock = instantClock();
    const site = new WatchedSite({
      every,
      needsDeploy: false,
      isUnfinished: false,
      signal: new AbortController().signal,
      clock,
      async update() {
        const outcome = outcomes.shift() ?? current;
        if (outcome instanceof Error) throw outcome;
        return outcome;
      },
      async build() {
        done.push('build');
        return builds.shift();
      },
      async deploy() {
        done.push('deploy');
        return 0;
      },
      log: (line) => logged.push(line),
    });
    for (const _ of [...outcomes]) {
      done.push('check');
      await site.update();
      await clock.wait(every);
    }
    return { logged, done: done.join(' ') };
  }

  test('builds and then deploys once, and says why', async () => {
    expect(await turns([minified, current])).toEqual({
      logged: ['b.html was changed after the build', 'Building the site.'],
      done: 'check build deploy check',
    });
  });

  test('builds a site without a record', async () => {
    expect(await turns([unbuilt(), current])).toEqual({
      logged: ['No build manifest found. [missing-manifest]', 'Building the site.'],
      done: 'check build deploy check',
    });
  });

  test('does not deploy after a failed build, and leaves out more and more turns', async () => {
    const failed = Array(4).fill('exited with status 9');
    const { logged, done } = await turns(Array(16).fill(minified), failed);
    const built = done.split('check').flatMap((turn, index) => (turn.includes('build') ? [index] : []));
    expect(built).toEqual([1, 3, 7, 15]);
    expect(done).not.toContain('deploy');
    expect(logged.slice(0, 3)).toEqual([
      'b.html was changed after the build',
      'Building the site.',
      'The command of --build exited with status 9. It is run again in 60 seconds, or when something else changes.',
    ]);
    expect(logged.filter((line) => line.startsWith('b.html'))).toHaveLength(1);
  });

  test('builds at once after a failed build when something else is published', async () => {
    const { done } = await turns([minified, { ...minified, published: 'three' }], ['exited with status 9']);
    expect(done).toBe('check build check build deploy');
  });

  test('counts on when a failed build has removed the record', async () => {
    const { done } = await turns(
      [minified, unbuilt(), unbuilt(), unbuilt()],
      ['exited with status 9', 'exited with status 9'],
    );
    expect(done).toBe('check build check check build check');
  });

  test('counts a build that left no record as failed', async () => {
    const { done, logged } = await turns([minified, minified], ['left no new record of a build at x']);
    expect(logged.at(-1)).toContain('The command of --build left no new record of a build at x. It is run');
    expect(done).toBe('check build check');
  });
});

describe('astro-snippets watch --build', () => {
  let service: TestService;
  let site: Site;
  let watching: RunningCommand | undefined;

  beforeAll(async () => {
    service = await startTestService({ 1: 'first' });
    site = await createSite({
      'src/pages/index.astro': '<p><snippet-embed id="1"></snippet-embed></p>',
      // Changes pages after snippets were inlined, as a minifier does.
      'astro.config.mjs': `import { appendFileSync } from 'node:fs';
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
const minifier = {
  name: 'minifier',
  hooks: { 'astro:build:done': ({ dir }) => appendFileSync(new URL('index.html', dir), '<!-- minified -->') },
};
export default defineConfig({ integrations: [snippets(), minifier] });
`,
      // The tests start Astro by a script, since the site has no node_modules/.bin.
      'build.mjs': `import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync } from 'node:fs';
appendFileSync('built', 'x');
if (existsSync('build-fails')) process.exit(9);
const { status } = spawnSync(process.execPath, ['${astroCommand}', 'build'], { stdio: 'inherit' });
process.exitCode = status;
`,
      'deploy.mjs': `import { appendFileSync, readFileSync } from 'node:fs';
appendFileSync('deployed', readFileSync('dist/index.html', 'utf8').match(/<p>(.*?)<\\/p>/)[1] + '\\n');
`,
    });
  });
  beforeEach(async () => {
    service.put(1, 'first');
    for (const name of ['built', 'deployed', 'build-fails']) {
      await rm(join(site.directory, name), { force: true });
    }
  });
  afterEach(async () => {
    watching?.process.kill('SIGTERM');
    await watching?.ended;
    watching = undefined;
  });
  afterAll(async () => {
    await site.remove();
    await service.close();
  });

  const read = (name: string) => readFile(join(site.directory, name), 'utf8').catch(() => '');
  const waitFor = (condition: () => void | Promise<void>) => vi.waitFor(condition, { timeout: 60_000 });

  function start(): RunningCommand {
    const commands = ['--build', 'node build.mjs', '--exec', 'node deploy.mjs'];
    watching = startCommand(site.directory, ['watch', '--every', '1s', ...commands], service.environment);
    return watching;
  }

  test('builds and deploys a site that was never built, and one whose pages a minifier changes', async () => {
    await rm(join(site.directory, 'node_modules'), { recursive: true, force: true });
    const { output } = start();
    await waitFor(async () => expect(await read('deployed')).toBe('first\n'));
    service.put(1, 'second');
    await waitFor(async () => expect(await read('deployed')).toBe('first\nsecond\n'));
    expect(output()).toContain('index.html was changed after the build\nBuilding the site.');
    expect(await read('built')).toBe('xx');
    expect(await site.read('index.html')).toContain('<p>second</p>');
    // The record was read again: nothing is left to do.
    const asked = service.requests().length;
    await waitFor(() => expect(service.requests().length).toBeGreaterThan(asked + 1));
    expect([await read('built'), await read('deployed')]).toEqual(['xx', 'first\nsecond\n']);
  });

  test('says that a build failed, deploys nothing, and builds again when another change arrives', async () => {
    expect((await site.build(service.environment)).exitCode).toBe(0);
    await site.write({ 'build-fails': '' });
    const { output } = start();
    service.put(1, 'second');
    await waitFor(() => expect(output()).toContain('The command of --build exited with status 9.'));
    await rm(join(site.directory, 'build-fails'));
    service.put(1, 'third');
    await waitFor(async () => expect(await read('deployed')).toBe('third\n'));
    expect(await read('built')).toBe('xx');
  });

  test('says that a command has not built the site, and deploys nothing', async () => {
    expect((await site.build(service.environment)).exitCode).toBe(0);
    service.put(1, 'second');
    watching = startCommand(
      site.directory,
      ['watch', '--every', '1s', '--build', 'exit 0', '--exec', 'node deploy.mjs'],
      service.environment,
    );
    const { output } = watching;
    await waitFor(() =>
      expect(output()).toContain('The command of --build left no new record of a build at'),
    );
    expect(await read('deployed')).toBe('');
  });

  test('neither builds nor deploys again what a check --exec does meanwhile', async () => {
    expect((await site.build(service.environment)).exitCode).toBe(0);
    service.put(1, 'second');
    await site.write({
      held: '',
      'wait.mjs': `import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
writeFileSync('begun', '');
while (existsSync('held')) await setTimeout(20);
`,
    });
    const release = () => rm(join(site.directory, 'held'), { force: true });
    onTestFinished(release);
    const checking = startCommand(
      site.directory,
      ['check', '--exec', 'node wait.mjs && node build.mjs && node deploy.mjs'],
      service.environment,
    );
    await waitFor(() => expect(existsSync(join(site.directory, 'begun'))).toBe(true));
    const { output } = start();
    await waitFor(() => expect(output()).toMatch(/Building the site\.\s+Waiting for the command of process/));
    await release();
    expect(await checking.ended).toMatchObject({ exitCode: 0 });
    const asked = service.requests().length;
    await waitFor(() => expect(service.requests().length).toBeGreaterThan(asked + 1));
    expect([await read('built'), await read('deployed')]).toEqual(['x', 'second\n']);
  });

  test.skipIf(process.platform === 'win32')(
    'on SIGTERM during a build, passes it on, and does not deploy',
    async () => {
      expect((await site.build(service.environment)).exitCode).toBe(0);
      service.put(1, 'second');
      watching = startCommand(
        site.directory,
        ['watch', '--every', '1s', '--build', 'echo begun; exec sleep 30', '--exec', 'node deploy.mjs'],
        service.environment,
      );
      const { output, process: child, ended } = watching;
      await waitFor(() => expect(output()).toContain('begun'));
      child.kill('SIGTERM');
      expect((await ended).exitCode).toBe(143);
      expect(await read('deployed')).toBe('');
    },
  );
});
