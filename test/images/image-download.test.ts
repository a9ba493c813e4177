import { readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../src/client/clock.ts';
import { SiteImages } from '../../src/images/site-images.ts';
import { protectKey } from '../../src/text/known-keys.ts';
import { type ImageHost, images, startImageHost } from '../support/http/images.ts';
import { certificate, makeCertificate, rawServer } from '../support/http/tls-server.ts';
import { folderWith } from '../support/site/folder.ts';

let host: ImageHost;
let folder: string;
const opened: SiteImages[] = [];

beforeEach(async () => {
  // Failed requests are repeated at once.
  vi.spyOn(systemClock, 'random').mockReturnValue(0);
  host = await startImageHost({
    '/a.png': { type: 'image/png', body: images.png, headers: { etag: '"1"' } },
  });
  ({ directory: folder } = await folderWith({}));
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const one of opened.splice(0)) await one.close();
  await host.close();
});

function open({ offline = false, ca = certificate.ca, hosts = [host.host] } = {}): SiteImages {
  const assets = { folder: '_astro', prefix: { png: 'https://png.test/', fallback: '/base/' } };
  const site = new SiteImages({ ca, offline, hosts, assets, imageFolder: folder });
  opened.push(site);
  return site;
}

/** The copy of an image, and why it is missing or old. */
async function find(site: SiteImages, path: string, from = host.origin, options = {}) {
  const found = await site.find(new URL(path, from), options);
  return found && { ...found.copy, flaw: found.flaw };
}

test.for([
  ['png', 'image/png', 80, 45],
  ['jpg', 'image/jpeg; charset=binary', 60, 40],
  ['turned', 'image/jpeg', 40, 60],
  ['gif', 'image/gif', 20, 10],
  ['webp', 'image/webp', 50, 30],
  ['avif', 'image/avif', 48, 32],
] as const)('an image is measured as a browser shows it: %s', async ([name, type, width, height]) => {
  host.answers['/x'] = { type, body: images[name] };
  expect(await find(open(), '/x')).toMatchObject({ width, height });
});

test('a host that no image is on is a warning, if there are images on other hosts', async () => {
  const site = open({ hosts: [host.host, 'cdn.exmaple'] });
  await find(site, '/a.png');
  await find(site, 'relative.png', 'https://relative.invalid');
  await find(site, 'data:image/png;base64,AA==');
  expect(site.hostWarnings()).toEqual([]);
  await find(site, 'https://cdn.example/b.png');
  expect(site.hostWarnings()).toEqual([
    'images.hosts: no snippet has an image on cdn.exmaple. Images that are not copied are on cdn.example.',
  ]);
});

test('an image is named after its URL and its bytes, with the prefix from the Astro config', async () => {
  host.answers['/%C3%BC/Big%20Photo_1.jpeg?w=3'] = { type: 'image/jpeg', body: images.jpg };
  const site = open();
  expect(await find(site, '/a.png')).toMatchObject({
    href: expect.stringMatching(/^https:\/\/png\.test\/_astro\/a\.[0-9a-f]{20}\.png$/),
  });
  const photo = await find(site, '/ü/Big Photo_1.jpeg?w=3');
  expect(photo).toMatchObject({
    href: expect.stringMatching(/^\/base\/_astro\/big-photo-1\.[0-9a-f]{20}\.jpg$/),
  });
  expect(Buffer.from((await site.read(photo?.file ?? '')) ?? [])).toEqual(images.jpg);
});

