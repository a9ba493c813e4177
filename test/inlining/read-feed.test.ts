import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isFeed, readFeed } from '../../src/inlining/feeds/read-feed.ts';
import { runs } from '../support/tools/property.ts';

const rss = (item: string) => `<?xml version="1.0" encoding="UTF-8"?><?xml-stylesheet href="/style.xsl"?>
<!-- News --><!DOCTYPE rss><rss version="2.0"><channel><title>News</title><link>https://site.test/</link>
<description>All news</description><item>${item}</item></channel></rss>`;
const atom = (entry: string) =>
  `<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><subtitle>All</subtitle><entry>${entry}</entry></feed>`;
const rdf = (item: string) =>
  `\ufeff<rdf:RDF xmlns="http://purl.org/rss/1.0/"><channel><link>/</link></channel>${item}</rdf:RDF>`;
const json = (item: object) =>
  JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', title: 'News', items: [item] });

describe('an item of a feed is read', () => {
  test.for<[what: string, feed: string, links: string[], texts: string[]]>([
    [
      'in RSS',
      rss(`<title>One</title><link> /one/ </link><guid isPermaLink="true">/one/</guid>
      <description>A &lt;b&gt;summary&lt;/b&gt; &amp;amp; more</description>
      <content:encoded><![CDATA[<p>Text ]]]]><![CDATA[> end</p>]]></content:encoded><category>News</category>`),
      [' /one/ ', '/one/'],
      ['A <b>summary</b> &amp; more', '<p>Text ]]> end</p>'],
    ],
    [
      'in Atom',
      atom(`<id>tag:1</id><link rel="enclosure" href="/a.mp3"/><link href="/one/?a&amp;b"/><link rel="alternate" href="/1"/>
      <content type="html">&lt;p&gt;Text&lt;/p&gt;</content><summary>Short</summary>`),
      ['/1', '/one/?a&b', 'tag:1'],
      ['<p>Text</p>', 'Short'],
    ],
    [
      'in Atom with elements',
      atom(
        `<link href="/one"/><content type="xhtml"><div><p>One</p> &amp; <content>two</content></div></content>`,
      ),
      ['/one'],
      ['<div><p>One</p> &amp; <content>two</content></div>'],
    ],
    [
      'in Atom with prefixes',
      `<atom:feed xmlns:atom="http://www.w3.org/2005/Atom"><atom:entry><atom:link href="/one"/><atom:content>Text</atom:content></atom:entry></atom:feed>`,
      ['/one'],
      ['Text'],
    ],
    [
      'in RDF',
      rdf('<item rdf:about="/one"><link>/one</link><description>Text</description></item>'),
      ['/one'],
      ['Text'],
    ],
    [
      'in a JSON Feed',
      json({
        id: '1',
        url: '/one',
        content_html: '<p>Text</p>',
        content_text: 'Text',
        summary: 'Short',
        tags: ['a'],
      }),
      ['/one', '1'],
      ['<p>Text</p>', 'Text', 'Short'],
    ],
  ])('%s', ([, feed, links, texts]) => {
    expect(isFeed(Buffer.from(feed))).toBe(true);
    expect(readFeed(feed)).toEqual([{ links, texts }]);
  });

  test('but not one without a text, and none of what cannot be read', () => {
    expect(readFeed(rss('<title>One</title><link>/one/</link><description/>'))).toEqual([]);
    expect(readFeed(json({ url: '/one' }))).toEqual([]);
    for (const feed of [
      '',
      '{"version":"https://jsonfeed.org/version/1"',
      'null',
      '{"items":{}}',
      '{"items":[null]}',
      '<rss><item>',
    ]) {
      expect(readFeed(feed)).toEqual([]);
    }
  });

  test('as it was written, in any encoding of XML', () => {
    const text = fc.string({
      unit: fc.constantFrom(...'ab <>&"\'é🎉;]', ']]>', '&amp;', '<p>', '<!--'),
      minLength: 1,
    });
    const escapeXml = (value: string) =>
      value.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);
    const cdata = (value: string) => `<![CDATA[${value.replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;
    fc.assert(
      fc.property(text, fc.constantFrom(escapeXml, cdata), (value, encode) => {
        fc.pre(value.trim() !== '');
        const [item] = readFeed(rss(`<link>/</link><description>${encode(value)}</description>`));
        expect(item?.texts).toEqual([value]);
      }),
      { numRuns: runs(1_000) },
    );
  });
});

test.for([
  '<urlset><url><loc>/rss</loc></url></urlset>',
  '<svg><!-- <rss> --></svg>',
  '<?xml version="1.0"?><opml><outline type="rss"/></opml>',
  '<html><rss></rss></html>',
  '<!-- <feed> -->',
  '{"about":"https://jsonfeed.org/version/1.1"}',
  JSON.stringify({ text: '"version": "https://jsonfeed.org/version/1.1"' }),
  '',
])('no feed: %s', (text) => {
  expect(isFeed(Buffer.from(text))).toBe(false);
});

test('a file is no feed, in linear time', () => {
  for (const text of ['<!---->'.repeat(500), '<?x?>'.repeat(800), `${' '.repeat(4_000)}x`]) {
    expect(isFeed(Buffer.from(text))).toBe(false);
  }
});
