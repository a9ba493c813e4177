import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { allowInTag, allowSources, findPolicies } from '../../src/html/content-security-policy.ts';
import { findInlineCode } from '../../src/html/inline-code.ts';
import { startBrowser } from '../support/browser.ts';
import { startCommand } from '../support/command.ts';
import { byAstro } from '../support/installation.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { configWith, createSite, type Site } from '../support/site.ts';

describe('sources are added to a policy:', () => {
  const sources = { scripts: ["'sha256-S'"], styles: ["'sha256-T'"] };
  test.for([
    ["script-src 'self'; style-src 'self';", "script-src 'self' 'sha256-S'; style-src 'self' 'sha256-T';"],
    ["SCRIPT-SRC 'self'", "SCRIPT-SRC 'self' 'sha256-S'"],
    ["script-src 'none'", "script-src 'sha256-S'"],
    ['script-src', "script-src 'sha256-S'"],
    ["script-src 'self' 'sha256-S'", "script-src 'self' 'sha256-S'"],
    ["script-src 'unsafe-inline'", "script-src 'unsafe-inline'"],
    ["script-src 'unsafe-inline' 'nonce-a'", "script-src 'unsafe-inline' 'nonce-a' 'sha256-S'"],
    ["script-src 'Unsafe-Inline'", "script-src 'Unsafe-Inline'"],
    ["script-src 'UNSAFE-INLINE' 'NONCE-a'", "script-src 'UNSAFE-INLINE' 'NONCE-a' 'sha256-S'"],
    ["script-src 'unsafe-inline' 'Sha256-a'", "script-src 'unsafe-inline' 'Sha256-a' 'sha256-S'"],
    ["script-src 'unsafe-inline' 'Strict-Dynamic'", "script-src 'unsafe-inline' 'Strict-Dynamic' 'sha256-S'"],
    ["script-src 'NONE'", "script-src 'sha256-S'"],
    ["default-src 'None'", "default-src 'None'; script-src 'sha256-S'; style-src 'sha256-T'"],
    ["script-src 'self'; script-src-elem 'self'", "script-src 'self'; script-src-elem 'self' 'sha256-S'"],
    ["default-src 'self'", "default-src 'self'; script-src 'self' 'sha256-S'; style-src 'self' 'sha256-T'"],
    [
      "default-src 'none'; img-src *;",
      "default-src 'none'; img-src *; script-src 'sha256-S'; style-src 'sha256-T'",
    ],
    ["img-src 'self'", "img-src 'self'"],
    ['', ''],
    ["script-src 'self', script-src x.test", "script-src 'self' 'sha256-S', script-src x.test 'sha256-S'"],
  ] as const)('%j becomes %j', ([policy, expected]) => {
    expect(allowSources(policy, sources)).toBe(expected);
    // Adding them again changes nothing.
    expect(allowSources(allowSources(policy, sources), sources)).toBe(expected);
    expect(allowSources(policy, { scripts: [], styles: [] })).toBe(policy);
  });
});

describe('inline code that a policy may block is found in', () => {
  test.for([
    ['<script>a</script><style>b</style>', 1, 1, false],
    ['<script src=x></script>', 0, 0, false],
    ['<script type="application/json">{}</script><script type="text/plain">x</script>', 0, 0, false],
    [
      '<script type=module>a</script><script type=importmap>{}</script><script type=" Text/JavaScript">b</script>',
      3,
      0,
      false,
    ],
    ['<svg><style>a</style></svg>', 0, 1, false],
    ['<svg><script href="x"></script><script>a</script></svg>', 1, 0, false],
    [
      '<script type="application/x-javascript">a</script><script type="text/ecmascript">b</script><script type="speculationrules">{}</script>',
      3,
      0,
      false,
    ],
    ['<template><script>a</script></template><noscript><style>b</style></noscript>', 0, 0, false],
    ['<b style="color:red">c</b>', 0, 0, true],
    ['<b onclick="x">c</b>', 0, 0, true],
    ['<!-- <script>a</script> --> text', 0, 0, false],
  ] as const)('%s', ([html, scripts, styles, hasAttributes]) => {
    const found = findInlineCode(html);
    expect([found.scripts.length, found.styles.length, found.hasAttributes]).toEqual([
      scripts,
      styles,
      hasAttributes,
    ]);
  });
});

