import { expect, test } from 'vitest';
import { builtSite } from '../support/site/built-site.ts';
import { byAstro, isFirstOfMajor } from '../support/site/installation.ts';
import { exits } from '../support/tools/exits.ts';

const { service, site, output } = await builtSite(
  { 1: '<b>banner</b> & more&nbsp;&mdash; <br>now', 2: 'plan {{ plan }}' },
  {
    'src/content.config.ts': `
      import { defineCollection } from 'astro:content';
      import { z } from 'astro/zod';
      import { defineSnippet } from 'astro-snippets/client';
      import { snippetLoader } from 'astro-snippets/loader';
      import { plain } from './plain-entries.ts';
      const price = defineSnippet({ id: 2, params: z.object({ plan: z.string().default('free') }) });
      const loader = snippetLoader({ ...plain, standard: { of: price, params: {} } });
      export const collections = { snippets: defineCollection({ loader }) };`,
    // Not in the config: if that changes, Astro deletes all entries itself.
    'src/plain-entries.ts': `export const plain = { banner: { id: 1 }, again: { id: 1 }, price: { id: 2, params: { plan: 'pro' } } };`,
    'src/pages/index.astro': `---
import { getEntry, render } from 'astro:content';
const banner = await getEntry('snippets', 'banner');
const { Content } = await render(banner);
---
<html><head><meta name="description" content={banner.data.text}></head><body><p><Content /></p><div><snippet-embed id="1"></snippet-embed></div></body></html>`,
    'src/pages/feed.json.ts': `
      import { getCollection } from 'astro:content';
      export const GET = async () =>
        Response.json((await getCollection('snippets')).map(({ id, data, digest }) => ({ id, ...data, digest: digest.length > 4 })));`,
  },
);

test('a page renders an entry, an endpoint reads it, and an attribute shows its text', async () => {
  expect(output).toContain('[astro-snippets] 4 snippets in the collection snippets');
  const html = '<b>banner</b> & more&nbsp;&mdash; <br>now';
  // As Astro escapes an attribute.
  const ampersand = byAstro({ 5: '&#38;', 6: isFirstOfMajor ? '&#38;' : '&amp;', 7: '&amp;' });
  // Astro 5.0 and 6.0 add a style for images.
  const page = (await site.read('index.html')).replace(/<style>[\s\S]*?<\/style>/, '');
  expect(page).toBe(
    `<!DOCTYPE html><html><head><meta name="description" content="banner ${ampersand} more\u00a0— now"></head><body><p>${html}</p><div>${html}</div></body></html>`,
  );
  const banner = { content: html, text: 'banner & more\u00a0— now', variant: 'render', digest: true };
  const entries: { id: string }[] = JSON.parse(await site.read('feed.json'));
  // Astro 5 keeps the order in which entries were loaded.
  expect(entries.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
    { id: 'again', ...banner },
    { id: 'banner', ...banner },
    { id: 'price', content: 'plan pro', text: 'plan pro', variant: 'render', digest: true },
    { id: 'standard', content: 'plan free', text: 'plan free', variant: 'render', digest: true },
  ]);
  // Each is requested once, although entries and a page share one.
  expect(service.requests()).toHaveLength(3);
});

test('a changed snippet updates its entry, a removed entry disappears, and variant A sends the name', async () => {
  service.put(1, '<b>new</b>');
  service.faults.renderAbsent = true;
  await site.write({ 'src/plain-entries.ts': 'export const plain = { banner: { id: 1 } };' });
  const before = service.requests().length;
  await site.builds();
  // The snippets of the last build are prefetched and not requested again: one attempt at each variant.
  const variants = service.requests().slice(before);
  expect(
    variants
      .map(({ variant }) => variant)
      .toSorted()
      .join(' '),
  ).toBe('render render render retrieve retrieve retrieve');
  expect(await site.read('index.html')).toContain('<p><b>new</b></p>');
  const entries = JSON.parse(await site.read('feed.json'));
  expect(entries.map(({ id }: { id: string }) => id)).toEqual(['banner', 'standard']);
  expect(entries[0]).toMatchObject({ name: 'Snippet 1', variant: 'retrieve' });
});

test('failing entries fail the build with one report', async () => {
  await site.write({
    'src/plain-entries.ts':
      'export const plain = { fine: { id: 1 }, wrong: { id: 999 }, also: { id: 998 } };',
  });
  const failed = await exits(1, site.build());
  expect(failed).toContain('2 snippets could not be fetched.');
  expect(failed).toContain('Snippet 999: 404 Not Found [not-found]');
  expect(failed).toContain('on snippets (collection), entry "wrong"');
  expect(failed).toContain('not-found: Check the id: the snippet does not exist');
});

test('without an API key or without the integration, a collection fails with a hint', async () => {
  const withoutKey = await exits(1, site.build({}));
  expect(withoutKey).toContain('[astro-snippets/missing-key] SNIPPETS_API_KEY is not set.');
  expect(withoutKey).toContain('Set SNIPPETS_API_KEY in the environment, or in a .env file');
  await site.write({ 'astro.config.mjs': 'export default {};' });
  const without = await exits(1, site.build());
  expect(without).toContain(
    '[astro-snippets/missing-integration] The collection snippets uses snippetLoader, but the integration is not in the Astro config.',
  );
  expect(without).toContain('Add snippets() to the integrations of the Astro config.');
});
