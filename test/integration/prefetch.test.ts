import { expect, test } from 'vitest';
import { builtSite } from '../support/site/built-site.ts';
import { configWith } from '../support/site/site.ts';

// Each build of this site prefetches the snippets of the last one.
const { service, site } = await builtSite(
  { 1: 'one', 2: 'two', 3: 'three' },
  {
    'astro.config.mjs': configWith('', {
      integrations: `{
        name: 'clock',
        hooks: { 'astro:build:generated': () => console.log('GENERATED ' + Date.now()) },
      }, `,
    }),
    'src/pages/index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
    'src/pages/about.html': '<p><snippet-embed id="2"></snippet-embed></p>',
  },
);

test('the snippets of the last build are prefetched once, while Astro bundles', async () => {
  const before = service.requests().length;
  const output = await site.builds();
  const asked = service.requests().slice(before);
  expect(asked.map(({ snippetId }) => snippetId).sort()).toEqual(['1', '2']);
  const generatedAt = Number(/GENERATED (\d+)/.exec(output)?.[1]);
  for (const { at } of asked) expect(Date.parse(at)).toBeLessThan(generatedAt);
  expect(output).toContain('2 requests, 0 retries');
});

test('a prefetch that failed is repeated when a page needs the snippet', async () => {
  // The first two requests are the prefetches.
  Object.assign(service.faults, { failingNext: 2, failingStatus: 404 });
  expect(await site.builds()).toContain('4 requests, 0 retries');
});

test('a failed prefetch of a snippet that is no longer embedded is ignored, and a new snippet is fetched', async () => {
  await site.write({ 'src/pages/about.html': '<p><snippet-embed id="3"></snippet-embed></p>' });
  Object.assign(service.faults, { failing: 1, failingStatus: 404, only: [2] });
  expect(await site.builds()).not.toMatch(/warn|404 Not Found/i);
  expect(await site.read('about/index.html')).toContain('three');
});
