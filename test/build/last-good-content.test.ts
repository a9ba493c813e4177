import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { builtSite } from '../support/built-site.ts';
import { cli } from '../support/cli.ts';
import { configWith } from '../support/site.ts';

const { service, site } = await builtSite(
  { 1: 'one', 2: 'two' },
  {
    'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
    'src/pages/about.html': '<p><snippet-embed id="2"></snippet-embed></p>',
  },
);
beforeEach(() => service.clearFaults());

const week = `{ staleIfError: '7d' }`;
// Longer than anybody waits, so that these builds do not wait either.
const outage = { failing: 1, retryAfter: '3600' };

/** Builds the site with these options of `snippets()`. Returns what the build wrote. */
async function build(
  options: string,
  exitCode = 0,
  environment: Record<string, string> = service.environment,
): Promise<string> {
  await site.write({ 'astro.config.mjs': configWith(options) });
  const built = await site.build(environment);
  expect(built.exitCode, built.output).toBe(exitCode);
  return built.output;
}

async function refresh(): Promise<void> {
  expect(await cli(site.directory, ['refresh'], service.environment)).toMatchObject({ exitCode: 0 });
}

test('staleIfError shows what the last refresh has written when the service is down, with a warning for each snippet', async () => {
  service.put(1, 'newer');
  await refresh();
  Object.assign(service.faults, { failing: 1, failingStatus: 503 });
  const output = await build(week);
  expect(output).toMatch(
    /Snippet 1 could not be .*503.* Its last good content, fetched [\d.]+ seconds? ago, is shown instead on index\.html\. \[server-error\]/,
  );
  expect(output).toMatch(
    /Snippet 2 could not be .*503.* is shown instead on about\/index\.html\. \[server-error\]/,
  );
  expect(await site.read('index.html')).toContain('<p>newer</p>');
});

test('offline builds from the cache without requests, and names snippets that are not in it', async () => {
  const before = service.requests().length;
  expect(await build('{ offline: true }')).toContain('0 requests, 0 retries, 0 fallbacks · 2 from the cache');
  expect(await site.read('index.html')).toContain('<p>newer</p>');
  expect(await site.read('about/index.html')).toContain('<p>two</p>');

  await site.write({ 'src/pages/new.html': '<p><snippet-embed id="3"></snippet-embed></p>' });
  const output = await build('{ offline: true }', 1);
  expect(output).toContain('Snippet 3: is not in the cache, and `offline` is set. [not-cached]');
  expect(output).toContain('once without `offline` and with the same key and base URLs');
  expect(service.requests()).toHaveLength(before);
  await rm(join(site.directory, 'src/pages/new.html'));
});

test('staleIfError shows the last good content when the service does not answer within `timeout`', async () => {
  service.hold();
  expect(await build(`{ timeout: '1s', staleIfError: '7d' }`)).toMatch(
    /Snippet 1: not fetched within 1 second, .* Its last good content, fetched .* ago, is shown instead on index\.html\. \[timeout\]/,
  );
  expect(await site.read('index.html')).toContain('<p>newer</p>');
});

test('staleIfError does not hide an expired subscription', async () => {
  service.store.organizations.setSubscription(service.organizationId, 'expired');
  expect(await build(week, 1)).toContain('402 Payment Required');
});

test('a build fails without staleIfError if the service is down', async () => {
  Object.assign(service.faults, outage);
  expect(await build('', 1)).toContain('2 snippets could not be fetched.');
});

test('staleIfError works for a site that only retrieves (variant A)', async () => {
  const { SNIPPETS_RENDER_BASE_URL: _, ...retrieving } = service.environment;
  await build(week, 0, retrieving);
  Object.assign(service.faults, outage);
  expect(await build(week, 0, retrieving)).toMatch(/Snippet 1.* Its last good content/);
});

test('a cache driver is told to keep answers for as long as staleIfError', async () => {
  const driver = `{ getItem: () => null, setItem: (key, value, { ttl }) => console.log('kept for', ttl), hasItem: () => false, getKeys: () => [] }`;
  const output = await build(`{ staleIfError: '60d', cache: { driver: ${driver} } }`);
  expect(output.match(/kept for \d+/g)).toEqual(Array(2).fill(`kept for ${60 * 24 * 60 * 60}`));
});

test.for([
  // A refresh writes what it has fetched into the folder of the cache, and cannot open another storage.
  ['files', '', '0 requests, 0 retries, 0 fallbacks · 2 from the cache'],
  // Snippet 2 is young enough.
  [
    'another storage',
    `driver: 'fs-lite', options: { base: './node_modules/.astro/answers' }, `,
    '1 request, 0 retries, 0 fallbacks · 1 from the cache',
  ],
] as const)(
  'maxAge does not bring back a content in %s that a refresh has replaced',
  async ([, storage, counts]) => {
    const options = `cache: { ${storage}maxAge: '1h' }`;
    service.put(1, 'older');
    // Emptied first, so that this build fetches and caches the older content.
    await rm(join(site.directory, 'node_modules/.astro'), { recursive: true, force: true });
    await build(`{ ${options} }`);
    service.put(1, 'newer');
    await refresh();
    expect(await build(`{ ${options} }`)).toContain(counts);
    expect(await site.read('index.html')).toContain('<p>newer</p>');
  },
);

test('offline takes nothing from another storage that a refresh has replaced, or that is gone since', async () => {
  const options = `cache: { driver: 'fs-lite', options: { base: './node_modules/.astro/answers' } }`;
  await site.write({
    'src/pages/index.html': '<p><snippet-embed id="1">children of 1</snippet-embed></p>',
    'src/pages/gone.html': '<p><snippet-embed id="3" optional>children of 3</snippet-embed></p>',
    'src/pages/about.html': '<p>Nothing.</p>',
  });
  service.put(3, 'three');
  await build(`{ ${options} }`);
  service.put(1, 'newest');
  service.unpublish(3);
  await refresh();
  // What is new on the site is in that storage since the test before.
  await site.write({ 'src/pages/about.html': '<p><snippet-embed id="2"></snippet-embed></p>' });
  await build(`{ ${options}, offline: true }`);
  expect(await site.read('index.html')).toContain('children of 1');
  expect(await site.read('gone/index.html')).toContain('children of 3');
  expect(await site.read('about/index.html')).toContain('two');
});
