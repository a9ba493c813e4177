import { describe, expect, test } from 'vitest';
import { adaptLinks, type LinkRules } from '../../src/content/links.ts';

describe("links: 'base' adapts", () => {
  const docs: LinkRules = { base: '/docs', trailingSlash: 'ignore' };
  const always: LinkRules = { base: '/', trailingSlash: 'always' };
  const never: LinkRules = { base: '/docs', trailingSlash: 'never' };
  test.for<[string, LinkRules, string, string]>([
    ['a link', docs, '<a href="/a">x</a>', '<a href="/docs/a">x</a>'],
    ['the home page', docs, '<a href="/">x</a>', '<a href="/docs/">x</a>'],
    ['a form', docs, "<form action='/a'>", "<form action='/docs/a'>"],
    ['a video', docs, '<video src=/a.mp4 poster=/a.jpg>', '<video src="/docs/a.mp4" poster="/docs/a.jpg">'],
    [
      'sources',
      docs,
      '<source srcset=" /a,b.png 1x,/c.png, /d.png 100w , https://x.test/e.png 2x">',
      '<source srcset=" /docs/a,b.png 1x,/docs/c.png, /docs/d.png 100w , https://x.test/e.png 2x">',
    ],
    ['a source that is the base', docs, '<img srcset="/docs, /x 2x">', '<img srcset="/docs, /docs/x 2x">'],
    [
      'a button',
      always,
      '<button formaction="/a"><input formaction=/b>',
      '<button formaction="/a/"><input formaction="/b/">',
    ],
    ['an object', docs, '<object data="/a.svg">', '<object data="/docs/a.svg">'],
    ['SVG', docs, '<svg><use xlink:href="/a.svg#x"/></svg>', '<svg><use xlink:href="/docs/a.svg#x"/></svg>'],
    [
      'a preload',
      docs,
      '<link imagesrcset="/a.png 1x, /b.png 2x">',
      '<link imagesrcset="/docs/a.png 1x, /docs/b.png 2x">',
    ],
    ['entities', docs, '<a href="&#x2F;a?b&amp;c">', '<a href="/docs/a?b&amp;c">'],
    ['white space', docs, '<a href=" /a\n">', '<a href=" /docs/a\n">'],
    ['a base with a slash at the end', { ...docs, base: '/docs/' }, '<a href="/a">', '<a href="/docs/a">'],
    ['a longer name', docs, '<a href="/docs2">', '<a href="/docs/docs2">'],
    [
      'a template',
      docs,
      '<template><a href="/a"></a></template>',
      '<template><a href="/docs/a"></a></template>',
    ],
    ['a path without a slash', always, '<a href="/a?b=/c#d">', '<a href="/a/?b=/c#d">'],
    ['a path with a slash', never, '<a href="/a//?b"><a href="/">', '<a href="/docs/a?b"><a href="/docs">'],
  ])('%s', ([, rules, html, expected]) => {
    expect(adaptLinks(html, rules)).toBe(expected);
    expect(adaptLinks(expected, rules)).toBe(expected);
  });

  test.for<[string, LinkRules, string]>([
    ['a link with the base', docs, '<a href="/docs"><a href="/docs/a"><a href="/docs?b"><a href="/docs#b">'],
    ['a protocol-relative URL', docs, '<a href="//x.test/a"><img src="/\\x.test"><a href="/\t/x.test">'],
    ['another URL', docs, '<a href="a"><a href="#a"><a href="https://x.test/a"><a href=""><a href>'],
    ['another attribute', docs, '<a data-href="/a" title="/a"><x-chart data="/a">'],
    ['text, comments and scripts', docs, '/a <!-- <a href="/a"> --><script>"<a href=\'/a\'>"</script>'],
    ['a text area', docs, '<textarea><a href="/a"></textarea>'],
    ['the path of a file', always, '<a href="/a.pdf"><img src="/a"><link href="/a">'],
    ['a tag that is cut', docs, '<a href="/a'],
  ])('%s: not', ([, rules, html]) => {
    expect(adaptLinks(html, rules)).toBe(html);
  });

  test('links in linear time', () => {
    for (const url of [`/${'/'.repeat(500_000)}x`, `/${' '.repeat(500_000)}x`, `/a${'('.repeat(500_000)}`]) {
      adaptLinks(`<a href="${url}"><img srcset="${url}, ${'/a 1x,'.repeat(100_000)}">`, never);
    }
  });
});
