import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite } from '../support/site.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ 1: '<b>yesterday</b>' });
});
afterAll(() => service.close());

const page = `---
import { Snippet } from 'astro-snippets/components';
export function getStaticPaths() {
  return ['a', 'b'].map((page) => ({ params: { page }, cacheKey: 'never changes' }));
}
---
<p>Page {Astro.params.page}: <Snippet id={1} /></p>`;

const config = (vite: string) => `
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
export default defineConfig({
  experimental: { incrementalBuild: true },
  vite: ${vite},
  integrations: [snippets()],
});`;

test("a page that Astro restores from its cache shows the snippet's new content", async () => {
  const site = await createSite({ 'astro.config.mjs': config('{}'), 'src/pages/[page].astro': page });
  service.put(1, '<b>yesterday</b>');
  expect((await site.build(service.environment)).exitCode).toBe(0);
  expect(await site.read('a/index.html')).toContain('<p>Page a: <b>yesterday</b></p>');

  service.put(1, '<b>today</b>');
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  expect(output).toMatch(/a\/index\.html \(restored\)/);
  expect(output).toMatch(/b\/index\.html \(restored\)/);
  expect(await site.read('a/index.html')).toContain('<p>Page a: <b>today</b></p>');
  expect(await site.read('b/index.html')).toContain('<p>Page b: <b>today</b></p>');
  await site.remove();
});

test('pages are restored from the cache after a failed build', async () => {
  const site = await createSite({ 'astro.config.mjs': config('{}'), 'src/pages/[page].astro': page });
  service.put(1, '<b>first</b>');
  service.faults.failing = 1;
  expect((await site.build(service.environment)).exitCode).toBe(1);
  service.clearFaults();
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  expect(output).toMatch(/a\/index\.html \(restored\)/);
  expect(await site.read('a/index.html')).toContain('<p>Page a: <b>first</b></p>');
  await site.remove();
});

test('a build warns if emptyOutDir is off and old pages stay in the output', async () => {
  const site = await createSite({
    'astro.config.mjs': config('{ build: { emptyOutDir: false } }'),
    'src/pages/[page].astro': page,
  });
  service.put(1, '<b>old</b>');
  const first = await site.build(service.environment);
  service.put(1, '<b>new</b>');
  const second = await site.build(service.environment);
  // If Astro changes this, the warning can be removed.
  expect(await site.read('a/index.html')).toContain('<b>old</b>');
  for (const { output } of [first, second])
    expect(output).toContain('[WARN] [astro-snippets] With experimental.incrementalBuild');
  await site.remove();
});
