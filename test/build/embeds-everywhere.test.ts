import { cp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { XMLParser } from 'fast-xml-parser';
import jsonld from 'jsonld';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { startCommand } from '../support/command.ts';
import { astroVersion } from '../support/installation.ts';
import { type SiteServer, startServer } from '../support/server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';

interface Content {
  html: string;
  text: string;
}

// The texts are written out, so that they do not come from the code that is tested.
const before: Content = {
  html: `Tom &amp; "Jerry" <b>it's</b> $&amp; $& ]]> &lt;/script&gt; &lt;!-- 🎉 a\u2028b \\u003c %41 +`,
  text: `Tom & "Jerry" it's $& $& ]]> </script> <!-- 🎉 a\u2028b \\u003c %41 +`,
};
const after: Content = {
  html: `<em>Ann "O'Neil"</em> &amp; co]]>]]&gt; $1 $'</script> <a href="/?a=1&amp;b=2">x</a> 🦊\u2029 \\" &amp;lt;b&amp;gt;`,
  text: `Ann "O'Neil" & co]]>]]> $1 $' x 🦊\u2029 \\" &lt;b&gt;`,
};

const embed = '<snippet-embed id="1"></snippet-embed>';
const asHtml = '<snippet-embed id="1" as="html"></snippet-embed>';
const asText = '<snippet-embed id="1" as="text"></snippet-embed>';

const files = {
  'astro.config.mjs': `
    import { defineConfig } from 'astro/config';
    import preact from '@astrojs/preact';
    import snippets from 'astro-snippets';
    export default defineConfig({ site: 'https://site.test', integrations: [preact(), snippets()] });`,
  'src/content.config.js': `
    import { defineCollection } from 'astro:content';
    import { glob } from 'astro/loaders';
    export const collections = { posts: defineCollection({ loader: glob({ base: './src/posts', pattern: '*.md' }) }) };`,
  'src/posts/sale.md': `---\ntitle: Sale by ${embed}\n---\nBody ${embed} and <SNIPPET-EMBED ID="1"></SNIPPET-EMBED> end.\n`,
  'src/components/Title.jsx': `
    import { useState } from 'preact/hooks';
    export default function Title({ title }) {
      const [count, setCount] = useState(0);
      return <div><button onClick={() => setCount(count + 1)}>{count}</button><strong title={title}>{title}</strong></div>;
    }`,
  'src/components/Rich.jsx': `
    export default function Rich({ html }) { return <div id="rich" dangerouslySetInnerHTML={{ __html: html }} />; }`,
  'src/pages/index.astro': `---
    import { getEntry, render } from 'astro:content';
    import Title from '../components/Title.jsx';
    import Rich from '../components/Rich.jsx';
    const post = await getEntry('posts', 'sale');
    const { title } = post.data;
    const { Content } = await render(post);
    const data = { '@context': 'https://schema.org', '@type': 'BlogPosting', headline: title };
    ---
    <html>
      <head>
        <meta charset="utf-8" />
        <title>{title}</title>
        <meta name="description" content={title} />
        <meta property="og:title" content={title} />
        <link rel="icon" href="data:," />
        <script type="application/ld+json" set:html={JSON.stringify(data)} />
      </head>
      <body>
        <h1>{title}</h1>
        <img src="data:," alt={title} />
        <nav aria-label={title}></nav>
        <main><Content /></main>
        <Title title={title} client:load />
        <Rich html={${JSON.stringify(asHtml)}} client:only="preact" />
        <a id="share" href={\`https://share.test/?text=\${encodeURIComponent(title)}&via=site\`}>Share</a>
        <iframe srcdoc={\`<p>\${title}</p>\`}></iframe>
        <div id="data" data-title={title} data-rich={${JSON.stringify(asHtml)}}></div>
        <section set:html={'<SNIPPET-EMBED ID="1"></SNIPPET-EMBED>'} />
      </body>
    </html>`,
  'src/pages/rss.xml.js': `
    import rss from '@astrojs/rss';
    import { getEntry } from 'astro:content';
    import MarkdownIt from 'markdown-it';
    import sanitizeHtml from 'sanitize-html';
    const parser = new MarkdownIt();
    export async function GET(context) {
      const post = await getEntry('posts', 'sale');
      const item = (content) => ({ title: post.data.title, link: '/', content });
      return rss({
        title: 'Feed', description: 'Feed', site: context.site,
        items: [
          item(sanitizeHtml(parser.render(post.body), { allowedTags: sanitizeHtml.defaults.allowedTags.concat(['img']) })),
          item(post.rendered.html),
        ],
      });
    }`,
  'src/pages/cdata.xml.js': `
    import { getEntry } from 'astro:content';
    export async function GET() {
      const post = await getEntry('posts', 'sale');
      return new Response(\`<?xml version="1.0"?><rss version="2.0"><channel><item>
        <title><![CDATA[\${post.data.title}]]></title><description><![CDATA[\${post.rendered.html}]]></description>
      </item></channel></rss>\`);
    }`,
  'src/pages/atom.xml.js': `
    import { getEntry } from 'astro:content';
    const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
    export async function GET() {
      const post = await getEntry('posts', 'sale');
      return new Response(\`<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xmlns:news="https://news.test">
        <entry><title>\${escape(post.data.title)}</title><news:title>\${escape(post.data.title)}</news:title>
        <link href="https://site.test/?t=\${encodeURIComponent(post.data.title)}" title="\${escape(post.data.title)}"/>
        <content type="html">\${escape(post.rendered.html)}</content></entry></feed>\`);
    }`,
  'src/pages/posts.json.js': `
    import { getEntry } from 'astro:content';
    export async function GET() {
      const post = await getEntry('posts', 'sale');
      return Response.json({ title: post.data.title, text: ${JSON.stringify(asText)}, html: post.rendered.html });
    }`,
  // As a search index that was written for a script: no "<" in it.
  'src/pages/search.json.js': `
    import { getEntry } from 'astro:content';
    export async function GET() {
      const post = await getEntry('posts', 'sale');
      const index = [{ title: post.data.title, nested: JSON.stringify({ title: post.data.title }) }];
      return new Response(JSON.stringify(index).replaceAll('<', '\\\\u003c'));
    }`,
  'src/pages/site.webmanifest.js': `
    export const GET = () => Response.json({ name: ${JSON.stringify(`Shop of ${asText}`)}, short_name: 'Shop' });`,
  'src/pages/llms.txt.js': `
    import { getEntry } from 'astro:content';
    export async function GET() {
      const post = await getEntry('posts', 'sale');
      return new Response(\`# \${post.data.title}\\n\\n> ${asText}\\n\`);
    }`,
};

let service: TestService;
let site: Site;
let browser: Browser;
let preview: SiteServer;
let page: Page;
const problems: string[] = [];

async function build(): Promise<string> {
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode, output).toBe(0);
  return output;
}