test('the policy of a page is found in its head, and the other attributes of its element stay', () => {
  const page = Buffer.from(
    `<head><title>ü</title><META data-x='ü "q"' http-equiv="Content-Security-Policy" content="script-src &#39;self&#39;"></head><body><meta http-equiv="content-security-policy" content="x"></body>`,
  );
  const [policy, ...others] = findPolicies(page);
  expect(others).toEqual([]);
  expect(policy && page.subarray(policy.start, policy.end).toString()).toMatch(/^<META .*">$/);
  const tag = allowInTag(policy?.tag ?? '', { scripts: ["'sha256-S'"], styles: [] }).toString();
  expect(tag).toBe(
    `<meta data-x="ü &quot;q&quot;" http-equiv="Content-Security-Policy" content="script-src 'self' 'sha256-S'">`,
  );
});

describe('in a browser,', () => {
  let service: TestService;
  let site: Site;
  let browser: Browser;
  let server: Server | undefined;

  // CRLF and NUL: what a browser hashes is what its parser made of it.
  const code = (color: string) =>
    `<i>snippet</i><script>\r\ndocument.documentElement.dataset.ran = '${color}';</script><style>i { color: ${color}; }</style>`;
  // Both are experiments in Astro 5.
  const csp = byAstro({
    5: 'experimental: { csp: true }',
    6: 'security: { csp: true }',
    7: 'security: { csp: true }',
  });
  const policyOption = byAstro({ 5: 'experimental.csp', 6: 'security.csp', 7: 'security.csp' });
  const staticHeaders = byAstro({
    5: 'experimentalStaticHeaders: true',
    6: 'staticHeaders: true',
    7: 'staticHeaders: true',
  });
  const headersFile = byAstro({ 5: '_experimentalHeaders.json', 6: '_headers.json', 7: '_headers.json' });
  const config = (options: string, astro = '') => `
import { defineConfig } from 'astro/config';
import node from '@astrojs/node';
import snippets from 'astro-snippets';
export default defineConfig({ ${csp}, integrations: [snippets(${options})], ${astro} });`;

  beforeAll(async () => {
    service = await startTestService({
      1: code('red'),
      2: '<b style="color: red">styled</b>',
      3: '<b>harmless</b>',
    });
    site = await createSite({
      'src/pages/index.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<html><head><title>Home</title></head><body><p><Snippet id={1} /></p><script>document.documentElement.dataset.own = 'ran';</script></body></html>`,
      'src/pages/plain.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<html><head><title>Plain</title></head><body><p><Snippet id={2} /></p><p><Snippet id={3} /></p></body></html>`,
    });
    browser = await startBrowser();
  });
  afterEach(() => server?.close());
  afterAll(async () => {
    await browser.close();
    await site.remove();
    await service.close();
  });

  /** Serves a folder, with more headers. */
  async function serve(folder: string, headers: Record<string, string> = {}): Promise<string> {
    const started = createServer(async (request, response) => {
      const file = join(
        site.directory,
        folder,
        request.url?.endsWith('/') ? `${request.url}index.html` : (request.url ?? ''),
      );
      const body = await readFile(file).catch(() => undefined);
      const type = file.endsWith('.js') ? 'text/javascript' : 'text/html';
      response.writeHead(body === undefined ? 404 : 200, { 'content-type': type, ...headers }).end(body);
    });
    server = started;
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(started.address() as AddressInfo).port}/`;
  }

  /** What happened on the page: the effects of the snippet's script and of the site's own, and the snippet's color. */
  async function look(url: string) {
    const page = await browser.newPage();
    await page.goto(url);
    const seen = await page.evaluate(
      `({ ran: document.documentElement.dataset.ran, own: document.documentElement.dataset.own, color: getComputedStyle(document.querySelector('i')).color })`,
    );
    await page.close();
    return seen;
  }

  test("by default a snippet's script and style are blocked, and the build warns with its id", async () => {
    await site.write({ 'astro.config.mjs': config('') });
    const { exitCode, output } = await site.build(service.environment);
    expect(exitCode).toBe(0);
    expect(output).toMatch(
      /Snippet 1 contains an inline script and an inline style, blocked by the site's Content Security Policy\. Set csp: 'hash' .* It is on index\.html\./,
    );
    expect(output).toMatch(
      /Snippet 2 contains event handlers or style attributes, blocked by the site's Content Security Policy\..* It is on plain\/index\.html\./,
    );
    expect(output).not.toContain('Snippet 3');
    expect(await look(await serve('dist'))).toEqual({ own: 'ran', color: 'rgb(0, 0, 0)' });
  });

  test("csp: 'hash' allows a snippet's script and style on its page and no other, in the meta element", async () => {
    await site.write({ 'astro.config.mjs': config(`{ csp: 'hash' }`) });
    const { exitCode, output } = await site.build(service.environment);
    expect(exitCode).toBe(0);
    expect(output).not.toContain('Snippet 1 contains');
    expect(output).not.toContain('does nothing');
    expect(output).toContain(
      'Snippet 2 contains event handlers or style attributes, which no hash in a Content Security Policy can allow',
    );
    expect(await look(await serve('dist'))).toEqual({ ran: 'red', own: 'ran', color: 'rgb(255, 0, 0)' });
    for (const source of [...findInlineCode(code('red')).scripts, ...findInlineCode(code('red')).styles]) {
      expect(await site.read('index.html')).toContain(source);
      expect(await site.read('plain/index.html')).not.toContain(source);
    }
  });

  test("csp: 'hash' on a site without a policy is a warning that names Astro's option", async () => {
    const other = await createSite({
      'astro.config.mjs': configWith(`{ csp: 'hash' }`),
      'src/pages/index.astro': '<p>Nothing</p>',
    });
    const { exitCode, output } = await other.build();
    await other.remove();
    expect(exitCode).toBe(0);
    expect(output).toContain(
      `The option csp: 'hash' does nothing without ${policyOption} in the Astro config.`,
    );
  });

  test('a refresh updates the policy of a page to the same bytes as a build', async () => {
    service.put(1, code('red'));
    await site.write({ 'astro.config.mjs': config(`{ csp: 'hash' }`) });
    expect((await site.build(service.environment)).exitCode).toBe(0);
    service.put(1, code('blue'));
    const { exitCode } = await startCommand(site.directory, ['refresh'], service.environment).ended;
    expect(exitCode).toBe(0);
    expect(await look(await serve('dist'))).toEqual({ ran: 'blue', own: 'ran', color: 'rgb(0, 0, 255)' });
    const refreshed = await site.read('index.html');
    expect((await site.build(service.environment)).exitCode).toBe(0);
    expect(await site.read('index.html')).toBe(refreshed);
  });

  test("csp: 'hash' adds hashes to the headers of an adapter that sends them", async () => {
    service.put(1, code('blue'));
    await site.write({
      'astro.config.mjs': config(
        `{ csp: 'hash' }`,
        `adapter: node({ mode: 'standalone', ${staticHeaders} })`,
      ),
    });
    expect((await site.build(service.environment)).exitCode).toBe(0);
    expect(await site.read('client/index.html')).not.toContain('http-equiv');
    const routes: { pathname: string; headers: { value: string }[] }[] = JSON.parse(
      await site.read(headersFile),
    );
    const policy = routes.find(({ pathname }) => pathname === '/')?.headers[0]?.value ?? '';
    const url = await serve('dist/client', { 'content-security-policy': policy });
    expect(await look(url)).toEqual({ ran: 'blue', own: 'ran', color: 'rgb(0, 0, 255)' });

    // The headers stay the same as long as the scripts and styles do.
    service.put(1, code('blue').replace('snippet', 'words'));
    const words = await startCommand(site.directory, ['refresh'], service.environment).ended;
    expect(words.exitCode).toBe(0);
    expect(await site.read('client/index.html')).toContain('<i>words</i>');

    service.put(1, code('green'));
    const { exitCode, output } = await startCommand(site.directory, ['refresh'], service.environment).ended;
    expect(exitCode).toBe(3);
    expect(output).toContain('index.html has its policy in headers, which only a build writes');
  });

  test('a page without a head element gets the hashes from a build and from a refresh', async () => {
    service.put(1, code('red'));
    await site.write({
      'astro.config.mjs': config(`{ csp: 'hash' }`),
      'src/pages/headless.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<p><Snippet id={1} /></p>`,
    });
    expect((await site.build(service.environment)).exitCode).toBe(0);
    expect(await site.read('headless/index.html')).toContain('http-equiv');
    expect(await site.read('headless/index.html')).not.toContain('</head');
    const url = `${await serve('dist')}headless/`;
    expect(await look(url)).toEqual({ ran: 'red', color: 'rgb(255, 0, 0)' });
    service.put(1, code('purple'));
    const { exitCode } = await startCommand(site.directory, ['refresh'], service.environment).ended;
    expect(exitCode).toBe(0);
    expect(await look(url)).toEqual({ ran: 'purple', color: 'rgb(128, 0, 128)' });
  });

  test('a page that shows a snippet only as text allows none of its code', async () => {
    service.put(1, code('red'));
    await site.write({
      'astro.config.mjs': config(`{ csp: 'hash' }`),
      'src/pages/text.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<html><head><title>Text</title></head><body><p>Text: <Snippet id={1} as="text" /></p></body></html>`,
    });
    const policyOf = async () => /<meta http-equiv[^>]*>/.exec(await site.read('text/index.html'))?.[0];
    expect((await site.build(service.environment)).exitCode).toBe(0);
    const policy = await policyOf();
    expect(policy).toContain('script-src');
    for (const source of [...findInlineCode(code('red')).scripts, ...findInlineCode(code('red')).styles]) {
      expect(policy).not.toContain(source);
    }
    service.put(1, code('purple'));
    const { exitCode } = await startCommand(site.directory, ['refresh'], service.environment).ended;
    expect(exitCode).toBe(0);
    expect(await policyOf()).toBe(policy);
  });

  test.for(['directory', 'file'] as const)(
    'the headers of every page get the hashes, with a base and build.format "%s"',
    async (format) => {
      const other = await createSite({
        'astro.config.mjs': config(
          `{ csp: 'hash' }`,
          `base: '/docs', build: { format: '${format}' }, adapter: node({ mode: 'standalone', ${staticHeaders} })`,
        ),
        'src/pages/[...page].astro': `---
import { Snippet } from 'astro-snippets/components';
export const getStaticPaths = () => [undefined, 'one', 'deep/two', 'drei-ü'].map((page) => ({ params: { page } }));
---
<html><head><title>Page</title></head><body><p><Snippet id={1} /></p></body></html>`,
      });
      service.put(1, code('red'));
      expect((await other.build(service.environment)).exitCode).toBe(0);
      const routes: { pathname: string; headers: { value: string }[] }[] = JSON.parse(
        await other.read(headersFile),
      );
      expect(routes).toHaveLength(4);
      const { scripts, styles } = findInlineCode(code('red'));
      for (const { pathname, headers } of routes) {
        for (const source of [...scripts, ...styles]) expect(headers[0]?.value, pathname).toContain(source);
      }
      await other.remove();
    },
  );
});
