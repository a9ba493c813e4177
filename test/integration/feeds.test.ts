import { XMLParser } from 'fast-xml-parser';
import { expect, test } from 'vitest';
import { builtSite, fileSite } from '../support/site/built-site.ts';
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

/** A feed whose items have the text of the posts, as `change` leaves it. */
const feedOf = (change: string, more = '') => `import rss from '@astrojs/rss';
import sanitizeHtml from 'sanitize-html';
const posts = Object.entries(import.meta.glob('../posts/**/*.md', { eager: true }));
const change = ${change};
export const GET = async ({ site }) => rss({
  site, title: 'News', description: 'News', trailingSlash: false,
  items: await Promise.all(posts.map(async ([file, post]) => {
    const [, name] = /posts\\/(.*)\\.md$/.exec(file);
    return { title: name, link: '/docs/' + name, ...change(await post.compiledContent()) };
  })),
  ${more}
});`;

const sanitized = '(html) => ({ content: sanitizeHtml(html) })';
const keeping = `{ allowedTags: [...sanitizeHtml.defaults.allowedTags, 'snippet-embed'], allowedAttributes: { 'snippet-embed': ['id'] } }`;

test('a feed that has lost the snippets of posts is a warning with the items and what to do', async () => {
  const blog = await fileSite(
    {
      'astro.config.mjs': configWith('', {
        settings: `site: 'https://site.test', base: '/docs', trailingSlash: 'never', build: { format: 'file' },
          i18n: { locales: ['en', 'de'], defaultLocale: 'en' },`,
      }),
      'src/posts/one.md': `Before ${embed} after.`,
      'src/posts/de/zwei.md': `Am Anfang\n\n${embed}\n\nund ${link} am Ende.`,
      'src/posts/plain.md': 'A post without snippets.',
      'src/pages/[...name].astro': `---
export function getStaticPaths() {
  const posts = Object.entries(import.meta.glob('../posts/**/*.md', { eager: true }));
  return posts.map(([file, post]) => ({ params: { name: /posts\\/(.*)\\.md$/.exec(file)[1] }, props: { post } }));
}
const { Content } = Astro.props.post;
---
<html><body><header>${link}</header><main><Content /></main><footer>${embed}</footer></body></html>`,
      'src/pages/rss.xml.js': feedOf(sanitized),
      'src/pages/atom.xml.js': endpoint(
        `\`<feed><entry><link href="/docs/one"/><content type="html">&lt;p&gt;Before after.&lt;/p&gt;</content></entry></feed>\``,
      ),
      'src/pages/feed.json.js': endpoint(
        `JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', items: [{ url: 'https://site.test/docs/one', content_text: 'Before after.' }] })`,
      ),
      'src/pages/rdf.xml.js': endpoint(
        `\`<rdf:RDF><item><link>https://site.test/docs/one.html?feed#top</link><description>Before after.</description></item></rdf:RDF>\``,
      ),
      // These have lost nothing.
      'src/pages/kept.xml.js': feedOf(`(html) => ({ content: sanitizeHtml(html, ${keeping}) })`),
      'src/pages/short.xml.js': feedOf(`(html) => ({ description: html.replace(/ *<snippet[^]*/, '…') })`),
      'src/pages/title.xml.js': feedOf(`() => ({ description: 'Before and after.' })`),
      'src/pages/data.json.js': endpoint(`JSON.stringify([{ url: '/docs/one', text: 'Before after.' }])`),
    },
    service,
  );
  const output = await blog.builds();
  const fix =
    'What makes the text, such as a sanitizer, removes <snippet-embed>: let it keep this element, with the attributes id, params, as and optional.';
  const lost = (feed: string, items: string) =>
    `${feed}: has the text of pages without the snippets in it: ${items}. ${fix}`;
  expect(output.match(/\S+: has the text of pages .*/g)?.sort()).toEqual([
    lost('atom.xml', '/docs/one (snippet 1)'),
    lost('feed.json', 'https://site.test/docs/one (snippet 1)'),
    lost('rdf.xml', 'https://site.test/docs/one.html?feed#top (snippet 1)'),
    lost('rss.xml', 'https://site.test/docs/de/zwei (snippets 1, 2), https://site.test/docs/one (snippet 1)'),
  ]);
  expect(await blog.read('kept.xml')).not.toContain('snippet-embed');
});
