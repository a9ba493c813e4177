import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtSite } from '../support/site/built-site.ts';
import { configWith } from '../support/site/site.ts';

const { service, site } = await builtSite(
  { 1: 'one', 2: 'two' },
  {
    'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
    'src/pages/about.html': '<p><snippet-embed id="2"></snippet-embed></p>',
  },
);

// Too long to wait for, so these builds do not wait.
const outage = { failing: 1, retryAfter: '3600' };

/** Builds the site with these options of `snippets()`. Returns the output of the build. */
async function build(options: string): Promise<string> {
  await site.write({ 'astro.config.mjs': configWith(options) });
  return site.builds();
}

async function refresh(): Promise<void> {
  expect(await site.run('refresh')).toMatchObject({ exitCode: 0 });
}

test('staleIfError shows what the last refresh wrote when the service is down, with a warning for each snippet', async () => {
  service.put(1, 'newer');
  await refresh();
  Object.assign(service.faults, outage);
  const output = await build(`{ staleIfError: '7d' }`);
  expect(output).toMatch(
    /Snippet 1 could not be .* Its last good content, fetched [\d.]+ (milli)?seconds? ago, is shown instead on index\.html, written in src\/pages\/index\.html:1\. \[rate-limited\]/,
  );
  expect(output).toMatch(
    /Snippet 2 could not be .* is shown instead on about\/index\.html, written in src\/pages\/about\.html:1\. \[rate-limited\]/,
  );
  expect(await site.read('index.html')).toContain('<p>newer</p>');
});

test('offline builds from the cache that the refresh filled, without requests', async () => {
  const before = service.requests().length;
  expect(await build('{ offline: true }')).toContain('0 requests, 0 retries · 2 from the cache');
  expect(await site.read('index.html')).toContain('<p>newer</p>');
  expect(await site.read('about/index.html')).toContain('<p>two</p>');
  expect(service.requests()).toHaveLength(before);
});

test('a cache driver keeps answers for as long as staleIfError', async () => {
  const driver = `{ getItem: () => null, setItem: (key, value, { ttl }) => console.log('kept for', ttl), hasItem: () => false, getKeys: () => [] }`;
  const output = await build(`{ staleIfError: '60d', cache: { driver: ${driver} } }`);
  expect(output.match(/kept for \d+/g)).toEqual(Array(2).fill(`kept for ${60 * 24 * 60 * 60}`));
});

test('another storage does not bring back what a refresh has replaced or removed', async () => {
  // A refresh cannot open this storage.
  const cache = (more = '') =>
    `cache: { driver: 'fs-lite', options: { base: './node_modules/.astro/answers' }, ${more} }`;
  await site.write({
    'src/pages/index.html': '<p><snippet-embed id="1">children of 1</snippet-embed></p>',
    'src/pages/gone.html': '<p><snippet-embed id="3" optional>children of 3</snippet-embed></p>',
  });
  service.put(1, 'older');
  service.put(3, 'three');
  await rm(join(site.directory, 'node_modules/.astro'), { recursive: true });
  await build(`{ ${cache()} }`);

  service.put(1, 'newer');
  await refresh();
  await site.write({ 'src/pages/about.html': '<p>Nothing.</p>' });
  // Snippets 2 and 3 are young enough.
  expect(await build(`{ ${cache(`maxAge: '1h'`)} }`)).toContain('1 request, 0 retries · 2 from');
  expect(await site.read('index.html')).toContain('<p>newer</p>');

  service.put(1, 'newest');
  service.unpublish(3);
  await refresh();
  // Snippet 2 is on the site again, and still in the cache.
  await site.write({ 'src/pages/about.html': '<p><snippet-embed id="2"></snippet-embed></p>' });
  await build(`{ ${cache()}, offline: true }`);
  expect(await site.read('index.html')).toContain('children of 1');
  expect(await site.read('gone/index.html')).toContain('children of 3');
  expect(await site.read('about/index.html')).toContain('two');
});
