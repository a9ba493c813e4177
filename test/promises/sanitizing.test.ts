import fc from 'fast-check';
import createDomPurify from 'isomorphic-dompurify';
import sanitizeHtml from 'sanitize-html';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createRequest } from '../../src/client/snippet-request.ts';
import { applyRules } from '../../src/html/rules.ts';
import { findScripts, stripScripts } from '../../src/html/scripts.ts';
import type { HtmlRules } from '../../src/settings/options.ts';
import { startCommand } from '../support/command.ts';
import { runs } from '../support/property.ts';
import { startServer, textWithoutAnswers } from '../support/server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { configWith, createSite, type Site } from '../support/site.ts';

const rules: HtmlRules = { sanitize: undefined, scripts: 'allow', strict: false, policy: 'none' };
const snippet = (content: string) => ({ content, variant: 'render' as const, milliseconds: 1 });
const use = { request: createRequest(42, { plan: 'pro' }), asHtml: true };

describe('the option sanitize', () => {
  test('receives the content, the id and the params, and returns the HTML for the page', async () => {
    const calls: unknown[] = [];
    const sanitize: HtmlRules['sanitize'] = (...all) => {
      calls.push(all);
      return '<b>clean</b>';
    };
    const prepared = await applyRules(snippet('<i>raw</i>'), use, { ...rules, sanitize });
    expect(prepared).toEqual({ html: '<b>clean</b>', text: 'clean', warnings: [], inlineCode: undefined });
    expect(calls).toEqual([['<i>raw</i>', { id: 42, params: { plan: 'pro' } }]]);
  });

  test.each([
    [() => Promise.resolve(7) as never, 'sanitize returned a value of type number instead of a string'],
    [() => Promise.reject(new Error('too late')), 'too late'],
    [() => undefined as never, 'sanitize returned a value of type undefined instead of a string'],
    [
      () => {
        throw new Error('no\u001b[31m way');
      },
      'no way',
    ],
  ])('fails with an error that names the snippet (%#)', async (sanitize, message) => {
    await expect(applyRules(snippet('a'), use, { ...rules, sanitize })).rejects.toMatchObject({
      code: 'sanitize-failed',
      message: `Snippet 42 could not be sanitized: ${message}`,
    });
  });

  const hostile =
    '<p>Hello</p><img src=x onerror=alert(1)><script>alert(1)</script><a href="javascript:alert(1)">x</a>';
  test.each<[string, NonNullable<HtmlRules['sanitize']>, string]>([
    [
      'sanitize-html',
      (html) => sanitizeHtml(html, { allowedTags: [...sanitizeHtml.defaults.allowedTags, 'img'] }),
      '<p>Hello</p><img src="x" /><a>x</a>',
    ],
    ['DOMPurify', (html) => createDomPurify.sanitize(html), '<p>Hello</p><img src="x"><a>x</a>'],
  ])('works with %s as in the documentation', async (_what, sanitize, clean) => {
    expect((await applyRules(snippet(hostile), use, { ...rules, sanitize })).html).toBe(clean);
  });
});

describe('the option scripts', () => {
  const table: [html: string, stripped: string, what: string][] = [
    ['a<script>x</script>b', 'ab', '<script>'],
    ['a<SCRIPT src=x></SCRIPT >b', 'ab', '<script>'],
    ['a<script>x', 'a', '<script>'],
    ['<svg><script>x</script><g/></svg>', '<svg><g/></svg>', '<script>'],
    ['<template><script>x</script></template>', '<template></template>', '<script>'],
    ['<b onclick="x()" class=a>c</b>', '<b  class=a>c</b>', 'the attribute onclick'],
    ['<img/onerror=x src=y>', '<img/ src=y>', 'the attribute onerror'],
    ['<a HREF=" java&#10;script:x">c</a>', '<a >c</a>', 'a javascript: URL in href'],
    ['<svg><a xlink:href="javascript:x">c</a></svg>', '<svg><a >c</a></svg>', 'a javascript: URL in href'],
    [
      '<svg><animate attributeName=href values="#a;javascript:x"></svg>',
      '<svg><animate attributeName=href ></svg>',
      'a javascript: URL in values',
    ],
    ['<iframe srcdoc="<script>x</script>"></iframe>', '<iframe ></iframe>', 'the attribute srcdoc'],
    ['<<script></script>script>x</script>', '', '<script>'],
  ];
  test.each(table)('strips, allows or refuses the script in %s', async (html, stripped, what) => {
    expect(stripScripts(html)).toBe(stripped);
    expect((await applyRules(snippet(html), use, { ...rules, scripts: 'strip' })).html).toBe(stripped);
    expect((await applyRules(snippet(html), use, rules)).html).toBe(html);
    await expect(applyRules(snippet(html), use, { ...rules, scripts: 'error' })).rejects.toMatchObject({
      code: 'script-refused',
      message: `Snippet 42 contains ${what}.`,
    });
  });

  test.each([
    'plain text, on and off: javascript: is a word',
    '<p class="on" data-on-click="x">a  <b>c</b></P>\r\n<!-- <script>x</script> -->&amp;',
    '<a href="https://x.test/?javascript:x">c</a>',
    '<textarea><script>x</script></textarea>',
  ])('keeps HTML without scripts byte for byte: %s', (html) => {
    expect(stripScripts(html)).toBe(html);
  });

  test('leaves no script in random HTML', () => {
    const pieces = fc.constantFrom(
      ...[
        '<script>',
        '</script>',
        '<scr',
        'ipt>',
        '<svg>',
        '</svg>',
        '<b onclick=x>',
        '<a href="java',
        'script:x">',
      ],
      ...[
        '<',
        '>',
        '"',
        "'",
        '<!--',
        '-->',
        '<template>',
        '<textarea>',
        '</textarea>',
        '<style>',
        '<table>',
        '<p>',
        '</p>',
      ],
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string({ maxLength: 3 })), { maxLength: 15 }), (parts) => {
        const stripped = stripScripts(parts.join('')) ?? '';
        expect(findScripts(stripped)).toEqual([]);
        expect(stripped).not.toMatch(/^<script>/);
      }),
      { numRuns: runs(1_000) },
    );
  });
});

