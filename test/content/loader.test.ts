import { afterAll, beforeAll, expect, test } from 'vitest';
import { astroVersion, byAstro } from '../support/installation.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';

let service: TestService;
let site: Site;
beforeAll(async () => {
  service = await startTestService({ 1: '<b>banner</b> & more&nbsp;&mdash; <br>now', 2: 'plan {{ plan }}' });
  site = await createSite({
    'src/content.config.ts': `
      import { defineCollection } from 'astro:content';
      import { z } from 'astro/zod';
      import { defineSnippet } from 'astro-snippets/client';
      import { snippetLoader } from 'astro-snippets/loader';
      import { plain } from './plain-entries.ts';
      const price = defineSnippet({ id: 2, params: z.object({ plan: z.string().default('free') }) });
      const snippets = defineCollection({
        loader: snippetLoader({
          ...plain,
          standard: { of: price, params: {} },
        }),
      });
      export const collections = { snippets };`,
    // Not in the config: if that changes, Astro deletes all entries itself.
    'src/plain-entries.ts': `export const plain = { banner: { id: 1 }, price: { id: 2, params: { plan: 'pro' } } };`,
    'src/pages/index.astro': `---
import { getEntry, render } from 'astro:content';
const banner = await getEntry('snippets', 'banner');
const { Content } = await render(banner);
---
<html><head><meta name="description" content={banner.data.text}></head><body><p><Content /></p></body></html>`,
    'src/pages/feed.json.ts': `
      import { getCollection } from 'astro:content';
      export const GET = async () =>
        Response.json((await getCollection('snippets')).map(({ id, data, digest }) => ({ id, ...data, digest: digest.length > 4 })));`,
  });
});
afterAll(async () => {
  await site.remove();
  await service.close();
});

test('a page renders an entry, an endpoint reads it, and an attribute shows its text', async () => {
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  expect(output).toContain('[astro-snippets] 3 snippets in the collection snippets');
  // How Astro escapes an attribute.
  const ampersand = byAstro({ 5: '&#38;', 6: '&amp;', 7: '&amp;' });
  expect(await site.read('index.html')).toBe(
    `<!DOCTYPE html><html><head><meta name="description" content="banner ${ampersand} more\u00a0— now"></head><body><p><b>banner</b> & more&nbsp;&mdash; <br>now</p></body></html>`,
  );
  expect(JSON.parse(await site.read('feed.json'))).toEqual([
    {
      id: 'banner',
      content: '<b>banner</b> & more&nbsp;&mdash; <br>now',
      text: 'banner & more\u00a0— now',
      variant: 'render',
      digest: true,
    },
    { id: 'price', content: 'plan pro', text: 'plan pro', variant: 'render', digest: true },
    { id: 'standard', content: 'plan free', text: 'plan free', variant: 'render', digest: true },
  ]);
});

test('a changed snippet updates its entry, and a removed entry disappears', async () => {
  service.put(1, '<b>new</b>');
  await site.write({ 'src/plain-entries.ts': 'export const plain = { banner: { id: 1 } };' });
  expect((await site.build(service.environment)).exitCode).toBe(0);
  expect(await site.read('index.html')).toContain('<p><b>new</b></p>');
  const entries: { id: string }[] = JSON.parse(await site.read('feed.json'));
  expect(entries.map(({ id }) => id)).toEqual(['banner', 'standard']);
});

test('an entry has the name of the snippet if variant A sent it', async () => {
  service.faults.renderAbsent = true;
  expect((await site.build(service.environment)).exitCode).toBe(0);
  service.clearFaults();
  expect(JSON.parse(await site.read('feed.json'))[0]).toMatchObject({
    name: 'Snippet 1',
    variant: 'retrieve',
  });
});

