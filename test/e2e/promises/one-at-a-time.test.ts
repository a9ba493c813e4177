import { existsSync, writeFileSync } from 'node:fs';
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/client/clock.ts';
import { takeLock } from '../../../src/record/lock.ts';
import { readManifest } from '../../../src/record/manifest-file.ts';
import { OutputLock } from '../../../src/record/output-lock.ts';
import { sharedSite } from '../../support/site/built-site.ts';
import { folderWith } from '../../support/site/folder.ts';
import { changeRecord } from '../../support/site/records.ts';
import { type BuildResult, collectionOf, configWith, temporarySite } from '../../support/site/site.ts';
import { cli, startCli } from '../../support/tools/cli.ts';
import { exits } from '../../support/tools/exits.ts';

// Builds run in their own processes, commands in this one.

const count = 5;

const { service, site } = await sharedSite(
  { 1: '<b>one</b>' },
  {
    'src/pages/[page].astro': `---
import { Snippet } from 'astro-snippets/components';
export const getStaticPaths = () => Array.from({ length: ${count} }, (_, page) => ({ params: { page: String(page) } }));
if (Astro.params.page === process.env.BROKEN_PAGE) throw new Error('This page is broken.');
---
<p>layout {process.env.LAYOUT}</p><p><Snippet id={1} /></p>`,
    'astro.config.mjs': configWith('', {
      imports: `const look = () => console.log('LISTENERS', ...['SIGINT', 'SIGTERM', 'exit'].map((name) => process.listenerCount(name)));
const looking = { name: 'looking', hooks: { 'astro:config:setup': look, 'astro:build:generated': look } };`,
      integrations: 'looking, ',
    }),
  },
);
beforeEach(() => {
  service.put(1, '<b>one</b>');
});

const records = 'node_modules/.astro/astro-snippets';
const lock = () => join(site.directory, records, 'manifest.lock');
const build = (environment = {}, ...flags: string[]) =>
  site.build({ ...service.environment, ...environment }, ...flags);

/** Waits until a build has taken a lock. */
const lockedByBuild = (file: string) =>
  expect.poll(() => readFile(file, 'utf8').catch(() => '')).toContain('"build"');
const waitsForBuild = (output: () => string) =>
  expect.poll(output).toMatch(/Waiting for another astro-snippets process \(pid \d+\)\./);

async function expectCompleteSite(folder = 'dist') {
  const pages = (await site.list(folder)).filter((name) => name.endsWith('.html'));
  expect(pages).toHaveLength(count);
  for (const page of pages) {
    expect(await readFile(join(site.directory, folder, page), 'utf8')).toContain('<b>one</b>');
  }
}

async function expectNoLock() {
  expect((await site.list(records)).filter((name) => name.endsWith('.lock'))).toEqual([]);
}

test('of two builds of one output folder, the second fails and names the first; one of another folder runs beside it', async () => {
  // No build ends before all have looked for the lock.
  const held = service.hold();
  const same: Promise<BuildResult>[] = [build(), build()];
  const beside = build({}, '--outDir', 'build/other');
  await Promise.all([Promise.race(same), held.asked(2)]);
  held.release();
  const [done, failed] = (await Promise.all(same)).sort((a, b) => Number(a.exitCode) - Number(b.exitCode));
  expect([done?.exitCode, failed?.exitCode, (await beside).exitCode]).toEqual([0, 1, 0]);
  expect(failed?.output).toMatch(
    /\[astro-snippets\/output-in-use\] dist is in use by another astro-snippets process \(pid \d+\)\. The lock file is \S+manifest\.lock\./,
  );
  await expectCompleteSite('dist');
  await expectCompleteSite('build/other');
  await expectNoLock();
  // Commands tell the two outputs apart.
  service.put(1, '<b>two</b>');
  const other = ['--output', 'build/other'];
  expect((await site.run('refresh', ...other)).exitCode).toBe(0);
  expect((await site.run('check', ...other)).exitCode).toBe(0);
  // The other folder may have been built later, so the command asks for a name.
  expect((await site.run('check', '--output', 'dist')).exitCode).toBe(10);
});

