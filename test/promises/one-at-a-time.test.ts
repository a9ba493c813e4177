import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
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
import { openProject } from '../../src/cli/project.ts';
import { systemClock } from '../../src/client/clock.ts';
import { readManifest } from '../../src/record/manifest.ts';
import { lockFile } from '../../src/record/manifest-file.ts';
import { describeHolder, isHolder, takeLock, waitUntilFree } from '../../src/record/output-lock.ts';
import { planRefresh, writeRefresh } from '../../src/record/refresh.ts';
import type { FetchedSnippet } from '../../src/snippets/fetch-snippets.ts';
import { testContext } from '../support/cli.ts';
import { startCommand } from '../support/command.ts';
import { sitesFolder } from '../support/installation.ts';
import { holderElsewhere } from '../support/output-lock.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site, temporarySite } from '../support/site.ts';

let service: TestService;
let site: Site;
const count = 100;

beforeAll(async () => {
  service = await startTestService({ 1: '<b>one</b>' });
  site = await createSite({
    'src/pages/[page].astro': `---
import { Snippet } from 'astro-snippets/components';
export const getStaticPaths = () => Array.from({ length: ${count} }, (_, page) => ({ params: { page: String(page) } }));
if (Astro.params.page === process.env.BROKEN_PAGE) throw new Error('This page is broken.');
---
<p>layout {process.env.LAYOUT}</p><p><Snippet id={1} /></p>`,
  });
});
beforeEach(() => service.clearFaults());
afterAll(async () => {
  await site.remove();
  await service.close();
});

const lock = () => join(site.directory, 'node_modules/.astro/astro-snippets/manifest.lock');

/** Waits until a build has taken a lock. */
const lockedByBuild = (file: string) =>
  expect.poll(() => readFile(file, 'utf8').catch(() => ''), { timeout: 60_000 }).toContain('"build"');
const waitsForBuild = (output: () => string) =>
  expect
    .poll(output, { timeout: 60_000 })
    .toMatch(/Waiting for the build of process \d+ on \S+, since \d\d:\d\d:\d\d UTC, to end\./);

async function expectCompleteSite(folder = 'dist') {
  const pages = (await site.list(folder)).filter((name) => name.endsWith('.html'));
  expect(pages).toHaveLength(count);
  for (const page of pages) {
    expect(await readFile(join(site.directory, folder, page), 'utf8')).toContain('<b>one</b>');
  }
}

async function expectNoLock() {
  const files = await site.list('node_modules/.astro/astro-snippets');
  expect(files.filter((name) => name.endsWith('.lock'))).toEqual([]);
}

test('of two builds of one output folder, one has all pages, and the other fails and names it', async () => {
  for (let turn = 0; turn < 2; turn++) {
    // Neither ends before the other has looked for its lock.
    const held = service.hold();
    const running = [site.build(service.environment), site.build(service.environment)];
    await Promise.race(running);
    held.release();
    const builds = await Promise.all(running);
    expect(builds.map(({ exitCode }) => exitCode).sort()).toEqual([0, 1]);
    const failed = builds.find(({ exitCode }) => exitCode === 1);
    expect(failed?.output).toMatch(
      /\[astro-snippets\/output-in-use\] dist is in use by the build of process \d+ on \S+, since \d\d:\d\d:\d\d UTC/,
    );
    await expectCompleteSite();
    await expectNoLock();
  }
});

test('two output folders of one project are built side by side, and each has a manifest', async () => {
  const build = (outDir: string) => site.start(['build', '--outDir', outDir], service.environment).ended;
  const builds = await Promise.all([build('dist'), build('build/other')]);
  expect(builds.map(({ output, exitCode }) => exitCode === 0 || output)).toEqual([true, true]);
  await expectCompleteSite('dist');
  await expectCompleteSite('build/other');
  const records = await site.list('node_modules/.astro/astro-snippets');
  expect(records).toEqual(expect.arrayContaining(['manifest.json', 'manifest.build%2Fother.json']));
});

test('a command finds the record of the output that it is about', async () => {
  const run = (...arguments_: string[]) =>
    startCommand(site.directory, arguments_, service.environment).ended;
  const folder = (name: string) => join(site.directory, name);
  expect((await site.build(service.environment)).exitCode).toBe(0);
  service.put(1, '<b>two</b>');
  expect((await run('check')).exitCode).toBe(10);
  expect((await run('refresh', '--output', 'build/other')).exitCode).toBe(0);
  expect((await run('check', '--output', 'build/other')).exitCode).toBe(0);
  expect((await run('check')).exitCode).toBe(10);
  // Built beside the one that is served, and put in its place.
  await rename(folder('build/other'), folder('build/served'));
  service.put(1, '<b>three</b>');
  expect((await run('refresh', '--output', 'build/served')).exitCode).toBe(0);
  expect(await readFile(join(folder('build/served'), '7/index.html'), 'utf8')).toContain('<b>three</b>');
  expect(await site.read('7/index.html')).toContain('<b>one</b>');
  // A record of another output says nothing about `dist`.
  expect((await site.build({ ...service.environment, BROKEN_PAGE: '50' })).exitCode).toBe(1);
  expect((await run('check')).exitCode).toBe(3);
  service.put(1, '<b>one</b>');
});

