import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { builtSite } from '../support/built-site.ts';
import { cli } from '../support/cli.ts';
import { byAstro } from '../support/installation.ts';
import { temporarySite } from '../support/site.ts';

// Snippet 9 is published and taken away again; snippet 1 is always there.
const pages = {
  'src/pages/index.astro': `---
import { Snippet } from 'astro-snippets/components';
const title = '<snippet-embed id="9" optional>Tom &amp; <b>Jerry</b></snippet-embed>';
---
<html><head><title><snippet-embed id="9" optional>Plain &amp; <i>simple</i></snippet-embed></title>
<meta name="description" content={title}></head>
<body><h1>{title}</h1>
<p id="component"><Snippet id={9} optional><b>none</b> &amp; nothing</Snippet></p>
<p id="off"><Snippet id={1} optional={false} /></p>
<p id="text"><Snippet id={9} optional as="text"><b>as</b> &lt;text&gt;</Snippet></p>
<p id="empty"><snippet-embed id="9" optional="true"></snippet-embed></p>
</body></html>`,
  'src/pages/post.md':
    'Before\n\n<snippet-embed id="9" optional><div>a block</div></snippet-embed>\n\n<snippet-embed id="9" optional>words</snippet-embed>\n\nAfter\n\n<snippet-embed id="9" optional>\n<div>on lines of its own</div>\n</snippet-embed>\n',
  'src/pages/feed.xml.ts': `const embed = (children: string) =>
  '&lt;snippet-embed id="9" optional>' + children + '&lt;/snippet-embed>';
export const GET = () => new Response(
  '<?xml version="1.0"?><rss><item><title>' + embed('Old &amp;amp; &lt;b>new&lt;/b>') + '</title><description>' + embed('&lt;b>bold&lt;/b>') + '</description></item></rss>',
);`,
  'src/pages/data.json.ts': `export const GET = () => Response.json({ html: '<snippet-embed id="9" optional>"quoted"</snippet-embed>' });`,
};

const { service, site, output } = await builtSite({ 1: '<b>one</b>' }, pages);
beforeEach(() => service.unpublish(9));

const run = (...arguments_: string[]) => cli(site.directory, arguments_, service.environment);

/** A full build instead of what was refreshed makes the same, and the record knows it. */
async function expectLikeBuild(refreshed: Record<string, string>): Promise<void> {
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode, output).toBe(0);
  expect(await site.texts()).toEqual(refreshed);
}

test('optional embeds of a snippet that does not exist show their children, as text where text is shown', async () => {
  const home = await site.read('index.html');
  for (const shown of [
    '<title>Plain &amp; simple</title>',
    'content="Tom &amp; Jerry"',
    '<h1>Tom &amp; Jerry</h1>',
    '<p id="component"><b>none</b> &amp; nothing</p>',
    '<p id="off"><b>one</b></p>',
    '<p id="text">as &lt;text&gt;</p>',
    '<p id="empty"></p>',
  ]) {
    expect(home).toContain(shown);
  }
  // Remark ends a paragraph before a block, and the embed with it.
  const parted = '<p></p><div>a block</div><p></p>';
  const block = byAstro({ 5: parted, 6: parted, 7: '<div>a block</div>' });
  const post = await site.read('post/index.html');
  expect(post).toContain(`<p>Before</p>\n${block}\n<p>words</p>\n<p>After</p>`);
  expect(post).toMatch(/<p>After<\/p>\s*<div>on lines of its own<\/div>/);
  const feed = await site.read('feed.xml');
  expect(feed).toContain('<title>Old &amp; new</title>');
  expect(feed).toContain('<description>&lt;b>bold&lt;/b></description>');
  expect(JSON.parse(await site.read('data.json'))).toEqual({ html: '"quoted"' });
  expect(output).toMatch(
    /\[WARN\] \[astro-snippets\] Snippet 9 .*404.* Its children are shown instead on data\.json, feed\.xml, index\.html and 1 more place\. \[not-found\]/,
  );
  expect(output).toMatch(/2 snippets in .* · 1 optional snippet not found · /);
});