describe('on a site,', () => {
  let service: TestService;
  let site: Site;
  beforeAll(async () => {
    service = await startTestService({ 1: '<b onclick="x()">one</b><script>x</script>' });
    site = await createSite({
      'src/pages/index.html':
        '<title><snippet-embed id="1"></snippet-embed></title><p><snippet-embed id="1"></snippet-embed></p>',
    });
  });
  afterAll(async () => {
    await site.remove();
    await service.close();
  });
  const refresh = () => startCommand(site.directory, ['refresh'], service.environment).ended;

  test("scripts: 'strip' works in a build and in a refresh, and text has no scripts anyway", async () => {
    await site.write({ 'astro.config.mjs': configWith(`{ scripts: 'strip' }`) });
    expect((await site.build(service.environment)).exitCode).toBe(0);
    expect(await site.read('index.html')).toContain('<title>one</title><p><b >one</b></p>');
    service.put(1, '<i>two</i><script>y</script>');
    expect((await refresh()).exitCode).toBe(0);
    expect(await site.read('index.html')).toContain('<title>two</title><p><i>two</i></p>');
    const refreshed = await site.read('index.html');
    expect((await site.build(service.environment)).exitCode).toBe(0);
    expect(await site.read('index.html')).toBe(refreshed);
  });

  test("scripts: 'error' fails the build and names the snippet", async () => {
    await site.write({ 'astro.config.mjs': configWith(`{ scripts: 'error' }`) });
    const { exitCode, output } = await site.build(service.environment);
    expect(exitCode).toBe(1);
    expect(output).toMatch(/Snippet 1: contains <script>\. \[script-refused\]\s+on index\.html/);
    expect(await site.list()).not.toContain('index.html');
  });

  test('a refresh leaves pages to a build if the site has a sanitize function', async () => {
    service.put(1, '<i>two</i><script>y</script>');
    await site.write({
      'astro.config.mjs': configWith(
        `{ sanitize: (html, { id }) => html.replaceAll('<script>', '<!-- of ' + id + ' -->') }`,
      ),
    });
    expect((await site.build(service.environment)).exitCode).toBe(0);
    expect(await site.read('index.html')).toContain(
      '<title>twoy</title><p><i>two</i><!-- of 1 -->y</script></p>',
    );
    expect((await refresh()).output).toBe('Nothing has changed.\n');
    service.put(1, '<i>three</i><script>y</script>');
    const { exitCode, output } = await refresh();
    expect(exitCode).toBe(3);
    expect(output).toContain(
      'index.html shows content that only a build sanitizes\nNothing was written. Build the site',
    );
    expect(await site.read('index.html')).toContain('two');
  });
});

