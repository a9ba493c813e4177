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
    `Snippet 2 shows ${host.origin}/gone.png from its own host: its host answered with 404. It is on both/index.html, written in src/pages/both.astro:1. [image-not-copied]`,
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

  // A check and a refresh ask for each image, and download only what is new.
  host.answers['/new.webp'] = { type: 'image/webp', body: images.webp, headers: { etag: '"1"' } };
  host.requests.length = 0;
  service.put(1, hero('new.webp'));
  await exits(10, site.run('check'));
  const withEtag = () => host.requests.map(({ path, headers }) => `${path} ${headers['if-none-match']}`);
  const asked = ['/gone.png undefined', '/hero.png "1"', '/late.jpg "1"', '/new.webp undefined'];
  expect(withEtag().sort()).toEqual(asked);
  host.requests.length = 0;
  await exits(0, site.run('refresh'));
  expect(withEtag().sort()).toEqual(asked);
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

/** Replaces an image, and refreshes. @returns the bytes that the page shows then */
async function shownAfterRefresh(path: string, body: Buffer, headers: Record<string, string>) {
  host.answers[path] = { type: 'image/png', body, headers };
  await exits(0, site.run('refresh'));
  await exits(0, site.run('check', '--output', 'dist'));
  return bytesOf((await shownOn('both/index.html')).file);
}

test('an image that was replaced under its URL is a change, also if the text of its snippet is not', async () => {
  service.put(2, 'no image any more');
  await exits(0, site.run('refresh'));
  const feed = await site.read('feed.xml');
  const other = Buffer.concat([images.png, Buffer.from('other')]);
  host.answers['/hero.png'] = { type: 'image/png', body: other, headers: { etag: '"2"' } };

  expect(await exits(10, site.run('check'))).toContain(
    'Snippet 3 has the same content, but another image\n    both/index.html\n',
  );
  const { changed } = JSON.parse(await exits(10, site.run('check', '--json')));
  expect(changed).toMatchObject([{ id: 3, only: 'images' }]);
  const before = await site.list();
  expect(await exits(0, site.run('refresh', '--dry-run'))).toMatch(/^ {4}\+\S+\/hero\.png hero\.\w+\.png$/m);
  expect(await site.list()).toEqual(before);

  expect(await shownAfterRefresh('/hero.png', other, { etag: '"2"' })).toEqual(other);
  expect(await site.read('feed.xml')).toBe(feed);
  // Most hosts of static files send a time, too, and some only a time.
  const dated = { 'last-modified': 'Wed, 21 Oct 2015 07:28:00 GMT' };
  const third = Buffer.concat([images.png, Buffer.from('third')]);
  expect(await shownAfterRefresh('/hero.png', third, dated)).toEqual(third);
  host.requests.length = 0;
  await exits(0, site.run('refresh'));
  const { headers } = host.requests.find(({ path }) => path === '/hero.png') ?? {};
  expect(headers?.['if-modified-since']).toBe(dated['last-modified']);
});

test('while its host fails, an image stays as it was, with a warning in a check and a refresh', async () => {
  const before = await site.texts();
  host.answers['/hero.png'] = { status: 503 };
  for (const command of ['check', 'refresh']) {
    expect(await exits(0, site.run(command))).toContain(
      `Snippet 3 shows ${host.origin}/hero.png as it was last downloaded: its host answered with 503. It is on both/index.html.`,
    );
  }
  expect(await site.texts()).toEqual(before);
});