test('a build that fails while it renders does not lock out the next one in the same process, and no signal handlers are added', async () => {
  const failed = await build({ BROKEN_PAGE: '3' });
  expect(failed.exitCode).toBe(1);
  expect(failed.output).toContain('This page is broken.');
  expect(JSON.parse(await readFile(lock(), 'utf8'))).toMatchObject({ work: 'build' });
  const output = await exits(0, build());
  const [before, ...later] = output.match(/LISTENERS .*/g) ?? [];
  expect(later).toEqual([before]);
  await expectCompleteSite();
  await expectNoLock();
});

// Refreshes the output of the previous test.
describe('a refresh', () => {
  test('waits for another refresh, runs beside commands that only read, and exits with 0', async () => {
    service.put(1, '<b>from a refresh</b>');
    // All of them read the same record before one can write.
    const held = service.hold();
    const refreshes = [site.run('refresh'), site.run('refresh'), site.run('refresh')];
    const checks = [site.run('check'), site.run('check')];
    await held.asked(refreshes.length + checks.length);
    held.release();
    for (const { exitCode, output } of await Promise.all(refreshes)) expect(exitCode, output).toBe(0);
    for (const { exitCode, output } of await Promise.all(checks)) expect(exitCode, output).toBe(10);
    expect(await site.read('2/index.html')).toContain('<b>from a refresh</b>');
    expect((await site.run('check')).exitCode).toBe(0);
    expect((await site.list()).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('that begins during a build waits for it, and updates what that build wrote', async () => {
    // A build makes requests while it holds the lock, a refresh before.
    const building = service.hold(() => existsSync(lock()));
    const refreshing = service.hold(() => !existsSync(lock()));
    const built = build();
    await lockedByBuild(lock());
    const early = startCli(site.directory, ['refresh'], service.environment);
    await waitsForBuild(early.output);
    building.release();
    expect(await built).toMatchObject({ exitCode: 0 });
    expect(await site.read('2/index.html')).toContain('<b>one</b>');
    service.put(1, '<b>two</b>');
    refreshing.release();
    expect(await early.ended).toMatchObject({ exitCode: 0 });
    expect(await site.read('2/index.html')).toContain('<b>two</b>');
    expect((await site.run('check')).exitCode).toBe(0);
  });

  test('that was planned before a build is planned again, and never writes old pages over new ones', async () => {
    service.put(1, '<b>three</b>');
    // Only the refresh makes requests while there is no lock.
    const refreshing = service.hold(() => !existsSync(lock()));
    const refreshed = site.run('refresh');
    await refreshing.asked();
    await site.builds({ ...service.environment, LAYOUT: 'new' });
    refreshing.release();
    expect((await refreshed).exitCode).toBe(0);
    for (let page = 0; page < count; page++) {
      const text = await site.read(`${page}/index.html`);
      expect(text).toContain('layout new');
      expect(text).toContain('<b>three</b>');
    }
    expect((await site.run('check')).exitCode).toBe(0);
  });

  test('leaves a page alone that is changed after it was compared, and says so', async () => {
    const names = ['a.html', 'b.html', 'c.html'];
    const page = '<p><snippet-embed id="1"></snippet-embed></p>';
    const { directory, read } = await folderWith(
      Object.fromEntries(names.map((name) => [`dist/${name}`, page])),
    );
    await cli(directory, ['inline', 'dist'], service.environment);
    service.put(1, '<b>two</b>');
    const before = service.requests().length;
    let time = 0;
    const now = () => {
      if (refreshing.stderr().includes('0 of 3 pages written')) {
        writeFileSync(join(directory, 'dist/b.html'), 'changed by hand');
      }
      // Progress is printed every 10 seconds.
      if (service.requests().length > before) time += 10_000;
      return time;
    };
    const clock = { ...systemClock, now };
    const refreshing = startCli(directory, ['refresh'], service.environment, { clock });
    expect(await refreshing.ended).toMatchObject({
      exitCode: 3,
      stdout: `Updated a.html
Updated c.html
b.html was changed while it was refreshed
Build the site to update these pages too.
`,
    });
    for (const name of names) {
      expect(await read(`dist/${name}`)).toBe(name === 'b.html' ? 'changed by hand' : '<p><b>two</b></p>');
    }
    // The record knows that only this page differs.
    const again = await cli(directory, ['refresh'], service.environment);
    expect(again.stdout).toBe(
      'b.html was changed after the build\nNothing was written. Build the site, or update the other pages with --skip-modified.\n',
    );
  });
});

test('with a cache folder inside the output, which Astro empties, a refresh waits for a build and takes the same lock', async () => {
  const nested = await temporarySite({
    'astro.config.mjs': configWith('', {
      imports: `import node from '@astrojs/node';`,
      settings: `cacheDir: './dist/.cache', output: 'server', adapter: node({ mode: 'standalone' }),`,
    }),
    'src/pages/index.astro':
      '---\nexport const prerender = true;\n---\n<p><snippet-embed id="1"></snippet-embed></p>',
  });
  const manifest = 'dist/.cache/astro-snippets/manifest.json';
  const refresh = () => startCli(nested.directory, ['--manifest', manifest, 'refresh'], service.environment);
  const { folderFile: held } = new OutputLock(
    join(nested.directory, manifest),
    join(nested.directory, 'dist'),
  );
  const requests = service.hold();
  const building = nested.build(service.environment);
  await lockedByBuild(held);
  const early = refresh();
  await waitsForBuild(early.output);
  requests.release();
  expect(await building).toMatchObject({ exitCode: 0 });
  expect(await early.ended).toMatchObject({ exitCode: 0 });
  service.put(1, '<b>two</b>');
  expect(await refresh().ended).toMatchObject({ exitCode: 0 });
  expect(await nested.read('client/index.html')).toContain('<b>two</b>');
  expect(await nested.build(service.environment)).toMatchObject({ exitCode: 0 });
  const cached = await nested.list('dist/.cache/astro-snippets');
  expect(cached.filter((name) => /lock|manifest\.json/.test(name))).toEqual(['manifest.json']);
});

test.for([
  ['that a link names', 'dist', 'a link'],
  ['that outDir names', 'dist', 'outDir'],
  ['with one output inside the other', 'dist/blog', 'outDir'],
] as const)('two checkouts with one output folder keep apart: %s', async ([, folder, how]) => {
  const pages = { 'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>' };
  const first = await temporarySite(pages, service);
  const output = join(first.directory, folder);
  const settings = how === 'outDir' ? `outDir: ${JSON.stringify(output)},` : '';
  const second = await temporarySite({ ...pages, 'astro.config.mjs': configWith('', { settings }) }, service);
  // The link leads nowhere until the first build has made the folder.
  if (how === 'a link') await symlink(output, join(second.directory, 'dist'));

  const held = service.hold();
  const building = first.build();
  await Promise.race([held.asked(1), building]);
  const refused = await second.build();
  held.release();
  await exits(0, building);
  expect(refused.exitCode).toBe(1);
  expect(refused.output).toMatch(
    /is in use by another astro-snippets process \(pid \d+\), which writes \S+dist for \S+manifest\S*\.json\. The lock file is \S+\.lock\./,
  );
  expect(refused.output).toContain(first.directory);
  expect(await first.read('index.html')).toContain('<b>one</b>');

  // Once the first has ended, the second builds.
  await exits(0, second.build());
  expect(await readFile(join(output, 'index.html'), 'utf8')).toContain('<b>one</b>');
  expect((await first.list('.')).filter((name) => name.endsWith('.lock'))).toEqual([]);
});

test.for([
  ['with collections', ''],
  ['whose content config mentions embeds', `console.log('snippet-embed');`],
])('a build %s waits for a refresh, and knows what it has recorded', async ([, code]) => {
  const site = await temporarySite(
    {
      'src/content.config.ts': code + collectionOf('texts', '{ one: { id: 1 } }'),
      'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
    },
    service,
  );
  const folder = join(site.directory, 'node_modules/.astro/astro-snippets');
  const record = join(folder, 'manifest.json');
  expect((await site.build()).exitCode).toBe(0);
  const refresh = takeLock(join(folder, 'manifest.lock'), 'refresh');
  if (refresh === undefined) throw new Error('The lock is held.');
  const build = site.start(['build'], service.environment);
  await expect.poll(build.output).toContain('Waiting for another astro-snippets process');
  const refreshedAt = new Date().toISOString();
  await changeRecord(record, (built) => ({ ...built, refreshedAt }));
  refresh.release();
  await exits(0, build.ended);
  expect((await readManifest(record)).manifest?.previous?.at).toBe(refreshedAt);
});