test.for([
  ['a 404', { status: 404 }, 'its host answered with 404'],
  [
    'a redirect',
    { status: 302, headers: { location: '/a.png' } },
    'its host answered with a redirect (302), which is not followed',
  ],
  [
    'an SVG',
    { type: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
    'it is an SVG, which may contain scripts',
  ],
  [
    'a page that says it is an image',
    { type: 'image/png', body: '<!doctype html><script>1</script>' },
    'it is not a PNG, JPEG, GIF, WebP or AVIF image',
  ],
  [
    'an image that says it is a page',
    { type: 'text/html', body: images.png },
    'it was sent with the type text/html but is a PNG image',
  ],
  ['an image without a type', { body: images.gif }, 'it was sent with no type but is a GIF image'],
  [
    'an image without a size',
    { type: 'image/png', body: Buffer.from(images.png).fill('none', 12, 16) },
    'its size could not be read',
  ],
  [
    'an image of more than 10 MiB',
    { type: 'image/png', body: Buffer.concat([images.png, Buffer.alloc(10 * 1024 * 1024)]) },
    'the answer is longer than 10485760 bytes',
  ],
] as const)('no copy is made of %s', async ([, answer, flaw]) => {
  host.answers['/x'] = answer;
  expect(await find(open(), '/x')).toEqual({ flaw });
  expect(host.requests).toHaveLength(1);
});

test.for([
  [503, 429],
  [425, 522],
  [408, 599],
])('a host that fails twice, with %i and %i, is asked a third time', async ([first = 0, second = 0]) => {
  host.answers['/x'] = [{ status: first }, { status: second }, { type: 'image/png', body: images.png }];
  expect(await find(open(), '/x')).toMatchObject({ width: 80 });
  expect(host.requests).toHaveLength(3);
});

test('a host that leaves three images in a row without an answer is not asked again in that run', async () => {
  let connections = 0;
  const { origin, port, close } = await rawServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  onTestFinished(close);
  const site = open({ hosts: [`localhost:${port}`] });
  for (const path of ['/1', '/2', '/3']) await find(site, path, origin);
  expect(connections).toBe(9);
  expect(await find(site, '/4', origin)).toEqual({ flaw: 'its host is in trouble' });
  expect(connections).toBe(9);
});

test('a host that fails for three images in a row is not asked again in that run, unless one arrives', async () => {
  const site = open();
  const failing = { status: 503 };
  host.answers['/fine'] = { type: 'image/png', body: images.png };
  for (const path of ['/1', '/2', '/fine', '/3', '/4']) {
    host.answers[path] ??= failing;
    await find(site, path);
  }
  host.answers['/5'] = failing;
  await find(site, '/5');
  const asked = host.requests.length;
  expect(await find(site, '/6')).toEqual({ flaw: 'its host is in trouble' });
  expect(host.requests).toHaveLength(asked);
});

/** A host that sends these bodies of a PNG, and then closes the connection. */
async function startRawHost(header: string, bodies: readonly Buffer[]) {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: image/png\r\netag: "1"\r\n${header}\r\n\r\n`;
  const left = [...bodies];
  const { origin, port, close } = await rawServer((socket) => {
    socket.end(Buffer.concat([Buffer.from(head), left.shift() ?? images.png.subarray(0, 60)]));
  });
  onTestFinished(close);
  return { origin, left, site: open({ hosts: [`localhost:${port}`] }) };
}

const chunk = Buffer.concat([Buffer.from(`${images.png.length.toString(16)}\r\n`), images.png]);
const lastChunk = Buffer.from('\r\n0\r\n\r\n');

test.for([
  ['its length', `content-length: ${images.png.length}`, [images.png.subarray(0, 70), images.png]],
  ['its last chunk', 'transfer-encoding: chunked', [chunk, Buffer.concat([chunk, lastChunk])]],
] as const)('a body that ends before %s is requested again, and never kept', async ([, header, bodies]) => {
  const { origin, left, site } = await startRawHost(header, bodies);
  const { file = '' } = (await find(site, '/a.png', origin)) ?? {};
  expect(Buffer.from((await site.read(file)) ?? [])).toEqual(images.png);
  expect(left).toEqual([]);
  const kept = await readdir(folder);
  expect(await find(site, '/b.png', origin)).toEqual({ flaw: expect.stringMatching(/./) });
  expect(await readdir(folder)).toEqual(kept);
});

test.for(['connection: close', 'transfer-encoding: chunked, gzip'])(
  'a body that ends with its connection is rejected, since it may be cut: %s',
  async (header) => {
    const { origin, site } = await startRawHost(header, [images.png, images.png, images.png]);
    expect(await find(site, '/a', origin)).toEqual({ flaw: expect.stringMatching(/./) });
    expect(await readdir(folder)).toEqual([]);
  },
);

test('a host whose certificate does not verify is not used', async () => {
  const found = await find(open({ ca: (await makeCertificate()).ca }), '/a.png');
  expect(found?.flaw).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
});

test('requests go only to listed hosts, over https, and without the API key', async () => {
  const key = 'sk_images_5f2c81d07ab94e63';
  protectKey(key);
  const site = open();
  expect(await site.find(new URL('https://other.test/a.png'))).toBeUndefined();
  expect(await site.find(new URL(`http://${host.host}/a.png`))).toEqual({
    flaw: 'its URL does not begin with https:',
  });
  expect(await site.find(new URL(`https://me:x@${host.host}/a.png`))).toEqual({
    flaw: 'its URL contains a user name or a password',
  });
  expect(await find(site, `/a.png?key=${key}`)).toEqual({ flaw: 'its URL contains the API key' });
  expect(host.requests).toEqual([]);
  await find(site, '/a.png');
  expect(host.requests).toHaveLength(1);
  expect(host.requests[0]?.headers).not.toHaveProperty('authorization');
  expect(host.requests[0]?.headers).not.toHaveProperty('cookie');
});