async function visit(): Promise<void> {
  problems.length = 0;
  await page.goto(preview.url);
  await page.locator('astro-island:not([ssr])').nth(1).waitFor({ state: 'attached' });
}

beforeAll(async () => {
  service = await startTestService({ 1: before.html });
  site = await createSite(files);
  expect(await build()).not.toContain('[WARN] [astro-snippets]');
  preview = await startServer(site, 'preview');
  browser = await startBrowser();
  page = await browser.newPage();
  page.on('console', (message) => void problems.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => void problems.push(error.message));
});
afterAll(async () => {
  await browser?.close();
  await preview?.stop();
  await site?.remove();
  await service?.close();
});

const attribute = (selector: string, name: string) => page.locator(selector).first().getAttribute(name);
/** HTML as the browser writes it, once parsed. */
const parsed = (html: string) =>
  page.evaluate((text) => {
    const template = document.createElement('template');
    template.innerHTML = text;
    return template.innerHTML;
  }, html);
/** The text that a reader shows of HTML. */
const shown = (html: string) =>
  page.evaluate((text) => new DOMParser().parseFromString(text, 'text/html').body.textContent, html);

const xml = new XMLParser({ ignoreAttributes: false, trimValues: false, attributeNamePrefix: '@' });

/** What Astro's Markdown makes of the post's body. */
const bodyOf = (html: string) => `<p>Body ${html} and ${html} end.</p>${astroVersion < 7 ? '' : '\n'}`;

