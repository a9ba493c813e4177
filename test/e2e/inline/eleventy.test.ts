import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startCommand } from '../../support/command.ts';
import { cleanEnvironment } from '../../support/environment.ts';
import { createFolder, type Folder } from '../../support/folder.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const execute = promisify(execFile);
const eleventy = join(import.meta.dirname, '../../../node_modules/@11ty/eleventy/cmd.cjs');

let service: TestService;
let folder: Folder;

beforeAll(async () => {
  service = await startTestService({ 1: '<b>one</b>', 2: 'two & more', 3: '<ul><li>three</li></ul>' });
  folder = await createFolder({
    'eleventy.config.js': `
      export default function (config) {
        config.setInputDirectory('content');
        config.addPassthroughCopy({ static: '/' });
      }`,
    'package.json': '{ "type": "module" }',
    'static/robots.txt': 'User-agent: *\n',
    'content/_includes/page.njk':
      '<!doctype html><title>{{ title }}</title><body>{{ content | safe }}</body>',
    // Nunjucks escapes the title; the body is not escaped.
    'content/index.md': `---
layout: page.njk
title: 'Home <snippet-embed id="2"></snippet-embed>'
---
Hello, <snippet-embed id="1"></snippet-embed>.

<snippet-embed id="3"></snippet-embed>

Write \`<snippet-embed id="9"></snippet-embed>\`.
`,
    'content/about.html': '---\nlayout: page.njk\ntitle: About\n---\n<p>nothing</p>\n',
    'content/feed.njk': `---
permalink: feed.xml
---
<rss><item><description>{{ '<p><snippet-embed id="1"></snippet-embed></p>' | escape }}</description></item></rss>`,
  });
});
afterAll(async () => {
  await folder.remove();
  await service.close();
});

async function generate(): Promise<void> {
  await execute(process.execPath, [eleventy, '--quiet'], { cwd: folder.directory, env: cleanEnvironment() });
}

async function run(arguments_: string[], status = 0): Promise<string> {
  const { exitCode, output } = await startCommand(folder.directory, arguments_, service.environment).ended;
  expect(exitCode, output).toBe(status);
  return output;
}

test('Eleventy and astro-snippets inline, again and again', async () => {
  await generate();
  await run(['inline', '_site']);
  const home = await folder.read('_site/index.html');
  expect(home).toContain('<title>Home two &amp; more</title>');
  expect(home).toContain('<p>Hello, <b>one</b>.</p>');
  expect(home).toContain('<ul><li>three</li></ul>');
  expect(home).not.toContain('<p><ul>');
  expect(home).toContain('<code>&lt;snippet-embed id=&quot;9&quot;&gt;&lt;/snippet-embed&gt;</code>');
  expect(await folder.read('_site/feed.xml')).toContain('&lt;p&gt;&lt;b&gt;one&lt;/b&gt;&lt;/p&gt;');
  expect(await folder.read('_site/robots.txt')).toBe('User-agent: *\n');
  const listed = await run(['list']);
  expect(listed).toBe(
    'Snippet 1\n    feed.xml\n    index.html\nSnippet 2\n    index.html\nSnippet 3\n    index.html\n',
  );

  const first = await folder.files('_site');
  await generate();
  expect(await folder.read('_site/index.html')).toContain('<snippet-embed');
  await run(['inline', '_site']);
  expect(await folder.files('_site')).toEqual(first);
  expect(await run(['list'])).toBe(listed);

  service.put(1, '<b>changed</b>');
  expect(await run(['check'], 10)).toContain('Snippet 1 has changed\n    feed.xml\n    index.html');
  await run(['refresh']);
  const refreshed = await folder.files('_site');
  await generate();
  await run(['inline', '_site']);
  expect(await folder.files('_site')).toEqual(refreshed);
});

test('a page that Eleventy no longer writes stays in the output and in the record', async () => {
  await folder.write({ 'content/old.md': 'Old: <snippet-embed id="2"></snippet-embed>' });
  await generate();
  await run(['inline', '_site']);
  await folder.write({ 'content/old.md': '---\npermalink: false\n---\n' });
  await generate();
  await run(['inline', '_site']);
  expect(await folder.read('_site/old/index.html')).toContain('two & more');
  expect(await run(['list'])).toContain('Snippet 2\n    index.html\n    old/index.html');
});

test('watch builds with Eleventy where there is no record, and then refreshes', async () => {
  await rm(join(folder.directory, '.cache'), { recursive: true });
  await rm(join(folder.directory, '_site'), { recursive: true });
  const watching = startCommand(
    folder.directory,
    ['watch', '--every', '1s', '--build', buildCommand()],
    service.environment,
  );
  const home = () => folder.read('_site/index.html').catch(() => '');
  const patience = { timeout: 60_000, interval: 200 };
  try {
    await vi.waitFor(async () => expect(await home()).toContain('two &amp; more'), patience);
    service.put(2, 'published while watching');
    await vi.waitFor(async () => expect(await home()).toContain('published while watching'), patience);
  } finally {
    watching.process.kill('SIGTERM');
  }
  const { output } = await watching.ended;
  expect(output).toContain('Building the site.');
  expect(output).toContain('index.html is up to date');
});

function buildCommand(): string {
  const cli = join(import.meta.dirname, '../../../dist/cli/main.js');
  return `"${process.execPath}" "${eleventy}" --quiet && "${process.execPath}" "${cli}" inline _site`;
}
