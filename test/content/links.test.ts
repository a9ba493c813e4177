import { escapeAttribute } from 'entities/escape';
import fc from 'fast-check';
import { parseFragment } from 'parse5';
import { describe, expect, test } from 'vitest';
import { absoluteLinks, adaptLinks, type LinkRules } from '../../src/content/links.ts';
import { runs } from '../support/tools/property.ts';

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
    ['a ping', docs, '<a ping="/a https://x.test /b">', '<a ping="/docs/a https://x.test /docs/b">'],
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

describe('links in feeds', () => {
  const site = 'https://site.test/docs/';
  test.for<[string, string, string]>([
    ['a link', '<a href="/a?b=1&amp;c#d">', '<a href="https://site.test/a?b=1&amp;c#d">'],
    ['an image', "<img src='/a.png'>", "<img src='https://site.test/a.png'>"],
    [
      'sources',
      '<img srcset="/a,b.png 1x,https://x.test/c.png 2x, /d.png 3x">',
      '<img srcset="https://site.test/a,b.png 1x,https://x.test/c.png 2x, https://site.test/d.png 3x">',
    ],
    ['a poster', '<video poster=/a.jpg>', '<video poster="https://site.test/a.jpg">'],
    ['another host without a scheme', '<img src="//x.test/a.png">', '<img src="https://x.test/a.png">'],
    ['the home page', '<a href=" / ">', '<a href="https://site.test/">'],
    [
      'SVG',
      '<svg><use xlink:href="/a.svg#x"/></svg>',
      '<svg><use xlink:href="https://site.test/a.svg#x"/></svg>',
    ],
  ])('%s: absolute', ([, html, expected]) => {
    expect(absoluteLinks(html, site)).toBe(expected);
    expect(absoluteLinks(expected, site)).toBe(expected);
  });

  test.for<[string, string]>([
    ['a URL that depends on the page', '<a href="#a"><a href="?b"><a href="c/d"><a href="../e"><a href="">'],
    ['another scheme', '<a href="mailto:a@x.test?body=/b"><a href="tel:+1"><img src="data:,/a">'],
    ['text and other attributes', '/a <p title="/a" data-src="/a"><!-- <a href="/a"> -->'],
    ['what is no URL', '<a href="//"><a href="/\\[">'],
  ])('%s: as written', ([, html]) => {
    expect(absoluteLinks(html, site)).toBe(html);
  });

  test('lead anywhere to where they lead on the site', () => {
    const url = fc.string({
      unit: fc.constantFrom(...'/\\#?:.a%ü"\'& \t\n', '//', 'mailto:', 'https://x.test/'),
      maxLength: 8,
    });
    const attribute = fc.constantFrom(
      ...['a href', 'img src', 'video poster', 'form action', 'object data', 'q cite', 'button formaction'],
    );
    fc.assert(
      fc.property(attribute, url, (written, value) => {
        const html = `<${written}="${escapeAttribute(value)}">`;
        const [read = ''] = parseFragment(absoluteLinks(html, site)).childNodes.flatMap((node) =>
          'attrs' in node ? node.attrs.map((each) => each.value) : [],
        );
        const onSite = URL.parse(value, site)?.href;
        // No URL here is long enough to climb from one of these pages to where the other is.
        const [one, other] = ['a', 'b'].map(
          (name) => URL.parse(value, `https://x.test/${name}/1/2/3/4/5/6/`)?.href,
        );
        if (one === other && onSite !== undefined)
          expect(URL.parse(read, 'https://reader.test/x/')?.href).toBe(onSite);
        else expect(read).toBe(value);
      }),
      { numRuns: runs(2_000) },
    );
  });
});
