import { beforeEach, expect, test } from 'vitest';
import { builtSite } from '../support/built-site.ts';

// One site, built several times: each build prefetches the snippets of the last one.
const { service, site } = await builtSite(
  { 1: 'one', 2: 'two', 3: 'three' },
  {
    'astro.config.mjs': `
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
const clock = {
  name: 'clock',
  hooks: {
    'astro:build:setup': () => console.log('BUNDLING ' + Date.now()),
    'astro:build:generated': () => console.log('GENERATED ' + Date.now()),
  },
};
export default defineConfig({ integrations: [clock, snippets()] });`,
    'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
    'src/pages/about.html': '<p><snippet-embed id="2"></snippet-embed></p>',
  },
);
beforeEach(() => service.clearFaults());

test('the snippets of the last build are prefetched once, while Astro bundles', async () => {
  const before = service.requests().length;
  const { output } = await site.build(service.environment);
  const asked = service.requests().slice(before);
  expect(asked.map(({ snippetId }) => snippetId).sort()).toEqual(['1', '2']);
  const generatedAt = Number(/GENERATED (\d+)/.exec(output)?.[1]);
  for (const { at } of asked) expect(Date.parse(at)).toBeLessThan(generatedAt);
  expect(output).toContain('2 requests, 0 retries, 0 fallbacks');
});

test('a prefetch that failed is repeated when a page needs the snippet', async () => {
  // The first two requests are the prefetches.
  Object.assign(service.faults, { failingNext: 2, failingStatus: 404 });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  expect(output).toContain('4 requests, 0 retries');
});

test('a failed prefetch of a snippet that is no longer embedded is ignored', async () => {
  await site.write({ 'src/pages/about.html': '<p>nothing</p>' });
  Object.assign(service.faults, { failing: 1, failingStatus: 404, only: [2] });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  expect(output).not.toMatch(/warn|404/i);
});

test('a snippet that is new on the site is fetched when its embed is found', async () => {
  await site.write({ 'src/pages/about.html': '<p><snippet-embed id="3"></snippet-embed></p>' });
  expect((await site.build(service.environment)).exitCode).toBe(0);
  expect(await site.read('about/index.html')).toContain('three');
});

test('an API key that prefetching found invalid fails the build with one report', async () => {
  const wrong = { ...service.environment, SNIPPETS_API_KEY: 'sk_unknown_000000' };
  const { exitCode, output } = await site.build(wrong);
  expect(exitCode).toBe(1);
  expect(output.match(/401 Unauthorized/g)).toHaveLength(1);
});
