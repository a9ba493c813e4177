import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { hashOf } from '../../src/record/manifest.ts';
import { startCommand } from '../support/command.ts';
import { startServer } from '../support/server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { configWith, createSite, type Site } from '../support/site.ts';

let service: TestService;
const sites: Site[] = [];
beforeAll(async () => {
  service = await startTestService({ 1: 'imprint', 2: '<b>terms</b>', 3: 'only here' });
  return () => service.close();
});
beforeEach(() => {
  service.clearFaults();
  service.put(1, 'imprint');
  service.put(2, '<b>terms</b>');
});
afterEach(async () => {
  for (const site of sites.splice(0)) await site.remove();
});

const legal = {
  'src/content.config.ts': `
    import { defineCollection } from 'astro:content';
    import { snippetLoader } from 'astro-snippets/loader';
    export const collections = {
      legal: defineCollection({ loader: snippetLoader({ imprint: { id: 1 }, terms: { id: 2 } }) }),
    };`,
  'src/pages/index.astro': `---
import { getCollection } from 'astro:content';
const entries = await getCollection('legal');
---
<ul>{entries.map(({ data }) => <li set:html={data.content} />)}</ul>`,
};
const embedding = { 'src/pages/about.html': '<p><snippet-embed id="1"></snippet-embed></p>' };
const imprint = { collection: 'legal', entry: 'imprint' };

async function openSite(files: Record<string, string>): Promise<Site> {
  const site = await createSite(files);
  sites.push(site);
  return site;
}

async function build(site: Site): Promise<string> {
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode, output).toBe(0);
  return output;
}

const run = (site: Site, ...arguments_: string[]) =>
  startCommand(site.directory, arguments_, service.environment).ended;

/** The whole output, by name. */
async function contents(site: Site): Promise<Record<string, string>> {
  const names = await site.list();
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await site.read(name)])));
}

const recordFolder = 'node_modules/.astro/astro-snippets';
const record = (site: Site) => readFile(join(site.directory, recordFolder, 'manifest.json'), 'utf8');

/** Whether a refresh gives what a build gives, and leaves nothing to check. */
async function expectRefreshLikeBuild(site: Site, written: string[]): Promise<void> {
  const refreshed = await run(site, 'refresh');
  expect(refreshed).toEqual({
    exitCode: 0,
    output: written.map((name) => `${name} is up to date\n`).join(''),
  });
  expect((await run(site, 'check')).exitCode).toBe(0);
  const after = await contents(site);
  await build(site);
  expect(after).toEqual(await contents(site));
}

describe('a site that shows snippets through a collection alone', () => {
  test('is listed, reported, checked, and refreshed by a build', async () => {
    const site = await openSite(legal);
    await build(site);
    expect(await run(site, 'list')).toEqual({
      exitCode: 0,
      output:
        'Snippet 1\n    legal (collection), entry "imprint"\nSnippet 2\n    legal (collection), entry "terms"\n',
    });
    const { snippets } = JSON.parse((await run(site, 'list', '--json')).output);
    expect(snippets[0]).toMatchObject({ id: 1, pages: [], collections: [imprint] });
    expect((await run(site, 'check')).exitCode).toBe(0);
    service.put(1, 'a new imprint');
    expect(await run(site, 'check')).toEqual({
      exitCode: 10,
      output: 'Snippet 1 has changed\n    legal (collection), entry "imprint"\n',
    });
    const { changed } = JSON.parse((await run(site, 'check', '--json')).output);
    expect(changed).toEqual([{ id: 1, newHash: hashOf('a new imprint'), pages: [], collections: [imprint] }]);
    const before = await contents(site);
    for (const flags of [[], ['--skip-modified'], ['--dry-run']]) {
      const { exitCode, output } = await run(site, 'refresh', ...flags);
      expect(exitCode, flags.join()).toBe(3);
      expect(output).toContain(
        'legal (collection), entry "imprint" shows a changed snippet, and which pages use this entry is not known\n',
      );
      expect(output).toContain('Build the site');
    }
    expect(await contents(site)).toEqual(before);
    expect((await run(site, 'report')).exitCode).toBe(0);
    const report = await readFile(join(site.directory, 'snippets-report.html'), 'utf8');
    expect(report).toContain('1 collection entry');
    expect(report).toContain('legal (collection), entry &quot;imprint&quot;');
    await build(site);
    expect(await site.read('index.html')).toContain('a new imprint');
    expect((await run(site, 'check')).exitCode).toBe(0);
  });

  test('has a manifest of its last build, which `astro sync` and `astro dev` leave alone', async () => {
    const site = await openSite(legal);
    expect((await site.start(['sync'], service.environment).ended).exitCode).toBe(0);
    expect(await site.list(recordFolder)).not.toContain('manifest.json');
    await build(site);
    const built = await record(site);
    service.put(1, 'a new imprint');
    expect((await site.start(['sync'], service.environment).ended).exitCode).toBe(0);
    const dev = await startServer(site, 'dev', service.environment);
    try {
      await vi.waitFor(async () => expect(await (await fetch(dev.url)).text()).toContain('a new imprint'), {
        timeout: 60_000,
      });
    } finally {
      await dev.stop();
    }
    expect(await record(site)).toBe(built);
    expect((await run(site, 'check')).exitCode).toBe(10);
  });

  test('is known to show the last good content when the service was down', async () => {
    const site = await openSite({ ...legal, 'astro.config.mjs': configWith(`{ staleIfError: '7d' }`) });
    await build(site);
    service.put(2, '<b>new terms</b>');
    Object.assign(service.faults, { failing: 1, failingStatus: 503 });
    expect(await build(site)).toContain('is shown instead on legal (collection), entry "terms"');
    expect(await site.read('index.html')).toContain('<b>terms</b>');
    service.clearFaults();
    expect(await run(site, 'check')).toEqual({
      exitCode: 10,
      output: 'Snippet 2 has changed\n    legal (collection), entry "terms"\n',
    });
  });
});