test('an unchanged entry keeps its digest, so that its page is restored instead of rendered by an incremental build', async () => {
  const other = await createSite({
    'astro.config.mjs': `
      import { defineConfig } from 'astro/config';
      import snippets from 'astro-snippets';
      export default defineConfig({ experimental: { incrementalBuild: true }, integrations: [snippets()] });`,
    'src/content.config.ts': `
      import { defineCollection } from 'astro:content';
      import { snippetLoader } from 'astro-snippets/loader';
      export const collections = {
        texts: defineCollection({ loader: snippetLoader({ one: { id: 1 }, two: { id: 2, params: { plan: 'x' } } }) }),
      };`,
    'src/pages/[id].astro': `---
import { getCollection } from 'astro:content';
export async function getStaticPaths() {
  const entries = await getCollection('texts');
  return entries.map((entry) => ({ params: { id: entry.id }, props: { entry }, cacheKey: entry.digest }));
}
---
<p set:html={Astro.props.entry.data.content} />`,
  });
  service.put(1, 'before');
  const first = await other.build(service.environment);
  // Astro 7 alone has this option, and older versions reject it by name.
  if (astroVersion < 7) {
    await other.remove();
    expect(first.exitCode).toBe(1);
    expect(first.output).toMatch(/experimental/);
    expect(first.output).toMatch(/incrementalBuild|Invalid or outdated experimental feature/);
    return;
  }
  expect(first.exitCode, first.output).toBe(0);
  service.put(1, 'after');
  const { exitCode, output } = await other.build(service.environment);
  expect(exitCode).toBe(0);
  expect(output).toMatch(/two\/index\.html \(restored\)/);
  expect(output).not.toMatch(/one\/index\.html \(restored\)/);
  expect(await other.read('one/index.html')).toContain('<p>after</p>');
  await other.remove();
});

test('entries that fail, fail the build with one report', async () => {
  const other = await createSite({
    'src/content.config.ts': `
      import { defineCollection } from 'astro:content';
      import { snippetLoader } from 'astro-snippets/loader';
      export const collections = {
        texts: defineCollection({ loader: snippetLoader({ fine: { id: 1 }, wrong: { id: 999 }, also: { id: 998 } }) }),
      };`,
    'src/pages/index.astro': '<p>x</p>',
  });
  const { exitCode, output } = await other.build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toContain('2 snippets could not be fetched.');
  expect(output).toContain('Snippet 999: 404 Not Found [not-found]');
  expect(output).toContain('on texts (collection), entry "wrong"');
  expect(output).toContain('not-found: Check the id: the snippet does not exist');
  await other.remove();
});

test('without an API key or without the integration, a collection fails with a hint', async () => {
  const withoutKey = await site.build();
  expect(withoutKey.exitCode).toBe(1);
  expect(withoutKey.output).toContain('[astro-snippets/missing-key] SNIPPETS_API_KEY is not set.');
  expect(withoutKey.output).toContain('Set SNIPPETS_API_KEY in the environment, or in a .env file');
  await site.write({ 'astro.config.mjs': 'export default {};' });
  const without = await site.build(service.environment);
  expect(without.exitCode).toBe(1);
  expect(without.output).toContain(
    '[astro-snippets/missing-integration] The collection snippets uses snippetLoader, but the integration is not in the Astro config.',
  );
  expect(without.output).toContain('Add snippets() to the integrations of the Astro config.');
});

test('a snippet that a collection and a page share is fetched once', async () => {
  const other = await createSite({
    'src/content.config.ts': `
      import { defineCollection } from 'astro:content';
      import { snippetLoader } from 'astro-snippets/loader';
      export const collections = {
        texts: defineCollection({ loader: snippetLoader({ one: { id: 1 }, two: { id: 1 }, three: { id: 1 } }) }),
      };`,
    'src/pages/index.astro': `---
import { getCollection } from 'astro:content';
const entries = await getCollection('texts');
---
<ul>{entries.map(({ data }) => <li>{data.content}</li>)}</ul><p><snippet-embed id="1"></snippet-embed></p>`,
  });
  service.put(1, 'shared');
  // The second build prefetches what the first one showed, and still makes one request.
  for (const build of ['first', 'second']) {
    const before = service.requests().length;
    const { exitCode, output } = await other.build(service.environment);
    expect(exitCode, output).toBe(0);
    expect(await other.read('index.html')).toBe(
      '<!DOCTYPE html><ul><li>shared</li><li>shared</li><li>shared</li></ul><p>shared</p>',
    );
    expect(service.requests().slice(before), build).toHaveLength(1);
  }
  await other.remove();
});

test('astro sync loads a fast collection and a slow one', async () => {
  const other = await createSite({
    'src/content.config.ts': `
      import { defineCollection } from 'astro:content';
      import { snippetLoader } from 'astro-snippets/loader';
      export const collections = {
        fast: defineCollection({ loader: snippetLoader({ one: { id: 1 } }) }),
        slow: defineCollection({ loader: snippetLoader({ two: { id: 2 } }) }),
      };`,
    'src/pages/index.astro': '<p>x</p>',
  });
  Object.assign(service.faults, { latency: 2_000, only: [2] });
  const { exitCode, output } = await other.start(['sync'], service.environment).ended;
  service.clearFaults();
  expect(exitCode, output).toBe(0);
  expect(output).toContain('1 snippet in the collection fast');
  expect(output).toContain('1 snippet in the collection slow');
  await other.remove();
});
