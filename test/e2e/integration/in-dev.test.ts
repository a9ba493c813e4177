import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { images, startImageHost } from '../../support/http/images.ts';
import { serviceCertificate } from '../../support/service/authority.ts';
import { builtSite, fileSite } from '../../support/site/built-site.ts';
import { mdxFeed } from '../../support/site/mdx-feed.ts';
import { fetchPage, type SiteServer, startServer } from '../../support/site/server.ts';
import { configWith } from '../../support/site/site.ts';
import { sharedBrowser } from '../../support/tools/browser.ts';

const embed = '<snippet-embed id="1"></snippet-embed>';
const component = `import { Snippet } from 'astro-snippets/components';`;

describe('where a build would fail, astro dev shows an error', async () => {
  const onDemand = (more: string, body: string) => `---
${more}
export const prerender = false;
---
<html><body>
${body}</body></html>`;
  const browser = await sharedBrowser();
  const site = await fileSite({
    'astro.config.mjs': configWith('', {
      imports: `
          import node from '@astrojs/node';
          import react from '@astrojs/react';`,
      settings: `base: '/docs', adapter: node({ mode: 'standalone' }),`,
      integrations: 'react(), ',
    }),
    'src/Only.jsx': `export default function Only() {\n  return <p>\n    ${embed}\n  </p>;\n}`,
    'src/pages/only.astro': `---
import Only from '../Only.jsx';
---
<html><body><Only client:only="react" /></body></html>`,
    'src/Hand.astro': `<p>by\n  hand ${embed}</p>`,
    'src/Late.astro': `<p>${embed}</p>`,
    'src/pages/island.astro': `---
import Late from '../Late.astro';
---
<html><body><Late server:defer><i slot="fallback">soon</i></Late></body></html>`,
    'src/pages/live.astro': onDemand(`import Hand from '../Hand.astro';`, `<Hand />${embed}`),
    'src/pages/component.astro': onDemand(component, '<Snippet id={1} />'),
    'src/pages/post.md': '# Post\n\nSee <Snippet id={42} /> here.\n',
    'src/Still.astro': `<p>${embed}</p>`,
    'src/pages/still.astro': `---
${component}
import Still from '../Still.astro';
---
<p><Still /><Snippet id={1}>children</Snippet></p>`,
  });
  const dev = await startServer(site, 'dev');
  // Modules that one page loaded are not reported for another.
  await fetchPage(`${dev.url}/docs/still`);
  afterAll(() => dev.stop());

  test.for([
    [
      'of an on-demand page, with its sources',
      'live',
      '/docs/live (route /live) is rendered on demand',
      'src/pages/live.astro:6',
      'src/Hand.astro:2',
    ],
    [
      'of <Snippet> on an on-demand page, with a hint',
      'component',
      '/docs/component (route /component) is rendered on demand',
      'src/pages/component.astro:6',
      'export const prerender = true',
    ],
    ['of <Snippet> in Markdown', 'post', 'written in src/pages/post.md:3'],
    // Nothing fails before the missing key.
    ['of a prerendered page among them, which lacks only the key', 'still', 'SNIPPETS_API_KEY is not set.'],
  ])('%s', async ([, path, ...said]) => {
    const { status, html } = await fetchPage(`${dev.url}/docs/${path}`);
    expect(status).toBe(500);
    for (const text of said) expect(html).toContain(text);
    expect(html).not.toContain('src/Still.astro');
  });

  test.for([
    [
      'of an island that is client:only, with its file and line',
      'only',
      'src/Only.jsx:3 writes <snippet-embed> in the browser',
      'Pass the embed to an island as children',
    ],
    [
      'of a server island, on the page that holds it',
      'island',
      'The server island Late is rendered on demand',
      'src/Late.astro:1',
    ],
  ])('%s, in the overlay', async ([, path, ...said]) => {
    const page = await browser.newPage();
    await page.goto(`${dev.url}/docs/${path}`);
    // The error of another page may come first: Vite keeps it for the next page that opens.
    const overlay = () =>
      page.locator('vite-error-overlay').evaluate((element) => element.shadowRoot?.textContent);
    for (const text of said) await expect.poll(overlay).toContain(text);
    expect(await overlay()).not.toContain('<br>');
    await page.close();
  });
});

