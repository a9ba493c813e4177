import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { hashOf } from '../../src/record/hash-of.ts';
import { builtSite } from '../support/site/built-site.ts';
import { copyOfEverything } from '../support/site/everything.ts';
import { collectionOf, configWith } from '../support/site/site.ts';
import { cli } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';

// Each test changes this site further.
const { service, site } = await builtSite(
  { 1: 'imprint', 2: '<b>terms</b>' },
  { 'src/pages/index.astro': '<p>nothing</p>' },
);
beforeEach(() => {
  service.put(1, 'imprint');
  service.put(2, '<b>terms</b>');
});

const legal = {
  'src/content.config.ts': collectionOf('legal', '{ imprint: { id: 1 }, terms: { id: 2 } }'),
  'src/pages/index.astro': `---
import { getCollection } from 'astro:content';
const entries = await getCollection('legal');
---
<ul>{entries.map(({ data }) => <li set:html={data.content} />)}</ul>`,
};
const imprint = { collection: 'legal', entry: 'imprint' };
// Too long to wait for, so these builds do not wait.
const outage = { failing: 1, retryAfter: '3600' };
const recordFolder = 'node_modules/.astro/astro-snippets';

test('a site that never showed snippets has no record, and `astro sync` makes none', async () => {
  expect(await site.list(recordFolder)).toEqual([]);
  await site.write(legal);
  expect((await site.sync(service.environment)).exitCode).toBe(0);
  expect(await site.list(recordFolder)).not.toContain('manifest.json');
});

test('a snippet only in a collection is listed, checked and reported, and a refresh asks for a build', async () => {
  const built = await copyOfEverything();
  const entry = { collection: 'legal', entry: 'imprint' };
  expect((await built.run('list')).output).toContain('Snippet 7\n    legal (collection), entry "imprint"\n');
  const { snippets } = JSON.parse((await built.run('list', '--json')).output);
  expect(snippets).toContainEqual(expect.objectContaining({ id: 7, pages: [], collections: [entry] }));

  built.service.put(7, 'a new imprint');
  const record = await readFile(built.record, 'utf8');
  expect((await built.sync(built.service.environment)).exitCode).toBe(0);
  expect(await readFile(built.record, 'utf8')).toBe(record);
  const { changed } = JSON.parse((await built.run('check', '--json')).output);
  expect(changed).toEqual([{ id: 7, newHash: hashOf('a new imprint'), pages: [], collections: [entry] }]);
  const before = await built.contents('dist');
  for (const flags of [[], ['--skip-modified'], ['--dry-run']]) {
    const output = await exits(3, built.run('refresh', ...flags));
    expect(output).toContain(
      'legal (collection), entry "imprint" shows a changed snippet, and which pages use this entry is not known\n',
    );
    expect(output).toContain('Build the site');
  }
  expect(await built.contents('dist')).toEqual(before);
  expect((await built.run('report')).exitCode).toBe(0);
  const report = await readFile(join(built.directory, 'snippets-report.html'), 'utf8');
  expect(report).toContain('legal (collection), entry &quot;imprint&quot;');
});

test('a snippet in a collection and on a page is counted once, and a refresh writes nothing', async () => {
  await site.write({
    ...legal,
    'astro.config.mjs': configWith(`{ staleIfError: '7d' }`),
    'src/pages/about.html': '<p><snippet-embed id="1"></snippet-embed></p>',
  });
  await site.builds();
  const places = '    about/index.html\n    legal (collection), entry "imprint"\n';
  expect((await site.run('list')).output).toContain(`Snippet 1\n${places}Snippet 2\n`);
  service.put(1, 'a new imprint');
  expect(await site.run('check')).toMatchObject({ exitCode: 10, output: `Snippet 1 has changed\n${places}` });
  const before = await site.texts();
  expect((await site.run('refresh')).exitCode).toBe(3);
  expect(await site.texts()).toEqual(before);

  // The page can be updated without the collection.
  expect(await exits(3, site.run('refresh', '--skip-modified'))).toContain('Updated about/index.html\n');
  expect(await site.read('about/index.html')).toContain('<p>a new imprint</p>');
  const { changed } = JSON.parse((await site.run('check', '--json')).output);
  expect(changed).toEqual([{ id: 1, newHash: hashOf('a new imprint'), pages: [], collections: [imprint] }]);
  expect((await site.run('refresh', '--skip-modified')).exitCode).toBe(3);
});

test('the record knows that a collection shows the last good content', async () => {
  service.put(2, '<b>new terms</b>');
  Object.assign(service.faults, outage);
  expect(await site.builds()).toContain('is shown instead on legal (collection), entry "terms"');
  expect(await site.read('index.html')).toContain('<b>terms</b>');
  service.clearFaults();
  expect(await exits(10, site.run('check'))).toContain(
    'Snippet 2 has changed\n    legal (collection), entry "terms"\n',
  );
});

test('a site that no longer shows snippets can be checked, without a key', async () => {
  await site.write({
    'src/content.config.ts': 'export const collections = {};',
    'src/pages/index.astro': '<p>nothing</p>',
    'src/pages/about.html': '<p>nothing</p>',
  });
  await site.builds();
  for (const name of ['check', 'list']) {
    expect(await exits(0, cli(site.directory, [name]))).toBe('The site shows no snippets.\n');
  }
  await site.builds({});
  expect((await cli(site.directory, ['check'])).exitCode).toBe(0);
});

test('a page that shows children has changed as soon as the service has the snippet', async () => {
  await site.write({
    'astro.config.mjs': configWith(),
    'src/pages/about.html':
      '<h1><snippet-embed id="2">children</snippet-embed></h1><p><snippet-embed id="1">a longer child</snippet-embed></p>',
  });
  Object.assign(service.faults, { ...outage, only: [1] });
  expect(await site.builds()).toMatch(
    /\[WARN\] \[astro-snippets\] Snippet 1 could not be .* Its children are shown instead on about\/index\.html, written in src\/pages\/about\.html:1\. \[rate-limited\]/,
  );
  expect(await site.read('about/index.html')).toContain('<h1><b>terms</b></h1><p>a longer child</p>');
  expect((await site.run('check')).exitCode).toBe(1);
  service.clearFaults();
  expect(await exits(10, site.run('check'))).toBe('Snippet 1 has changed\n    about/index.html\n');
  expect(await site.run('refresh')).toMatchObject({ exitCode: 0, output: 'Updated about/index.html\n' });
  expect(await site.read('about/index.html')).toContain('<h1><b>terms</b></h1><p>imprint</p>');
});