test('the lock of a build that was killed is taken over at once', async () => {
  service.hold();
  const killed = site.start(['build'], service.environment);
  await lockedByBuild(lock());
  killed.process.kill('SIGKILL');
  await killed.ended;
  service.clearFaults();
  expect((await site.build(service.environment)).exitCode).toBe(0);
  await expectCompleteSite();
  await expectNoLock();
});

test('a build that fails while it renders does not lock the next one, in a process of its own or in the same', async () => {
  expect((await site.build({ ...service.environment, BROKEN_PAGE: '50' })).exitCode).toBe(1);
  await site.write({
    'program.mjs': `
import { build } from 'astro';
const listeners = () => ['SIGINT', 'SIGTERM', 'exit'].map((name) => process.listenerCount(name));
const before = listeners();
process.env.BROKEN_PAGE = '50';
await build({ root: import.meta.dirname, logLevel: 'error' }).then(() => console.log('NOT BROKEN'), ({ message }) => console.log(message));
delete process.env.BROKEN_PAGE;
await build({ root: import.meta.dirname, logLevel: 'error' });
console.log('BUILT', JSON.stringify(listeners()) === JSON.stringify(before));
`,
  });
  const { execFile } = await import('node:child_process');
  const output = await new Promise<string>((resolve) =>
    execFile(
      process.execPath,
      [join(site.directory, 'program.mjs')],
      { env: { ...process.env, ...service.environment } },
      (_error, stdout, stderr) => resolve(stdout + stderr),
    ),
  );
  expect(output).toContain('This page is broken.');
  expect(output).toContain('BUILT true');
  await expectCompleteSite();
});

test('a lock of another machine holds as long as that machine is heard of', async () => {
  await writeFile(lock(), JSON.stringify(holderElsewhere()));
  const refused = await site.build(service.environment);
  expect(refused.exitCode).toBe(1);
  expect(refused.output).toContain('the build of process 1 on build-2');
  await expectCompleteSite();
  const silent = new Date(Date.now() - 31_000);
  await utimes(lock(), silent, silent);
  expect((await site.build(service.environment)).exitCode).toBe(0);
  await expectNoLock();
});

