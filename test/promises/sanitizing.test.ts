import fc from 'fast-check';
import createDomPurify from 'isomorphic-dompurify';
import sanitizeHtml from 'sanitize-html';
import { beforeEach, describe, expect, test } from 'vitest';
import { createRequest } from '../../src/client/snippet-request.ts';
import { prepareSnippet } from '../../src/content/prepare-snippet.ts';
import { findScripts, stripScripts } from '../../src/content/scripts.ts';
import type { HtmlRules } from '../../src/settings/options.ts';
import { sharedSite } from '../support/site/built-site.ts';
import { configWith } from '../support/site/site.ts';
import { oneOf, runs } from '../support/tools/property.ts';

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
    const prepared = await prepareSnippet(snippet('<i>raw</i>'), use, { ...rules, sanitize });
    expect(prepared).toEqual({
      html: '<b>clean</b>',
      text: 'clean',
      flaws: [],
      policyFlaws: [],
      inlineCode: undefined,
    });
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
    await expect(prepareSnippet(snippet('a'), use, { ...rules, sanitize })).rejects.toMatchObject({
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
    expect((await prepareSnippet(snippet(hostile), use, { ...rules, sanitize })).html).toBe(clean);
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
    // It would run inside an <svg>.
    ['<textarea><script>x</script></textarea>', '<textarea></textarea>', '<script>'],
  ];
  test.each(table)('strips, allows or refuses the script in %s', async (html, stripped, what) => {
    expect(stripScripts(html)).toBe(stripped);
    expect((await prepareSnippet(snippet(html), use, { ...rules, scripts: 'strip' })).html).toBe(stripped);
    expect((await prepareSnippet(snippet(html), use, rules)).html).toBe(html);
    await expect(prepareSnippet(snippet(html), use, { ...rules, scripts: 'error' })).rejects.toMatchObject({
      code: 'script-refused',
      message: `Snippet 42 contains ${what}.`,
    });
  });

  test.each([
    ['<p>a</p>\n<script>x</script>', 'script-runs', 'contains <script>, which runs in browsers.', 2],
    [
      '<b onclick="x()">a</b>\n<b onclick="y()">',
      'script-runs',
      'contains the attribute onclick, which runs',
      1,
    ],
    ['<a href="javascript:x">a</a>', 'script-runs', 'contains a javascript: URL in href, which runs', 1],
    ['\n<iframe srcdoc="a"></iframe>', 'script-runs', 'contains the attribute srcdoc, which runs', 2],
    [
      '<script src="/a.js"></script><b onclick=x>',
      'script-runs',
      'contains <script>, the attribute onclick',
      1,
    ],
  ])(
    "by default, what runs in %j is a warning; with 'strip', what is removed is",
    async (html, code, text, line) => {
      const flawOf = async (more: Partial<HtmlRules>) => {
        const { flaws } = await prepareSnippet(snippet(html), use, { ...rules, ...more });
        return flaws.find((flaw) => flaw.code.startsWith('script'));
      };
      expect(await flawOf({ scripts: 'warn' })).toMatchObject({
        code,
        message: expect.stringContaining(text),
        line,
      });
      const removed = text.replace(/, which runs.*/, '');
      expect(await flawOf({ scripts: 'strip' })).toMatchObject({
        code: 'script-removed',
        message: expect.stringContaining(`${removed}`),
        line,
      });
      expect(await flawOf({ scripts: 'allow' })).toBeUndefined();
      // What a policy blocks is a warning of its own.
      expect(await flawOf({ scripts: 'warn', policy: 'hash' })).toBeUndefined();
    },
  );

  test.each([
    '<script type="application/ld+json">{}</script>',
    '<textarea><script>x</script></textarea>',
    '<!-- <script>x</script> -->',
    'javascript: is a word',
    '<a href="https://x.test/?javascript:x">c</a>',
  ])('what does not run is no warning: %s', async (html) => {
    const { flaws } = await prepareSnippet(snippet(html), use, { ...rules, scripts: 'warn' });
    expect(flaws).toEqual([]);
  });

  test('a javascript: URL is a warning where it is the whole URL', async () => {
    const asUrl = { ...use, asHtml: false, asUrl: true };
    const { flaws, url } = await prepareSnippet(snippet(' javascript:x()'), asUrl, {
      ...rules,
      scripts: 'warn',
    });
    expect(url).toBe('javascript:x()');
    expect(flaws).toMatchObject([
      { code: 'script-runs', message: expect.stringContaining('is shown as a URL') },
    ]);
  });

  test.each([
    'plain text, on and off: javascript: is a word',
    '<p class="on" data-on-click="x">a  <b>c</b></P>\r\n<!-- <script>x</script> -->&amp;',
    '<a href="https://x.test/?javascript:x">c</a>',
    '<textarea>&lt;script>x&lt;/script></textarea>',
  ])('keeps HTML without scripts byte for byte: %s', (html) => {
    expect(stripScripts(html)).toBe(html);
  });

  test('leaves no script in random HTML', () => {
    const pieces = oneOf(
      `<script> </script> <scr ipt> <svg> </svg> <a href="java script:x"> < > " ' <!-- --> <template> <textarea>
      </textarea> <style> <table> <p> </p>`,
      '<b onclick=x>',
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

describe('on a site, rules for HTML apply only where a snippet is shown as HTML:', async () => {
  const asHtml = (id: number) => `<p><snippet-embed id="${id}"></snippet-embed></p>`;
  const asText = (id: number) =>
    `<title><snippet-embed id="${id}"></snippet-embed></title><p><snippet-embed id="${id}" as="text"></snippet-embed></p>`;
  const hostile = (word: string) => `<b onclick="x()">${word}</b><script>x</script>`;
  // Pages are read in name order. So these decide whether a snippet is first seen as HTML or as text.
  const { service, site } = await sharedSite(
    {},
    {
      'src/pages/html.html': `<title>HTML</title>${asHtml(1)}`,
      'src/pages/text.html': asText(2),
      'src/pages/three-a.html': asText(3),
      'src/pages/three-b.html': `<title>Three</title>${asHtml(3)}`,
      'src/pages/three-c.html': asText(3),
      'src/pages/within.astro':
        '<svg><snippet-embed id="4" as="html" /></svg><noscript><snippet-embed id="5" /></noscript><p><snippet-embed id="4" /></p>',
    },
  );
  beforeEach(() => {
    service.put(1, hostile('one'));
    service.put(2, 'two & 2');
    service.put(3, hostile('three'));
    service.put(4, '<text>fine</text>');
    service.put(5, '<i>fine</i>');
  });
  const configure = (options: string) => site.write({ 'astro.config.mjs': configWith(options) });
  const page = (name: string) => site.read(`${name}/index.html`);

  /** Expects these contents on the pages. */
  async function expectPages(one: string, two: string, three: string) {
    expect(await page('html')).toContain(`<p>${one}</p>`);
    expect(await page('text')).toContain(`<title>${two}</title><p>${two}</p>`);
    expect(await page('three-b')).toContain(`<p>${three}</p>`);
    for (const name of ['three-a', 'three-c']) expect(await page(name)).not.toMatch(/<b[ >]|<script/);
  }

  test("scripts: 'strip' in a build and in a refresh, whether text comes first or last", async () => {
    await configure(`{ scripts: 'strip' }`);
    await site.builds();
    await expectPages('<b >one</b>', 'two &amp; 2', '<b >three</b>');

    service.put(1, hostile('new one'));
    service.put(2, 'new two & 2');
    service.put(3, hostile('new three'));
    service.put(4, '<style><img src=x onerror=alert(1)></style>');
    service.put(5, '<style></noscript><script>x</script></style>');
    expect(await site.run('refresh')).toMatchObject({ exitCode: 0 });
    await expectPages('<b >new one</b>', 'new two &amp; 2', '<b >new three</b>');
    const stripped = '<style><img src=x ></style>';
    expect(await page('within')).toContain(
      `<svg>${stripped}</svg><noscript><style></noscript></style></noscript><p>${stripped}</p>`,
    );
  });

  test('sanitize in a build, never for text; a refresh asks for a build', async () => {
    await configure(
      `{ scripts: 'error', strict: true, sanitize: (html, { id }) => html.replace(/<script>.*<\\/script>/s, '').replace(/ onclick="[^"]*"/, ' title=' + id) }`,
    );
    await site.builds();
    await expectPages('<b title=1>one</b>', 'two &amp; 2', '<b title=3>three</b>');
    expect((await site.run('refresh')).output).toBe('Nothing has changed.\n');

    service.put(1, hostile('new one'));
    service.put(2, 'new two & 2');
    const { exitCode, output } = await site.run('refresh');
    expect(exitCode).toBe(3);
    for (const name of ['html', 'text']) {
      expect(output).toContain(`${name}/index.html shows content that only a build sanitizes\n`);
    }
    expect(output).toContain('\nNothing was written. Build the site');
    await expectPages('<b title=1>one</b>', 'two &amp; 2', '<b title=3>three</b>');
  });

  test("scripts: 'error' and strict refuse a snippet shown as HTML, and accept one shown only as text", async () => {
    const script = '<script>x</script>';
    const open = '<textarea>open';
    const reasons = [
      'Snippet 1: contains <script>. [script-refused]',
      'Snippet 3: leaves <textarea> open, which swallows the rest of the page. [left-open]',
    ];
    await configure(`{ scripts: 'error', strict: true }`);
    service.put(1, 'one');
    service.put(2, `two & 2 ${script}`);
    service.put(3, 'three');
    await site.builds();
    expect(await page('text')).toContain('<p>two &amp; 2');

    service.put(2, `new two & 2 ${script}${open}`);
    expect(await site.run('refresh')).toMatchObject({ exitCode: 0, output: 'Updated text/index.html\n' });
    expect(await page('text')).toContain('<p>new two &amp; 2');

    service.put(1, script);
    service.put(3, open);
    const stopped = await site.run('refresh');
    expect(stopped.exitCode).toBe(1);
    for (const reason of reasons) expect(stopped.output).toContain(reason);
    expect(await page('html')).toContain('<p>one</p>');
  });
});
