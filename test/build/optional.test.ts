import { cp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startCommand } from '../support/command.ts';
import { byAstro } from '../support/installation.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { configWith, createSite, type Site } from '../support/site.ts';

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
  'src/pages/other.astro': '<p><snippet-embed id="1"></snippet-embed></p>',
};

const required = { 'src/pages/required.astro': '<p><snippet-embed id="9">children</snippet-embed></p>' };

let service: TestService;
let site: Site;
beforeAll(async () => {
  service = await startTestService({ 1: '<b>one</b>' });
  site = await createSite(pages);
});
afterEach(() => service.unpublish(9));
afterAll(async () => {
  await site.remove();
  await service.close();
});

const build = async () => {
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode, output).toBe(0);
  return output;
};
const run = (...arguments_: string[]) => startCommand(site.directory, arguments_, service.environment).ended;

async function contents(): Promise<Record<string, string>> {
  const names = await site.list();
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await site.read(name)])));
}

/** The output of a full build. What was built before stays, with its record. */
async function fullBuild(): Promise<Record<string, string>> {
  const at = (name: string) => join(site.directory, name);
  const record = 'node_modules/.astro/astro-snippets';
  await cp(at('dist'), at('kept/dist'), { recursive: true });
  await cp(at(record), at('kept/record'), { recursive: true });
  await build();
  const built = await contents();
  for (const [from, to] of [
    ['kept/dist', 'dist'],
    ['kept/record', record],
  ] as const) {
    await rm(at(to), { recursive: true });
    await rename(at(from), at(to));
  }
  return built;
}

test('optional embeds of a snippet that does not exist show their children, as text where text is shown', async () => {
  const output = await build();
  const home = await site.read('index.html');
  expect(home).toContain('<title>Plain &amp; simple</title>');
  expect(home).toContain('content="Tom &amp; Jerry"');
  expect(home).toContain('<h1>Tom &amp; Jerry</h1>');
  expect(home).toContain('<p id="component"><b>none</b> &amp; nothing</p>');
  expect(home).toContain('<p id="off"><b>one</b></p>');
  expect(home).toContain('<p id="text">as &lt;text&gt;</p>');
  expect(home).toContain('<p id="empty"></p>');
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
  await build();
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
  await build();
  const without = await contents();
  expect(await run('check')).toMatchObject({ exitCode: 0 });
  expect(await run('refresh')).toEqual({ exitCode: 0, output: 'Nothing has changed.\n' });

  service.put(9, '<div>nine &amp; more</div>');
  expect(await run('check')).toMatchObject({
    exitCode: 10,
    output: expect.stringContaining('Snippet 9 has changed\n    data.json\n'),
  });
  expect((await run('refresh')).exitCode).toBe(0);
  const refreshed = await contents();
  expect(refreshed['index.html']).toContain('<title>nine &amp; more</title>');
  expect(refreshed).toEqual(await fullBuild());
  expect((await run('list')).output).toContain('Snippet 9\n    data.json\n');

  service.unpublish(9);
  expect(await run('check')).toMatchObject({
    exitCode: 10,
    output: expect.stringContaining('Snippet 9 no longer exists, and is optional\n    data.json\n'),
  });
  const { changed } = JSON.parse((await run('check', '--json')).output);
  expect(changed).toEqual([expect.objectContaining({ id: 9, missing: true })]);
  expect((await run('refresh', '--dry-run')).output).toContain('-<div>nine &amp; more</div>');
  expect((await run('refresh')).exitCode).toBe(0);
  expect(await contents()).toEqual(without);
  expect(await contents()).toEqual(await fullBuild());
  expect(await run('check')).toMatchObject({ exitCode: 0 });
  expect((await run('list')).output).toContain('Snippet 9 does not exist: children are shown\n');
});

test('a refresh of a site that was built while an optional snippet existed shows its children when it is gone', async () => {
  service.put(9, '<b>nine</b>');
  await build();
  service.unpublish(9);
  expect((await run('refresh')).exitCode).toBe(0);
  expect(await contents()).toEqual(await fullBuild());
});

test('a refresh of a site that sanitizes asks for a build when an optional snippet is gone', async () => {
  service.put(9, 'nine');
  const other = await createSite({
    'astro.config.mjs': configWith('{ sanitize: (html) => html.toUpperCase() }'),
    'src/pages/index.astro': '<p><snippet-embed id="9" optional>children</snippet-embed></p>',
  });
  expect((await other.build(service.environment)).exitCode).toBe(0);
  service.unpublish(9);
  const refreshed = await startCommand(other.directory, ['refresh'], service.environment).ended;
  expect(refreshed.exitCode).toBe(3);
  expect(refreshed.output).toContain('index.html shows content that only a build sanitizes');
  expect(await other.read('index.html')).toContain('NINE');
  await other.remove();
});

test('an embed that is not optional fails the build and the refresh, although others of the snippet are optional', async () => {
  const other = await createSite({ ...pages, ...required });
  const failed = await other.build(service.environment);
  expect(failed.exitCode).toBe(1);
  expect(failed.output).toContain('Snippet 9: 404 Not Found [not-found]');
  expect(failed.output).toContain('    on required/index.html\n');
  service.put(9, 'nine');
  expect((await other.build(service.environment)).exitCode).toBe(0);
  service.unpublish(9);
  const refreshed = await startCommand(other.directory, ['refresh'], service.environment).ended;
  expect(refreshed.exitCode).toBe(1);
  expect(refreshed.output).toContain('    on required/index.html\n');
  await other.remove();
});

test('an optional embed and another one of the same snippet on one page fail the build', async () => {
  const embeds = [
    '<snippet-embed id="9" optional>a</snippet-embed>',
    '<snippet-embed id="9">b</snippet-embed>',
  ];
  const other = await createSite({
    'src/pages/first.astro': `<p>${embeds.join(' ')}</p>`,
    'src/pages/last.astro': `<p>${embeds.toReversed().join(' ')}</p>`,
  });
  const { exitCode, output } = await other.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toContain('    on first/index.html, last/index.html\n');
  await other.remove();
});

test('an optional embed without children fails the build while the service is down', async () => {
  const other = await createSite({
    'src/pages/index.astro': '<p><snippet-embed id="9" optional></snippet-embed></p>',
  });
  const { exitCode, output } = await other.build({
    ...service.environment,
    SNIPPETS_RENDER_BASE_URL: 'https://127.0.0.1:9',
    SNIPPETS_RETRIEVE_BASE_URL: '',
  });
  expect(exitCode).toBe(1);
  expect(output).toContain('[network]');
  await other.remove();
});

test('another value of optional is an error with its place', async () => {
  const element = await createSite({
    'src/pages/index.astro': '<p>\n<snippet-embed id="9" optional="constructor">a</snippet-embed></p>',
  });
  const { exitCode, output } = await element.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toMatch(
    /index\.html:\d\n {4}The attribute `optional` of an embed takes no value\. \[invalid-optional\]/,
  );
  await element.write({
    'src/pages/index.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<p><Snippet id={9} optional="maybe" /></p>`,
  });
  const component = await element.build(service.environment);
  expect(component.exitCode).toBe(1);
  expect(component.output).toContain('`optional` must be true or false, not "maybe".');
  expect(component.output).toContain('src/pages/index.astro:4');
  await element.remove();
});