describe('astro dev shows what a build does', async () => {
  const hero = { type: 'image/png', body: images.png, headers: { etag: '"1"' } };
  const host = await startImageHost({ '/hero.png': hero }, serviceCertificate());
  const page = `---
${component}
---
<html lang={Astro.currentLocale}><head><title><Snippet id={1} /></title></head>
<body><p id="plain"><Snippet id={1} /></p>
<p id="own"><Snippet id={1} params={{ locale: 'own', extra: '!' }} /></p>
<p id="near" lang="fr"><snippet-embed id="1"></snippet-embed></p>
<p id="alt"><img lang="it" alt={'<snippet-embed id="1"></snippet-embed>'}></p>
<div id="links"><Snippet id={2} /></div><div id="image"><Snippet id={5} /></div></body></html>`;
  const { service, site } = await builtSite(
    {
      1: '{{ locale }} {{ page }}{{ extra }}',
      2: '<a href="/prices?a=1#b">prices</a><img src="/a.png" srcset="/a.png 1x, /b.png 2x"> /prices',
      3: 'imprint',
      4: '<b>four</b>',
      5: `<p><img alt="" src="${host.origin}/hero.png"></p>`,
    },
    {
      'astro.config.mjs': configWith(`{ images: { hosts: ['${host.host}'] }, params, links: 'base' }`, {
        imports: `
            import mdx from '@astrojs/mdx';
            const params = ({ page, lang }) => lang === undefined ? undefined : { locale: lang, page };`,
        settings: `site: 'https://site.test', base: '/docs', trailingSlash: 'always', i18n: { locales: ['en', 'de'], defaultLocale: 'en' },`,
        integrations: 'mdx(), ',
      }),
      ...mdxFeed,
      'src/content.config.ts': `
        import { defineCollection } from 'astro:content';
        import { glob } from 'astro/loaders';
        import { snippetLoader } from 'astro-snippets/loader';
        export const collections = {
          posts: defineCollection({ loader: glob({ pattern: '*.mdx', base: 'src/posts' }) }),
          legal: defineCollection({ loader: snippetLoader({ imprint: { id: 3 } }) }),
        };`,
      'src/pages/index.astro': page,
      'src/pages/de/about.astro': page,
      'src/pages/rss.xml.js': `import { feed } from '../feed.js';\nexport const GET = () => feed();`,
      'src/pages/feed.xml.ts': `export const GET = () => new Response('<?xml version="1.0"?><feed xml:lang="de-AT"><entry>&lt;snippet-embed id="1">&lt;/snippet-embed></entry><entry>&lt;snippet-embed id="5">&lt;/snippet-embed></entry><entry>&lt;snippet-embed id="2">&lt;/snippet-embed></entry></feed>');`,
      'src/pages/legal.astro': `---
import { getEntry } from 'astro:content';
const { data } = await getEntry('legal', 'imprint');
---
<html><body>{data.content}</body></html>`,
    },
  );
  let dev: SiteServer;
  beforeAll(async () => {
    dev = await startServer(site, 'dev', service.environment);
  });
  afterAll(async () => {
    await dev.stop();
    await host.close();
  });

  /** The parts of a page that show snippets, without what dev adds to them. */
  const shownIn = (html: string) => {
    const { title, body } =
      /(?<title><title>.*<\/title>)[\s\S]*(?<body><p id="plain">[\s\S]*<\/div>)/.exec(html)?.groups ?? {};
    return [title, body?.replaceAll(/<!--.*?-->/g, '')];
  };

  test.for([
    ['/docs/', 'index.html'],
    ['/docs/de/about/', 'de/about/index.html'],
  ] as const)('on %s: params by page and language, links and images', async ([path, file]) => {
    const shown = shownIn((await fetchPage(dev.url + path)).html);
    expect(shown[1]).toContain(`fr ${path}<`);
    expect(shown).toEqual(shownIn(await site.read(file)));
  });

  test.for(['feed.xml', 'rss.xml'])('in %s', async (name) => {
    const built = await site.read(name);
    if (name === 'feed.xml') expect(built).toContain('https://site.test/docs/prices/');
    expect(await (await fetch(`${dev.url}/docs/${name}`)).text()).toBe(built);
  });

  test('at the URLs of images', async () => {
    const [, src = ''] = /src="(\/docs\/_astro\/hero[^"]+)"/.exec(await site.read('index.html')) ?? [];
    const response = await fetch(dev.url + src);
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await response.arrayBuffer())).toEqual(images.png);
    expect((await fetch(`${dev.url}/docs/_astro/none.0123456789abcdef0123.png`)).status).toBe(404);
  });

  test('and leaves the record of the last build alone, so that a check still finds changes', async () => {
    const record = join(site.directory, 'node_modules/.astro/astro-snippets/manifest.json');
    const built = await readFile(record, 'utf8');
    service.put(3, 'a new imprint');
    await dev.stop();
    dev = await startServer(site, 'dev', service.environment);
    const legal = async () => (await fetchPage(`${dev.url}/docs/legal/`)).html;
    await expect.poll(legal).toContain('a new imprint');
    expect(await readFile(record, 'utf8')).toBe(built);
    expect(await site.run('check')).toMatchObject({ exitCode: 10 });
  });
});
