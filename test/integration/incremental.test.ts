import { expect, test } from 'vitest';
import { builtSite } from '../support/site/built-site.ts';
import { collectionOf, configWith } from '../support/site/site.ts';

const config = (vite = '{}') =>
  configWith('', { settings: `experimental: { incrementalBuild: true }, vite: ${vite},` });
const { service, site } = await builtSite(
  { 1: '<b>yesterday</b>', 2: 'last year' },
  {
    'src/content.config.ts': collectionOf('texts', "(await import('./entries.ts')).default"),
    // Not in the config: if that changes, Astro deletes all entries itself.
    'src/entries.ts': 'export default { about: { id: 2 } };',
    'src/pages/all/[page].astro': `---
import { getCollection } from 'astro:content';
export const getStaticPaths = () => [{ params: { page: 'texts' }, cacheKey: 'never changes' }];
const texts = await getCollection('texts');
---
<p>{texts.map(({ data }) => data.text)}</p>`,
    'src/pages/entry/[id].astro': `---
import { getCollection } from 'astro:content';
export async function getStaticPaths() {
  const entries = await getCollection('texts');
  return entries.map((entry) => ({ params: { id: entry.id }, props: { entry }, cacheKey: entry.digest }));
}
---
<p set:html={Astro.props.entry.data.content} />`,
    'astro.config.mjs': config(),
    'src/pages/[page].astro': `---
import { Snippet } from 'astro-snippets/components';
export function getStaticPaths() {
  return ['a', 'b'].map((page) => ({ params: { page }, cacheKey: 'never changes' }));
}
---
<p>Page {Astro.params.page}: <Snippet id={1} /></p>`,
  },
);

test("a page that Astro restores from its cache shows the snippet's new content, after a failed build too", async () => {
  expect(await site.read('a/index.html')).toContain('<p>Page a: <b>yesterday</b></p>');
  Object.assign(service.faults, { failing: 1, retryAfter: '3600' });
  expect((await site.build()).exitCode).toBe(1);

  service.clearFaults();
  service.put(1, '<b>today</b>');
  const output = await site.builds();
  for (const name of ['a', 'b']) {
    expect(output).toContain(`${name}/index.html (restored)`);
    expect(await site.read(`${name}/index.html`)).toContain(`<p>Page ${name}: <b>today</b></p>`);
  }
});

test('pages that show a collection are restored unless one of its entries has changed or is gone', async () => {
  const pages = ['all/texts/index.html', 'entry/about/index.html'];
  const expectRestored = async () => {
    const output = await site.builds();
    for (const name of pages) expect(output).toContain(`${name} (restored)`);
  };
  await expectRestored();
  service.put(2, 'this year');
  expect(await site.builds()).not.toContain('(restored)');
  for (const name of pages) expect(await site.read(name)).toContain('<p>this year</p>');
  await expectRestored();
  await site.write({ 'src/entries.ts': 'export default {};' });
  expect(await site.builds()).not.toContain('(restored)');
  expect(await site.read('all/texts/index.html')).toContain('<p></p>');
});

test('a build warns if emptyOutDir is off and old pages stay in the output', async () => {
  await site.write({ 'astro.config.mjs': config('{ build: { emptyOutDir: false } }') });
  const first = await site.build();
  service.put(1, '<b>new</b>');
  const second = await site.build();
  // If Astro changes this, the warning can be removed.
  expect(await site.read('a/index.html')).not.toContain('<b>new</b>');
  for (const { output } of [first, second])
    expect(output).toContain('[WARN] [astro-snippets] With experimental.incrementalBuild');
});