// Each test runs up to eight processes.
describe('a refresh', { timeout: 120_000 }, () => {
  const refresh = () => startCommand(site.directory, ['refresh'], service.environment).ended;
  const check = () => startCommand(site.directory, ['check'], service.environment).ended;

  beforeEach(async () => {
    service.put(1, '<b>one</b>');
    expect((await site.build(service.environment)).exitCode).toBe(0);
  });
  afterEach(() => service.put(1, '<b>one</b>'));

  test('waits for another refresh, and both exit with 0', async () => {
    service.put(1, '<b>two</b>');
    // All of them have read the same record before one can write.
    const held = service.hold();
    const running = [refresh(), refresh(), refresh()];
    await held.asked(running.length);
    held.release();
    const refreshes = await Promise.all(running);
    expect(refreshes.map(({ exitCode, output }) => exitCode === 0 || output)).toEqual([true, true, true]);
    expect(await site.read('7/index.html')).toContain('<b>two</b>');
    expect((await check()).exitCode).toBe(0);
    expect((await site.list()).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('is left alone by commands that only read', async () => {
    service.put(1, '<b>two</b>');
    const results = await Promise.all([refresh(), check(), check(), check()]);
    expect(results[0].exitCode === 0 || results[0].output).toBe(true);
    for (const { exitCode, output } of results.slice(1)) expect([0, 10], output).toContain(exitCode);
    expect(await site.read('7/index.html')).toContain('<b>two</b>');
  });

  test('that begins during a build waits for it, and updates what that build wrote', async () => {
    // A build asks while it has the lock, a refresh before it takes the lock.
    const building = service.hold(() => existsSync(lock()));
    const refreshing = service.hold(() => !existsSync(lock()));
    const build = site.start(['build'], service.environment);
    await lockedByBuild(lock());
    const early = startCommand(site.directory, ['refresh'], service.environment);
    await waitsForBuild(early.output);
    building.release();
    expect((await build.ended).exitCode).toBe(0);
    expect(await site.read('7/index.html')).toContain('<b>one</b>');
    service.put(1, '<b>two</b>');
    refreshing.release();
    const { exitCode, output } = await early.ended;
    expect(exitCode === 0 || output).toBe(true);
    expect(await site.read('7/index.html')).toContain('<b>two</b>');
    expect((await check()).exitCode).toBe(0);
  });

  test('that was planned before a build is planned again, and never writes old pages over new ones', async () => {
    service.put(1, '<b>two</b>');
    // Only the refresh asks while nothing has the lock.
    const refreshing = service.hold(() => !existsSync(lock()));
    const refreshed = refresh();
    await refreshing.asked();
    const built = await site.build({ ...service.environment, LAYOUT: 'new' });
    expect(built.exitCode === 0 || built.output).toBe(true);
    refreshing.release();
    expect((await refreshed).exitCode).toBe(0);
    for (let page = 0; page < count; page++) {
      const text = await site.read(`${page}/index.html`);
      expect(text).toContain('layout new');
      expect(text).toContain('<b>two</b>');
    }
    expect((await check()).exitCode).toBe(0);
  });
});

test('a refresh leaves a page alone that was changed after its plan, and says so', async () => {
  expect((await site.build(service.environment)).exitCode).toBe(0);
  const file = join(site.directory, 'node_modules/.astro/astro-snippets/manifest.json');
  const { manifest } = await readManifest(file);
  if (manifest === undefined) throw new Error('The build has left no manifest.');
  const content = '<b>two</b>';
  const snippet: FetchedSnippet = {
    content,
    html: content,
    text: 'two',
    variant: 'render',
    milliseconds: 1,
    warnings: [],
    inlineCode: undefined,
  };
  const plan = await planRefresh(file, manifest, [snippet]);
  const changed = join(site.directory, 'dist/7/index.html');
  await writeFile(changed, 'changed by hand');
  expect(await writeRefresh(file, manifest, [snippet], plan)).toEqual([
    { name: '7/index.html', reason: 'was changed while it was refreshed' },
  ]);
  expect(await readFile(changed, 'utf8')).toBe('changed by hand');
  expect(await site.read('8/index.html')).toContain(content);
  const { manifest: after } = await readManifest(file);
  const hashOfPage = (files = manifest.files) => files.find(({ name }) => name === '7/index.html')?.hash;
  expect(hashOfPage(after?.files)).toBe(hashOfPage());
});

test('a site without embeds takes no lock', async () => {
  const plain = await temporarySite({
    'src/pages/index.astro': '<p>plain</p>',
    'astro.config.mjs': `
import { existsSync } from 'node:fs';
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
const look = () => console.log('RECORDS', existsSync('node_modules/.astro/astro-snippets'));
const looking = { name: 'looking', hooks: { 'astro:build:setup': look, 'astro:build:generated': look, 'astro:build:done': look } };
export default defineConfig({ integrations: [snippets(), looking] });`,
  });
  const { exitCode, output } = await plain.build();
  expect(exitCode).toBe(0);
  expect(output).toContain('RECORDS false');
  expect(output).not.toContain('RECORDS true');
});

test('releasing a lock that was taken over leaves the new one', async () => {
  const folder = join(site.directory, 'locks');
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'manifest.lock');
  const first = takeLock(file, 'build');
  const second = takeLock(file, 'refresh');
  if (isHolder(first) || isHolder(second)) throw new Error('A process takes over its own lock.');
  first.release();
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ work: 'refresh' });
  second.release();
  await expect(readFile(file)).rejects.toThrow('ENOENT');
  await rm(folder, { recursive: true });
});

test('a lock that another machine has taken since is not kept alive', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const folder = join(site.directory, 'locks');
  const file = join(folder, 'manifest.lock');
  const own = takeLock(file, 'build');
  if (isHolder(own)) throw new Error('The lock is free.');
  const silent = new Date(Date.now() - 31_000);
  await utimes(file, silent, silent);
  vi.advanceTimersByTime(5_000);
  expect((await stat(file)).mtimeMs).toBeGreaterThan(silent.getTime());
  await writeFile(file, JSON.stringify(holderElsewhere()));
  await utimes(file, silent, silent);
  vi.advanceTimersByTime(5_000);
  expect((await stat(file)).mtimeMs).toBe(silent.getTime());
  own.release();
  await rm(folder, { recursive: true });
});