describe('rules for HTML apply only where a snippet is shown as HTML:', () => {
  const asHtml = (id: number) => `<p><snippet-embed id="${id}"></snippet-embed></p>`;
  const asText = (id: number) => `<p><snippet-embed id="${id}" as="text"></snippet-embed></p>`;
  const hostile = (word: string) => `<b onclick="x()">${word}</b><script>x</script>`;
  let service: TestService;
  let site: Site;
  beforeAll(async () => {
    service = await startTestService({});
    // Pages are read in the order of their names, so these decide whether a snippet is first seen as HTML or as text.
    site = await createSite({
      'src/pages/html.html': `<title>HTML</title>${asHtml(1)}`,
      'src/pages/text.html': `<title><snippet-embed id="2"></snippet-embed></title>${asText(2)}`,
      'src/pages/three-a.html': `<title><snippet-embed id="3"></snippet-embed></title>${asText(3)}`,
      'src/pages/three-b.html': `<title>Three</title>${asHtml(3)}`,
      'src/pages/three-c.html': `<title>Three</title>${asText(3)}`,
    });
  });
  beforeEach(() => {
    service.put(1, hostile('one'));
    service.put(2, 'two & 2');
    service.put(3, hostile('three'));
  });
  afterAll(async () => {
    await site.remove();
    await service.close();
  });
  const configure = (options: string) => site.write({ 'astro.config.mjs': configWith(options) });
  const build = () => site.build(service.environment);
  const refresh = () => startCommand(site.directory, ['refresh'], service.environment).ended;

  test("scripts: 'strip' in a build and in a refresh, whether text comes first or last", async () => {
    await configure(`{ scripts: 'strip' }`);
    expect((await build()).exitCode).toBe(0);
    expect(await site.read('html/index.html')).toContain('<p><b >one</b></p>');
    expect(await site.read('three-b/index.html')).toContain('<p><b >three</b></p>');
    for (const name of ['three-a', 'three-c']) {
      expect(await site.read(`${name}/index.html`)).not.toMatch(/<b[ >]|<script/);
    }
    expect(await site.read('text/index.html')).toContain('<title>two &amp; 2</title><p>two &amp; 2</p>');

    service.put(1, hostile('new one'));
    service.put(2, 'new two & 2');
    service.put(3, hostile('new three'));
    expect((await refresh()).exitCode).toBe(0);
    expect(await site.read('html/index.html')).toContain('<p><b >new one</b></p>');
    expect(await site.read('three-b/index.html')).toContain('<p><b >new three</b></p>');
    for (const name of ['three-a', 'three-c']) {
      expect(await site.read(`${name}/index.html`)).not.toMatch(/<b[ >]|<script/);
    }
    expect(await site.read('text/index.html')).toContain(
      '<title>new two &amp; 2</title><p>new two &amp; 2</p>',
    );
  });

  test('sanitize in a build, whose result is never shown as text', async () => {
    await configure(
      `{ scripts: 'error', strict: true, sanitize: (html) => html.replace(/<script>.*<\\/script>/s, '').replace(/ onclick="[^"]*"/, '') }`,
    );
    expect((await build()).exitCode).toBe(0);
    expect(await site.read('html/index.html')).toContain('<p><b>one</b></p>');
    expect(await site.read('three-b/index.html')).toContain('<p><b>three</b></p>');
    for (const name of ['three-a', 'three-c']) {
      expect(await site.read(`${name}/index.html`)).not.toMatch(/<b[ >]|<script/);
    }
    expect(await site.read('text/index.html')).toContain('<title>two &amp; 2</title><p>two &amp; 2</p>');

    service.put(1, hostile('new one'));
    service.put(2, 'new two & 2');
    const { exitCode, output } = await refresh();
    expect(exitCode).toBe(3);
    expect(output).toContain('html/index.html shows content that only a build sanitizes');
    expect(output).toContain('text/index.html shows content that only a build sanitizes');
    expect(await site.read('text/index.html')).toContain('<p>two &amp; 2</p>');
    expect(await site.read('html/index.html')).toContain('<p><b>one</b></p>');
  });

  test.for([
    ["scripts: 'error'", `{ scripts: 'error' }`, '<script>x</script>', 'contains <script>. [script-refused]'],
    [
      'strict',
      '{ strict: true }',
      '<textarea>open',
      'leaves <textarea> open, which swallows the rest of the page. [left-open]',
    ],
  ] as const)(
    '%s refuses a snippet that is shown as HTML, and accepts one that is only shown as text',
    async ([, options, refused, reason]) => {
      await configure(options);
      service.put(1, refused);
      service.put(2, `two & 2 ${refused}`);
      service.put(3, 'three');
      const failed = await build();
      expect(failed.exitCode).toBe(1);
      expect(failed.output).toContain(`Snippet 1: ${reason}`);
      expect(failed.output).not.toContain('Snippet 2:');

      service.put(1, 'one');
      const built = await build();
      expect(built.exitCode).toBe(0);
      expect(await site.read('text/index.html')).toContain('<p>two &amp; 2');

      service.put(2, `new two & 2 ${refused}`);
      expect(await refresh()).toMatchObject({ exitCode: 0, output: 'text/index.html is up to date\n' });
      expect(await site.read('text/index.html')).toContain('<p>new two &amp; 2');

      service.put(1, refused);
      const stopped = await refresh();
      expect(stopped.exitCode).toBe(1);
      expect(stopped.output).toContain(`Snippet 1: ${reason}`);
      expect(await site.read('html/index.html')).toContain('<p>one</p>');

      service.put(1, 'one');
      service.put(3, refused);
      const both = await build();
      expect(both.exitCode).toBe(1);
      expect(both.output).toContain(`Snippet 3: ${reason}`);
    },
  );

  test("scripts: 'strip' in astro dev, for a snippet that was shown as text first", async () => {
    await configure(`{ scripts: 'strip' }`);
    const dev = await startServer(site, 'dev', service.environment);
    try {
      const page = async (name: string) =>
        (await fetch(`${dev.url}/${name}`, { signal: AbortSignal.timeout(60_000) })).text();
      const textOnly = await page('three-a');
      expect(textOnly).toContain('three');
      expect(textOnly).not.toContain('<b');
      expect(await page('three-b')).toContain('<b >three</b>');
      expect(await page('three-a')).not.toContain('<b');
      // The prepared HTML is remembered.
      expect(await textWithoutAnswers(`${dev.url}/three-b`, service)).toContain('<b >three</b>');
    } finally {
      await dev.stop();
    }
  });
});
