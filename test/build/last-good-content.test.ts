import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { builtSite } from '../support/built-site.ts';
import { startCommand } from '../support/command.ts';
import { configWith } from '../support/site.ts';

const { service, site } = await builtSite(
  { 1: 'one', 2: 'two' },
  {
    'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
    'src/pages/about.html': '<p><snippet-embed id="2"></snippet-embed></p>',
  },
);
beforeEach(() => service.clearFaults());

test('staleIfError shows the last good content when the service is down, with a warning for each snippet', async () => {
  await site.write({ 'astro.config.mjs': configWith(`{ staleIfError: '7d' }`) });
  Object.assign(service.faults, { failing: 1, failingStatus: 503 });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  expect(output).toMatch(
    /Snippet 1 could not be .*503.* Its last good content, fetched [\d.]+ seconds? ago, is shown instead on index\.html\. \[server-error\]/,
  );
  expect(output).toMatch(
    /Snippet 2 could not be .*503.* is shown instead on about\/index\.html\. \[server-error\]/,
  );
  expect(await site.read('index.html')).toContain('<p>one</p>');
});

test('staleIfError does not hide an expired subscription', async () => {
  await site.write({ 'astro.config.mjs': configWith(`{ staleIfError: '7d' }`) });
  service.store.organizations.setSubscription(service.organizationId, 'expired');
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toContain('402 Payment Required');
});

test('a build fails without staleIfError if the service is down', async () => {
  await site.write({ 'astro.config.mjs': configWith('') });
  Object.assign(service.faults, { failing: 1, failingStatus: 503 });
  expect((await site.build(service.environment)).exitCode).toBe(1);
});

test('staleIfError works for a site that only retrieves (variant A)', async () => {
  await site.write({ 'astro.config.mjs': configWith(`{ staleIfError: '7d' }`) });
  const { SNIPPETS_RENDER_BASE_URL: _, ...retrieving } = service.environment;
  expect((await site.build(retrieving)).exitCode).toBe(0);
  Object.assign(service.faults, { failing: 1, failingStatus: 503 });
  const { exitCode, output } = await site.build(retrieving);
  expect(exitCode).toBe(0);
  expect(output).toMatch(/Snippet 1 could not be .*503.* Its last good content/);
});

test('a cache driver is told to keep answers for as long as staleIfError', async () => {
  const driver = `{ getItem: () => null, setItem: (key, value, { ttl }) => console.log('kept for', ttl), hasItem: () => false, getKeys: () => [] }`;
  await site.write({
    'astro.config.mjs': configWith(`{ staleIfError: '60d', cache: { driver: ${driver} } }`),
  });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(0);
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
    await site.write({ 'astro.config.mjs': configWith(`{ cache: { ${storage}maxAge: '1h' } }`) });
    service.put(1, 'older');
    // Emptied first, so that this build fetches and caches the older content.
    await rm(join(site.directory, 'node_modules/.astro'), { recursive: true, force: true });
    expect((await site.build(service.environment)).exitCode).toBe(0);
    service.put(1, 'newer');
    const refresh = await startCommand(site.directory, ['refresh'], service.environment).ended;
    expect(refresh.exitCode).toBe(0);
    const { exitCode, output } = await site.build(service.environment);
    expect(exitCode).toBe(0);
    expect(await site.read('index.html')).toContain('<p>newer</p>');
    expect(output).toContain(counts);
    service.put(1, 'one');
  },
);

test('after a refresh, staleIfError and offline show what the refresh has written', async () => {
  await site.write({ 'astro.config.mjs': configWith(`{ staleIfError: '7d' }`) });
  service.put(1, 'older');
  expect((await site.build(service.environment)).exitCode).toBe(0);
  service.put(1, 'newer');
  expect(await startCommand(site.directory, ['refresh'], service.environment).ended).toMatchObject({
    exitCode: 0,
  });
  Object.assign(service.faults, { failing: 1, failingStatus: 503 });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode, output).toBe(0);
  expect(output).toMatch(/Snippet 1 could not be .*503.* Its last good content/);
  expect(await site.read('index.html')).toContain('<p>newer</p>');
  await site.write({ 'astro.config.mjs': configWith('{ offline: true }') });
  expect((await site.build(service.environment)).exitCode).toBe(0);
  expect(await site.read('index.html')).toContain('<p>newer</p>');
  service.put(1, 'one');
});

test('staleIfError shows the last good content when the service does not answer within `timeout`', async () => {
  await site.write({ 'astro.config.mjs': configWith('') });
  expect((await site.build(service.environment)).exitCode).toBe(0);
  await site.write({ 'astro.config.mjs': configWith(`{ timeout: '1s', staleIfError: '7d' }`) });
  service.hold();
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode, output).toBe(0);
  expect(output).toMatch(
    /Snippet 1: not fetched within 1 second, .* Its last good content, fetched .* ago, is shown instead on index\.html\. \[timeout\]/,
  );
  expect(await site.read('index.html')).toContain('<p>one</p>');
});

test('offline builds from the cache without requests, and names snippets that are not in it', async () => {
  await site.write({ 'astro.config.mjs': configWith('{ offline: true }') });
  const before = service.requests().length;
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  expect(output).toContain('0 requests, 0 retries, 0 fallbacks · 2 from the cache');
  expect(await site.read('about/index.html')).toContain('<p>two</p>');

  await site.write({ 'src/pages/new.html': '<p><snippet-embed id="3"></snippet-embed></p>' });
  const missing = await site.build(service.environment);
  expect(missing.exitCode).toBe(1);
  expect(missing.output).toContain('Snippet 3: is not in the cache, and `offline` is set. [not-cached]');
  expect(missing.output).toContain('once without `offline` and with the same key and base URLs');
  expect(service.requests()).toHaveLength(before);
});