test.for([
  ['with collections', ''],
  ['whose content config mentions embeds', `console.log('snippet-embed');`],
])('a build %s waits for a refresh, and knows what it has recorded', async ([, code]) => {
  const collected = await createSite({
    'src/content.config.ts': `
      ${code}
      import { defineCollection } from 'astro:content';
      import { snippetLoader } from 'astro-snippets/loader';
      export const collections = { texts: defineCollection({ loader: snippetLoader({ one: { id: 1 } }) }) };`,
    'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
  });
  onTestFinished(() => collected.remove());
  const folder = join(collected.directory, 'node_modules/.astro/astro-snippets');
  const record = join(folder, 'manifest.json');
  expect((await collected.build(service.environment)).exitCode).toBe(0);
  const refresh = takeLock(join(folder, 'manifest.lock'), 'refresh');
  if (isHolder(refresh)) throw new Error('The lock is free.');
  const build = collected.start(['build'], service.environment);
  await expect.poll(build.output, { timeout: 60_000 }).toContain('Waiting for the refresh');
  const refreshedAt = new Date().toISOString();
  await writeFile(record, JSON.stringify({ ...JSON.parse(await readFile(record, 'utf8')), refreshedAt }));
  refresh.release();
  const { exitCode, output } = await build.ended;
  expect(exitCode, output).toBe(0);
  expect((await readManifest(record)).manifest?.before?.at).toBe(refreshedAt);
});

test('waiting until a lock is free ends when it is, and neither takes it nor creates a folder', async () => {
  const folder = join(site.directory, 'locks');
  const file = join(folder, 'manifest.lock');
  const waited: string[] = [];
  const clock = { ...systemClock, wait: async () => rm(file) };
  const wait = () => waitUntilFree(file, { clock, onWait: (holder) => waited.push(describeHolder(holder)) });
  await wait();
  expect(await site.list('locks')).toEqual([]);
  await expect(readdir(folder)).rejects.toThrow('ENOENT');
  await mkdir(folder);
  await writeFile(file, JSON.stringify(holderElsewhere()));
  await wait();
  expect(waited).toEqual([expect.stringContaining('the build of process 1 on build-2')]);
  expect(await site.list('locks')).toEqual([]);
  await writeFile(file, JSON.stringify(holderElsewhere()));
  const silent = new Date(Date.now() - 31_000);
  await utimes(file, silent, silent);
  await wait();
  expect(waited).toHaveLength(1);
  expect(await site.list('locks')).toEqual(['manifest.lock']);
  await rm(folder, { recursive: true });
});

describe('with a cache folder inside the output, which Astro empties', () => {
  const manifest = 'dist/.cache/astro-snippets/manifest.json';
  const node = "output: 'server', adapter: node({ mode: 'standalone' }),";
  const sites: Site[] = [];
  const createNested = async (options: string) => {
    const nested = await createSite({
      'astro.config.mjs': `
import node from '@astrojs/node';
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
export default defineConfig({ cacheDir: './dist/.cache', ${options} integrations: [snippets()] });`,
      'src/pages/index.astro':
        '---\nexport const prerender = true;\n---\n<p><snippet-embed id="1"></snippet-embed></p>',
    });
    sites.push(nested);
    return nested;
  };
  const refresh = (folder: string) =>
    startCommand(folder, ['--manifest', manifest, 'refresh'], service.environment);
  afterAll(async () => {
    for (const nested of sites) await nested.remove();
  });

  test('the lock is elsewhere', () => {
    expect(lockFile('/site/cache/manifest.json', '/site/dist')).toBe('/site/cache/manifest.lock');
    expect(lockFile('/site/dist/.cache/manifest.json', '/site/dist')).not.toContain('/site/dist/');
  });

  test.each([
    ['', 'index.html'],
    [node, 'client/index.html'],
  ])('a refresh waits for a build that is running, and takes the same lock: %s', async (options, page) => {
    const nested = await createNested(options);
    service.put(1, '<b>one</b>');
    const held = lockFile(join(nested.directory, manifest), join(nested.directory, 'dist'));
    const requests = service.hold();
    const building = nested.start(['build'], service.environment);
    await lockedByBuild(held);
    const early = refresh(nested.directory);
    await waitsForBuild(early.output);
    requests.release();
    expect(await building.ended).toMatchObject({ exitCode: 0 });
    expect(await early.ended).toMatchObject({ exitCode: 0 });

    const record = { manifest: join(nested.directory, manifest) };
    const { context } = testContext(nested.directory);
    expect((await openProject(context, record)).lock).toBe(held);
    service.put(1, '<b>two</b>');
    expect(await refresh(nested.directory).ended).toMatchObject({ exitCode: 0 });
    expect(await nested.read(page)).toContain('<b>two</b>');
    expect((await openProject(context, { ...record, output: sitesFolder })).lock).toBe(held);
    expect((await nested.list('dist/.cache')).filter((name) => name.endsWith('.lock'))).toEqual([]);
  });
});