test('an image is downloaded once in a run, and the next run only asks whether it has changed', async () => {
  const first = open();
  const [one, two] = await Promise.all([find(first, '/a.png'), find(first, '/a.png')]);
  expect(two).toEqual(one);
  expect(host.requests).toHaveLength(1);
  const second = open();
  expect(await find(second, '/a.png')).toEqual(one);
  expect(host.requests[1]?.headers['if-none-match']).toBe('"1"');
  expect(Buffer.from((await second.read(one?.file ?? '')) ?? [])).toEqual(images.png);
  host.answers['/a.png'] = {
    type: 'image/png',
    body: Buffer.concat([images.png, Buffer.from([0])]),
    headers: { etag: '"2"' },
  };
  expect((await find(open(), '/a.png'))?.file).not.toBe(one?.file);
});

test.for(['../secret.0123456789abcdef0123.png', 'a.png', '..', ''])(
  'a file of another name is not read from the cache: %j',
  async (name) => {
    await writeFile(join(folder, 'a.png'), images.png);
    expect(await open().read(name)).toBeUndefined();
  },
);

test('offline, only the cache is used', async () => {
  await find(open(), '/a.png');
  const site = open({ offline: true });
  expect(await find(site, '/a.png')).toMatchObject({ width: 80 });
  expect(await find(site, '/b.png')).toEqual({ flaw: 'it is not in the cache, and `offline` is set' });
  expect(host.requests).toHaveLength(1);
});

test.for([
  [{ status: 503 }, 'its host answered with 503'],
  [{ status: 403 }, 'its host answered with 403'],
  [{ type: 'text/html', body: 'Please log in' }, 'it is not a PNG, JPEG, GIF, WebP or AVIF image'],
] as const)(
  'the last image stays, with a warning, while its host sends another answer: %j',
  async ([answer, stale]) => {
    const last = await find(open(), '/a.png');
    host.answers['/a.png'] = answer;
    expect(await find(open(), '/a.png')).toEqual({ ...last, flaw: stale });
  },
);

test.for([404, 410])('an image that is gone is no longer used: %i', async (status) => {
  await find(open(), '/a.png');
  host.answers['/a.png'] = { status };
  expect(await find(open(), '/a.png')).toEqual({ flaw: `its host answered with ${status}` });
});

test('a cut image in the cache is downloaded again', async () => {
  const { file = '' } = (await find(open(), '/a.png')) ?? {};
  await truncate(join(folder, file), 50);
  const site = open();
  await find(site, '/a.png');
  expect(host.requests[1]?.headers).not.toHaveProperty('if-none-match');
  expect(Buffer.from((await site.read(file)) ?? [])).toEqual(images.png);
  for (const name of await readdir(folder)) await writeFile(join(folder, name), '{');
  expect(await find(open(), '/a.png')).toMatchObject({ file });
});

test('without time for a download, an image comes from the run or the cache', async () => {
  const site = open();
  const current = await find(site, '/a.png');
  const asked = host.requests.length;
  const findKept = (run: SiteImages, url: string) => find(run, url, host.origin, { mayDownload: false });
  expect(await findKept(site, '/a.png')).toEqual(current);
  const late = 'there was no time left to download it (`timeout`)';
  expect(await findKept(open(), '/a.png')).toEqual({ ...current, flaw: late });
  expect(await findKept(open(), '/b.png')).toEqual({ flaw: late });
  expect(await findKept(open(), 'https://elsewhere.test/a.png')).toBeUndefined();
  expect(host.requests).toHaveLength(asked);
});
