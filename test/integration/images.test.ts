import { access, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { images, startImageHost } from '../support/http/images.ts';
import { certificate } from '../support/http/tls-server.ts';
import { builtSite } from '../support/site/built-site.ts';
import { collectionOf, configWith } from '../support/site/site.ts';
import { exits } from '../support/tools/exits.ts';

const headers = { etag: '"1"' };
const host = await startImageHost({
  '/hero.png': { type: 'image/png', body: images.png, headers },
  '/late.jpg': { type: 'image/jpeg', body: images.jpg, headers },
});
afterAll(() => host.close());

const hero = (name: string) => `<p><img alt="" src="${host.origin}/${name}"></p>`;
const feedEmbed = '&lt;snippet-embed id="1"&gt;&lt;/snippet-embed&gt;';
const { service, site, output } = await builtSite(
  { 1: hero('hero.png'), 2: hero('gone.png'), 3: hero('hero.png'), 4: hero('late.jpg') },
  {
    'astro.config.mjs': configWith(
      `{ ca: ${JSON.stringify(certificate.ca)}, images: { hosts: ['${host.host}'] } }`,
      { settings: `base: '/docs',` },
    ),
    'src/pages/index.astro': '<html><body><snippet-embed id="1"></snippet-embed></body></html>',
    'src/pages/both.astro':
      '<html><body><snippet-embed id="3"></snippet-embed><snippet-embed id="2"></snippet-embed></body></html>',
    'src/pages/feed.xml.ts': `export const GET = () => new Response('<rss><channel><item><description>${feedEmbed}</description></item></channel></rss>', { headers: { 'content-type': 'application/xml' } });`,
    'src/content.config.ts': collectionOf('banners', '{ top: { id: 4 } }'),
    'src/pages/collected.astro': `---
import { getEntry, render } from 'astro:content';
const { Content } = await render(await getEntry('banners', 'top'));
---
<html><body><Content /></body></html>`,
    'src/pages/collected.json.ts': `import { getEntry } from 'astro:content';
export const GET = async () => Response.json((await getEntry('banners', 'top')).data);`,
  },
);

/** The site's copy of an image on a page, and the attributes before it. */
async function shownOn(page: string): Promise<{ attributes: string; file: string }> {
  const [, attributes = '', file = ''] =
    /<img (.*?) alt="" src="\/docs\/(_astro\/[^"]+)">/.exec(await site.read(page)) ?? [];
  return { attributes, file };
}

const bytesOf = (name: string) => readFile(join(site.directory, 'dist', name));

test('a build serves the images of snippets itself, and so does a refresh', async () => {
  const { attributes, file } = await shownOn('index.html');
  expect(attributes).toBe('width="80" height="45" loading="lazy" decoding="async"');
  expect(file).toMatch(/^_astro\/hero\.[0-9a-f]{20}\.png$/);
  expect(await bytesOf(file)).toEqual(images.png);
  // A missing image keeps its URL, with one warning that names the snippet and its page.
  expect(await site.read('both/index.html')).toContain(`<img alt="" src="${host.origin}/gone.png">`);
  expect(output.match(/Snippet 2 shows .*/g)).toEqual([
    `Snippet 2 shows ${host.origin}/gone.png from its own host: its host answered with 404. It is on both/index.html, written in src/pages/both.astro:1.`,
  ]);
  // A feed needs absolute URLs.
  expect(await site.read('feed.xml')).toContain(`${host.origin}/hero.png`);
  const [late = ''] = (await site.list()).filter((name) => /^_astro\/late\..*\.jpg$/.test(name));
  expect(await bytesOf(late)).toEqual(images.jpg);
  expect((await shownOn('collected/index.html')).file).toBe(late);
  expect(JSON.parse(await site.read('collected.json'))).toMatchObject({ content: hero('late.jpg') });
  // Each is requested once, without the key.
  expect(host.requests.map(({ path }) => path).sort()).toEqual(['/gone.png', '/hero.png', '/late.jpg']);
  expect(JSON.stringify(host.requests)).not.toContain(service.environment.SNIPPETS_API_KEY);

  // A refresh downloads only new images.
  host.answers['/new.webp'] = { type: 'image/webp', body: images.webp, headers: { etag: '"1"' } };
  host.requests.length = 0;
  service.put(1, hero('new.webp'));
  await exits(10, site.run('check'));
  expect(host.requests).toEqual([]);
  await exits(0, site.run('refresh'));
  expect(host.requests.map(({ path }) => path)).toEqual(['/new.webp']);
  const renewed = await shownOn('index.html');
  expect(renewed.attributes).toBe('width="50" height="30" loading="lazy" decoding="async"');
  expect(await bytesOf(renewed.file)).toEqual(images.webp);
  expect(await site.read('feed.xml')).toContain(`${host.origin}/new.webp`);
});

test('a refresh fetches an image again if its file is gone from the output', async () => {
  const { file } = await shownOn('both/index.html');
  await rm(join(site.directory, 'dist', file));
  service.put(2, 'no image any more');
  await exits(0, site.run('refresh'));
  await access(join(site.directory, 'dist', file));
});