async function expectPage({ html, text }: Content): Promise<void> {
  const title = `Sale by ${text}`;
  await visit();
  expect(await page.title()).toBe(title);
  expect(await page.evaluate(() => document.querySelector('title')?.textContent)).toBe(title);
  expect(await page.locator('h1').textContent()).toBe(title);
  expect(await attribute('meta[name=description]', 'content')).toBe(title);
  expect(await attribute('meta[property="og:title"]', 'content')).toBe(title);
  expect(await attribute('img', 'alt')).toBe(title);
  expect(await attribute('nav', 'aria-label')).toBe(title);
  expect(await attribute('#data', 'data-title')).toBe(title);
  expect(await attribute('#data', 'data-rich')).toBe(html);
  expect(await page.locator('main p').innerHTML()).toBe(await parsed(`Body ${html} and ${html} end.`));
  expect(await page.locator('section').innerHTML()).toBe(await parsed(html));

  const url = new URL((await attribute('#share', 'href')) ?? '');
  expect([...url.searchParams]).toEqual([
    ['text', title],
    ['via', 'site'],
  ]);
  expect(await attribute('iframe', 'srcdoc')).toBe(`<p>Sale by ${html}</p>`);
  expect(await page.frameLocator('iframe').locator('p').innerHTML()).toBe(await parsed(`Sale by ${html}`));

  const data = await page.locator('script[type="application/ld+json"]').textContent();
  const [node] = await jsonld.expand(JSON.parse(data ?? ''), {
    documentLoader: async (documentUrl) => ({
      documentUrl,
      document: { '@context': { '@vocab': 'https://schema.org/' } },
    }),
  });
  expect(node).toMatchObject({ 'https://schema.org/headline': [{ '@value': title }] });
}

async function expectIslands({ html, text }: Content): Promise<void> {
  await visit();
  await page.locator('button').click();
  expect(await page.locator('button').textContent()).toBe('1');
  expect(await page.locator('strong').textContent()).toBe(`Sale by ${text}`);
  expect(await attribute('strong', 'title')).toBe(`Sale by ${text}`);
  expect(await page.locator('#rich').innerHTML()).toBe(await parsed(html));
  expect(problems).toEqual([]);
}

async function expectFeeds({ html, text }: Content): Promise<void> {
  const [fromBody, rendered] = xml.parse(await site.read('rss.xml')).rss.channel.item;
  expect(fromBody.title).toBe(`Sale by ${text}`);
  expect(await shown(fromBody['content:encoded'])).toBe(`Body ${text} and ${text} end.\n`);
  expect(rendered['content:encoded']).toBe(bodyOf(html));

  const { item } = xml.parse(await site.read('cdata.xml')).rss.channel;
  expect(item.title).toBe(`Sale by ${text}`);
  expect(item.description).toBe(bodyOf(html));

  const { entry } = xml.parse(await site.read('atom.xml')).feed;
  expect(entry.title).toBe(`Sale by ${text}`);
  expect(entry['news:title']).toBe(`Sale by ${text}`);
  expect(entry.link['@title']).toBe(`Sale by ${text}`);
  expect(new URL(entry.link['@href']).searchParams.get('t')).toBe(`Sale by ${text}`);
  expect(entry.content['#text']).toBe(bodyOf(html));
}

async function expectData({ html, text }: Content): Promise<void> {
  expect(JSON.parse(await site.read('posts.json'))).toEqual({
    title: `Sale by ${html}`,
    text,
    html: bodyOf(html),
  });
  const search = await site.read('search.json');
  expect(search).not.toContain('<');
  const [entry] = JSON.parse(search);
  expect(entry.title).toBe(`Sale by ${html}`);
  expect(JSON.parse(entry.nested)).toEqual({ title: `Sale by ${html}` });
  expect(JSON.parse(await site.read('site.webmanifest')).name).toBe(`Shop of ${text}`);
  expect(await site.read('llms.txt')).toBe(`# Sale by ${html}\n\n> ${text}\n`);
}

const places = [
  ['every place of a page', expectPage],
  ['the props of hydrated islands', expectIslands],
  ['feeds', expectFeeds],
  ['JSON, a web app manifest and text files', expectData],
] as const;

describe('an embed in a frontmatter title and a body is read as the content of its snippet', () => {
  test.for(places)('in %s', ([, expectPlaces]) => expectPlaces(before));

  test('no file of the output holds an embed', async () => {
    for (const name of await site.list()) expect(await site.read(name), name).not.toMatch(/snippet-embed/i);
  });
});

describe('a refresh after other contents are published', () => {
  beforeAll(async () => {
    service.put(1, after.html);
    const { exitCode, output } = await startCommand(site.directory, ['refresh'], service.environment).ended;
    expect(exitCode, output).toBe(0);
  });

  test.for(places)('shows the new content in %s', ([, expectPlaces]) => expectPlaces(after));

  test('leaves the same files as a build, to the byte', async () => {
    const refreshed = join(site.directory, 'refreshed');
    await cp(join(site.directory, 'dist'), refreshed, { recursive: true });
    await build();
    const names = await site.list();
    expect(await site.list('refreshed')).toEqual(names);
    for (const name of names) {
      const built = await readFile(join(site.directory, 'dist', name));
      expect(built.equals(await readFile(join(refreshed, name))), name).toBe(true);
    }
    await rm(refreshed, { recursive: true });
  });
});
