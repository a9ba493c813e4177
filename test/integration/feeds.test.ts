import { XMLParser } from 'fast-xml-parser';
import { expect, test } from 'vitest';
import { builtSite } from '../support/site/built-site.ts';
import { configWith } from '../support/site/site.ts';
import { exits } from '../support/tools/exits.ts';

const embed = '<snippet-embed id="1"></snippet-embed>';
const escapeTags = (html: string) => html.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const link = '<snippet-embed id="2"></snippet-embed>';
const endpoint = (source: string) => `export const GET = () => new Response(${source});`;

const onPages = '<a href="/docs/prices?a#b">prices</a> <a href="#c">c</a> <img src="/docs/a.png">';
const inFeeds =
  '<a href="https://site.test/docs/prices?a#b">prices</a> <a href="#c">c</a> <img src="https://site.test/docs/a.png">';

const { service, site } = await builtSite(
  { 1: '<a href="/prices?a#b">prices</a> <a href="#c">c</a> <img src="/a.png">', 2: '/prices' },
  {
    'astro.config.mjs': configWith(`{ links: 'base' }`, {
      settings: `site: 'https://site.test/docs/', base: '/docs',`,
    }),
    'src/pages/index.astro': `<html><body>${embed}<a href={'${link}'}>Prices</a></body></html>`,
    'src/pages/rss.xml.js': `import rss from '@astrojs/rss';
      export const GET = ({ site }) => rss({ site, title: 'News', description: 'News', items: [
        { title: 'One', link: '/docs/one/', description: '${embed}', content: '<p>${embed}</p>' },
      ] });`,
    'src/pages/atom.xml.js': endpoint(
      '`<feed><entry><link>' +
        `${escapeTags(link)}</link><content type="html"><![CDATA[${embed}]]></content></entry></feed>\``,
    ),
    'src/pages/feed.js': endpoint(
      `\`<?xml version="1.0"?><rdf:RDF><item><description>${escapeTags(embed)}</description></item></rdf:RDF>\``,
    ),
    'src/pages/feed.json.js': endpoint(
      `JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', items: [{ id: '1', content_html: '${embed}' }] })`,
    ),
    'src/pages/data.json.js': endpoint(
      `JSON.stringify({ about: '"version": "https://jsonfeed.org/version/1.1"', html: '${embed}' })`,
    ),
    'src/pages/llms.txt.js': endpoint(`'# ${embed}'`),
  },
);

/** The text of an element in a file of XML. */
async function inXml(name: string, ...path: string[]): Promise<unknown> {
  const parsed: unknown = new XMLParser().parse(await site.read(name));
  return path.reduce((value, key) => (value as Record<string, unknown>)[key], parsed);
}

test('links and images of snippets are absolute in feeds, and elsewhere relative to the site', async () => {
  const expectLinks = async (html: string, absolute: string) => {
    const rssItem = ['rss', 'channel', 'item'];
    expect(await inXml('rss.xml', ...rssItem, 'description')).toBe(absolute);
    expect(await inXml('rss.xml', ...rssItem, 'content:encoded')).toBe(`<p>${absolute}</p>`);
    expect(await inXml('atom.xml', 'feed', 'entry', 'content')).toBe(absolute);
    expect(await inXml('feed', 'rdf:RDF', 'item', 'description')).toBe(absolute);
    expect(JSON.parse(await site.read('feed.json')).items).toEqual([{ id: '1', content_html: absolute }]);

    expect(JSON.parse(await site.read('data.json')).html).toBe(html);
    expect(await site.read('llms.txt')).toBe(`# ${html}`);
    expect(await site.read('index.html')).toContain(`<body>${html}<a`);
  };
  await expectLinks(onPages, inFeeds);
  // A snippet that is a whole URL, too.
  expect(await inXml('atom.xml', 'feed', 'entry', 'link')).toBe('https://site.test/docs/prices');
  expect(await site.read('index.html')).toContain('<a href="/docs/prices">');

  // A refresh writes the same.
  service.put(1, '<img srcset="/new.png 1x, //cdn.test/new.png 2x">');
  service.put(2, '/new');
  await exits(0, site.run('refresh'));
  await expectLinks(
    '<img srcset="/docs/new.png 1x, //cdn.test/new.png 2x">',
    '<img srcset="https://site.test/docs/new.png 1x, https://cdn.test/new.png 2x">',
  );
  expect(await inXml('atom.xml', 'feed', 'entry', 'link')).toBe('https://site.test/docs/new');
  expect(await exits(0, site.run('check', '--output', 'dist'))).toBeDefined();
});