test('list and report name an optional snippet that does not exist', async () => {
  expect((await run('list')).output).toContain(
    'Snippet 9 does not exist: children are shown\n    data.json\n',
  );
  const { snippets } = JSON.parse((await run('list', '--json')).output);
  expect(snippets.find(({ id }: { id: number }) => id === 9)).toMatchObject({ missing: true });
  expect((await run('report')).exitCode).toBe(0);
  expect(await readFile(join(site.directory, 'snippets-report.html'), 'utf8')).toContain(
    'not found, children shown',
  );
});

test('a refresh shows an optional snippet that was published since, and its children when it is gone, as a full build does', async () => {
  const without = await site.texts();
  expect(await run('check')).toMatchObject({ exitCode: 0 });
  expect(await run('refresh')).toMatchObject({ exitCode: 0, output: 'Nothing has changed.\n' });

  service.put(9, '<div>nine &amp; more</div>');
  expect(await run('check')).toMatchObject({
    exitCode: 10,
    output: expect.stringContaining('Snippet 9 has changed\n    data.json\n'),
  });
  expect((await run('refresh')).exitCode).toBe(0);
  const refreshed = await site.texts();
  expect(refreshed['index.html']).toContain('<title>nine &amp; more</title>');
  expect((await run('list')).output).toContain('Snippet 9\n    data.json\n');
  await expectLikeBuild(refreshed);

  service.unpublish(9);
  expect(await run('check')).toMatchObject({
    exitCode: 10,
    output: expect.stringContaining('Snippet 9 no longer exists, and is optional\n    data.json\n'),
  });
  const { changed } = JSON.parse((await run('check', '--json')).output);
  expect(changed).toEqual([expect.objectContaining({ id: 9, missing: true })]);
  expect((await run('refresh', '--dry-run')).output).toContain('-<div>nine &amp; more</div>');
  expect((await run('refresh')).exitCode).toBe(0);
  expect(await site.texts()).toEqual(without);
  expect(await run('check')).toMatchObject({ exitCode: 0 });
  expect((await run('list')).output).toContain('Snippet 9 does not exist: children are shown\n');
});

test('an embed that is not optional fails the build and the refresh, although others of the snippet are optional', async () => {
  const [optional, required] = [
    '<snippet-embed id="9" optional>a</snippet-embed>',
    '<snippet-embed id="9">b</snippet-embed>',
  ];
  const other = await temporarySite({
    'src/pages/optional.astro': `<p>${optional}</p>`,
    'src/pages/required.astro': `<p>${required}</p>`,
    'src/pages/both.astro': `<p>${optional} ${required}</p>`,
    'src/pages/reversed.astro': `<p>${required} ${optional}</p>`,
  });
  const places = '    on both/index.html, required/index.html, reversed/index.html\n';
  const failed = await other.build(service.environment);
  expect(failed.exitCode).toBe(1);
  expect(failed.output).toContain('Snippet 9: 404 Not Found [not-found]');
  expect(failed.output).toContain(places);
  service.put(9, 'nine');
  expect((await other.build(service.environment)).exitCode).toBe(0);
  service.unpublish(9);
  const refreshed = await cli(other.directory, ['refresh'], service.environment);
  expect(refreshed.exitCode).toBe(1);
  expect(refreshed.output).toContain(places);
});

test('an optional embed without children fails the build while the service cannot answer', async () => {
  const other = await temporarySite({
    'src/pages/index.astro': '<p><snippet-embed id="1" optional></snippet-embed></p>',
  });
  Object.assign(service.faults, { failing: 1, retryAfter: '3600' });
  const { exitCode, output } = await other.build(service.environment);
  service.clearFaults();
  expect(exitCode).toBe(1);
  expect(output).toContain('[rate-limited]');
});
