import { beforeEach, expect, test } from 'vitest';
import { builtSite } from '../support/site/built-site.ts';
import { folderWith } from '../support/site/folder.ts';
import { byAstro } from '../support/site/installation.ts';
import { cli } from '../support/tools/cli.ts';
import { exits } from '../support/tools/exits.ts';

// Snippet 9 is published and unpublished. Snippet 1 is always there.
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

test('optional embeds of a missing snippet show their children, as text where text is needed', async () => {
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
  // Remark ends a paragraph, and the embed in it, before a block.
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
    /\[WARN\] \[astro-snippets\] Snippet 9 .*404.* Its children are shown instead on data\.json, feed\.xml, index\.html and 1 more place, written in src\/pages\/data\.json\.ts:1, .* and \d more places\. \[not-found\]/,
  );
  expect(output).toMatch(/2 snippets in .* · 1 optional snippet not found · /);
});

test('a refresh shows an optional snippet that was published since, and its children when it is gone', async () => {
  const without = await site.texts();
  const { snippets } = JSON.parse((await site.run('list', '--json')).output);
  expect(snippets).toContainEqual(expect.objectContaining({ id: 9, missing: true }));
  expect(await site.run('check')).toMatchObject({ exitCode: 0 });
  expect(await site.run('refresh')).toMatchObject({ exitCode: 0, output: 'Nothing has changed.\n' });

  service.put(9, '<div>nine &amp; more</div>');
  expect(await exits(10, site.run('check'))).toContain('Snippet 9 has changed\n    data.json\n');
  expect((await site.run('refresh')).exitCode).toBe(0);
  const refreshed = await site.texts();
  expect(refreshed['index.html']).toContain('<title>nine &amp; more</title>');
  expect((await site.run('list')).output).toContain('Snippet 9\n    data.json\n');

  service.unpublish(9);
  expect(await exits(10, site.run('check'))).toContain(
    'Snippet 9 no longer exists, and is optional\n    data.json\n',
  );
  const { changed } = JSON.parse((await site.run('check', '--json')).output);
  expect(changed).toEqual([expect.objectContaining({ id: 9, missing: true })]);
  expect((await site.run('refresh', '--dry-run')).output).toContain('-<div>nine &amp; more</div>');
  expect((await site.run('refresh')).exitCode).toBe(0);
  expect(await site.texts()).toEqual(without);
  expect(await site.run('check')).toMatchObject({ exitCode: 0 });
  expect((await site.run('list')).output).toContain('Snippet 9 does not exist: children are shown\n');
});

test('an embed that is not optional fails inline and refresh, even if others of its snippet are optional', async () => {
  const [optional, required] = [
    '<snippet-embed id="9" optional>a</snippet-embed>',
    '<snippet-embed id="9">b</snippet-embed>',
  ];
  const { directory } = await folderWith({
    'dist/optional.html': `<p>${optional}</p>`,
    'dist/required.html': `<p>${required}</p>`,
    'dist/both.html': `<p>${optional} ${required}</p>`,
    'dist/reversed.html': `<p>${required} ${optional}</p>`,
  });
  const runThere = (...argv: string[]) => cli(directory, argv, service.environment);
  const fails = {
    exitCode: 1,
    output: expect.stringMatching(
      /Snippet 9: 404 Not Found \[not-found\]\n[\s\S]*\n {4}on both\.html, required\.html, reversed\.html\n/,
    ),
  };
  expect(await runThere('inline', 'dist')).toMatchObject(fails);
  service.put(9, 'nine');
  expect(await runThere('inline', 'dist')).toMatchObject({ exitCode: 0 });
  service.unpublish(9);
  expect(await runThere('refresh')).toMatchObject(fails);
});

test('an optional embed without children fails while the service is down', async () => {
  const { directory } = await folderWith({
    'dist/index.html': '<p><snippet-embed id="1" optional></snippet-embed></p>',
  });
  Object.assign(service.faults, { failing: 1, retryAfter: '3600' });
  const output = await exits(1, cli(directory, ['inline', 'dist'], service.environment));
  service.clearFaults();
  expect(output).toContain('[rate-limited]');
});