test('a snippet in a collection and on a page is one snippet, and a refresh writes nothing', async () => {
  const site = await openSite({ ...legal, ...embedding });
  await build(site);
  const places = '    about/index.html\n    legal (collection), entry "imprint"\n';
  expect((await run(site, 'list')).output).toContain(`Snippet 1\n${places}Snippet 2\n`);
  service.put(1, 'a new imprint');
  expect(await run(site, 'check')).toEqual({ exitCode: 10, output: `Snippet 1 has changed\n${places}` });
  const before = await contents(site);
  expect((await run(site, 'refresh')).exitCode).toBe(3);
  expect(await contents(site)).toEqual(before);

  // The page can be updated alone. The collection is still to be built.
  const skipped = await run(site, 'refresh', '--skip-modified');
  expect(skipped.exitCode).toBe(3);
  expect(skipped.output).toContain('about/index.html is up to date\n');
  expect(await site.read('about/index.html')).toContain('<p>a new imprint</p>');
  const { changed } = JSON.parse((await run(site, 'check', '--json')).output);
  expect(changed).toEqual([{ id: 1, newHash: hashOf('a new imprint'), pages: [], collections: [imprint] }]);
  expect((await run(site, 'refresh', '--skip-modified')).exitCode).toBe(3);

  // Other snippets are refreshed as ever once it is built.
  await build(site);
  expect((await run(site, 'refresh')).output).toBe('Nothing has changed.\n');
});

test('a site that no longer shows snippets can be checked, without a key', async () => {
  const site = await openSite({ ...legal, ...embedding });
  await build(site);
  await site.write({
    'src/content.config.ts': 'export const collections = {};',
    'src/pages/index.astro': '<p>nothing</p>',
    'src/pages/about.html': '<p>nothing</p>',
  });
  await build(site);
  for (const name of ['check', 'list']) {
    const { exitCode, output } = await startCommand(site.directory, [name], {}).ended;
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: 'The site shows no snippets.\n' });
  }
  expect((await site.build({})).exitCode).toBe(0);
  expect((await startCommand(site.directory, ['check'], {}).ended).exitCode).toBe(0);
});

test('a site that never showed snippets has no manifest', async () => {
  const site = await openSite({ 'src/pages/index.html': '<p>nothing</p>' });
  await build(site);
  expect(await site.list(recordFolder)).toEqual([]);
});

test('a snippet that is in a feed and in JSON alone is checked, and refreshed to the byte', async () => {
  const site = await openSite({
    'src/pages/feed.xml.ts': `
      const embed = '<snippet-embed id="3"></snippet-embed>';
      const escaped = embed.replaceAll('<', '&lt;').replaceAll('"', '&quot;');
      export const GET = () => new Response(
        \`<rss><item><title>\${escaped}</title><description><![CDATA[<p>\${embed}</p>]]></description></item></rss>\`);`,
    'src/pages/data.json.ts': `
      export const GET = () => Response.json({ html: '<i><snippet-embed id="3"></snippet-embed></i>' });`,
    'src/pages/index.html': '<p>plain</p>',
  });
  service.put(3, 'only here');
  await build(site);
  expect((await run(site, 'check')).exitCode).toBe(0);
  service.put(3, '<b title="a">R&amp;D</b> ]]&gt; now');
  expect(await run(site, 'check')).toEqual({
    exitCode: 10,
    output: 'Snippet 3 has changed\n    data.json\n    feed.xml\n',
  });
  await expectRefreshLikeBuild(site, ['data.json', 'feed.xml']);
  expect(await site.read('feed.xml')).toContain('R&amp;D');
});

test('a page that shows children has changed as soon as the service has the snippet', async () => {
  const site = await openSite({
    'src/pages/index.html':
      '<h1><snippet-embed id="2">children</snippet-embed></h1><p><snippet-embed id="1">a longer child</snippet-embed></p>',
  });
  Object.assign(service.faults, { failing: 1, failingStatus: 503, only: [1] });
  await build(site);
  expect(await site.read('index.html')).toContain('<h1><b>terms</b></h1><p>a longer child</p>');
  expect((await run(site, 'check')).exitCode).toBe(1);
  service.clearFaults();
  expect(await run(site, 'check')).toEqual({
    exitCode: 10,
    output: 'Snippet 1 has changed\n    index.html\n',
  });
  await expectRefreshLikeBuild(site, ['index.html']);
});
