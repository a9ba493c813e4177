import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { byAstro } from '../support/installation.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';

let service: TestService;
const sites: Site[] = [];

beforeAll(async () => {
  service = await startTestService({ 1: '<b>one</b>', 2: '<b>two</b>', 3: '<b>three</b>' });
});
beforeEach(() => service.clearFaults());
afterAll(async () => {
  for (const site of sites) await site.remove();
  await service.close();
});

async function siteWith(files: Record<string, string>): Promise<Site> {
  const site = await createSite(files);
  sites.push(site);
  return site;
}

const page = (body: string) => `---
import { Snippet } from 'astro-snippets/components';
import Island from '../Island.astro';
import Discards from '../Discards.astro';
import Offer from '../Offer.astro';
---
<html><body>${body}</body></html>`;

const components = {
  'src/Island.astro': '<aside><slot /></aside>',
  'src/Discards.astro': '<p>Nothing.</p>',
  'src/Offer.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<Snippet id={2} />`,
};

const percentTags = byAstro({ 5: ['100%', '100%25'], 6: ['100%'], 7: ['100%'] });

test('<Snippet> without the integration in the Astro config fails the build, and names the page', async () => {
  const site = await siteWith({
    'astro.config.mjs': 'export default {};',
    ...components,
    'src/pages/offer.astro': page('<Snippet id={1} />'),
  });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).not.toBe(0);
  expect(output).toContain(
    '<Snippet> of snippet 1 is on /offer/, but the integration is not in the Astro config.',
  );
  expect(output).toContain('Add snippets() to the integrations of the Astro config.');
});

test('a snippet that was rendered and is not in the output fails the build, which names its page and removes it', async () => {
  const site = await siteWith({
    'astro.config.mjs': `
import node from '@astrojs/node';
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
export default defineConfig({ adapter: node({ mode: 'standalone' }), integrations: [snippets()] });`,
    ...components,
    // Snippet 1 is on this page elsewhere; each of the others is lost on its page.
    'src/pages/index.astro': page('<Snippet id={1} /><Snippet id={2} /><Snippet id={3} />'),
    'src/pages/island.astro': page('<Snippet id={1} /><Island server:defer><Offer /></Island>'),
    'src/pages/code.astro': page('<pre><code><Snippet id={3} /></code></pre>'),
    'src/pages/discarded.astro': page('<Discards><Snippet id={1} /></Discards>'),
  });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).not.toBe(0);
  expect(output).toContain(
    '/island/\n    Snippet 2 was rendered here, but is not in the output. [embed-lost]',
  );
  expect(output).toContain('/code/\n    Snippet 3 was rendered here, but is not in the output. [embed-lost]');
  expect(output).not.toContain('/discarded/\n');
  expect(output).toContain('2 embeds are invalid.');
  const pages = (await site.list('dist/client')).filter((name) => name.endsWith('.html'));
  expect(pages).toEqual(['discarded/index.html']);
});

test('a page with a percent sign in its path shows its snippets, and is named if one is lost', async () => {
  const site = await siteWith({
    ...components,
    'src/pages/tags/[tag].astro': `---
import { Snippet } from 'astro-snippets/components';
// Astro 6 and later do not render a path that can be decoded to another one.
export const getStaticPaths = () => ${JSON.stringify(percentTags)}.map((tag) => ({ params: { tag } }));
const isLost = process.env.LOSE !== undefined;
---
<html><body><Snippet id={1} />{isLost && <pre><Snippet id={3} /></pre>}</body></html>`,
    'src/pages/index.astro': page('<Snippet id={3} />'),
  });
  const built = await site.build(service.environment);
  expect(built.exitCode, built.output).toBe(0);
  for (const tag of percentTags) expect(await site.read(`tags/${tag}/index.html`)).toContain('<b>one</b>');
  const { exitCode, output } = await site.build({ ...service.environment, LOSE: '1' });
  expect(exitCode).not.toBe(0);
  expect(output).toContain(
    '/tags/100%/\n    Snippet 3 was rendered here, but is not in the output. [embed-lost]',
  );
  expect((await site.list()).filter((name) => name.endsWith('.html'))).toEqual([]);
});

describe('what other integrations write after snippets were inlined', () => {
  const config = (hook: string, write: string) => `
import { appendFileSync, writeFileSync } from 'node:fs';
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
const late = { name: 'late', hooks: { '${hook}'({ dir }) { ${write} } } };
const adder = { name: 'adder', hooks: { 'astro:config:setup': ({ updateConfig }) => updateConfig({ integrations: [late] }) } };
export default defineConfig({ integrations: [snippets(), adder] });`;
  const embed = `<p><snippet-embed id="1"></snippet-embed></p>`;

  test.for([
    [
      'an embed in a page',
      'astro:build:done',
      `writeFileSync(new URL('late.html', dir), '${embed}')`,
      'late.html',
    ],
    [
      'an escaped embed in a feed, from a later astro:build:generated',
      'astro:build:generated',
      `writeFileSync(new URL('feed.xml', dir), '<rss><item>${embed.replaceAll('<', '&lt;')}</item></rss>')`,
      'feed.xml',
    ],
    [
      'an embed at the end of a page that was inlined',
      'astro:build:done',
      `appendFileSync(new URL('index.html', dir), '${embed}')`,
      'index.html',
    ],
  ] as const)('%s fails the build and is named', async ([, hook, write, file]) => {
    const site = await siteWith({
      'astro.config.mjs': config(hook, write),
      ...components,
      'src/pages/index.astro': page('<Snippet id={1} />'),
    });
    const { exitCode, output } = await site.build(service.environment);
    expect(exitCode).not.toBe(0);
    expect(output).toContain(
      `[astro-snippets/late-embed] Another integration wrote an embed into ${file} after snippets were inlined.`,
    );
    expect(await site.list('node_modules/.astro/astro-snippets')).not.toContain('manifest.json');
  });

  test('the API key fails the build; an example in code and a plain file do not', async () => {
    const site = await siteWith({
      'astro.config.mjs': config(
        'astro:build:done',
        `if (process.env.LEAK) writeFileSync(new URL('key.js', dir), process.env.SNIPPETS_API_KEY);
         writeFileSync(new URL('plain.html', dir), '<pre>${embed}</pre>')`,
      ),
      ...components,
      'src/pages/index.astro': page('<Snippet id={1} />'),
    });
    expect((await site.build(service.environment)).exitCode).toBe(0);
    const { exitCode, output } = await site.build({ ...service.environment, LEAK: '1' });
    expect(exitCode).not.toBe(0);
    expect(output).toContain('Another integration wrote the API key into key.js.');
    expect(output).not.toContain(service.environment.SNIPPETS_API_KEY);
  });
});

describe('a missing key and missing URLs', () => {
  const both = 'SNIPPETS_API_KEY is not set. No base URL of the service is set.';

  test('are reported together, when the first <Snippet> renders, and at the start of a build whose last one had embeds', async () => {
    const site = await siteWith({ ...components, 'src/pages/index.astro': page('<Snippet id={1} />') });
    const first = await site.build();
    expect(first.exitCode).not.toBe(0);
    expect(first.output).toContain(both);
    expect(first.output).toContain('generating static routes');
    expect((await site.build(service.environment)).exitCode).toBe(0);
    const later = await site.build();
    expect(later.exitCode).not.toBe(0);
    expect(later.output).toContain(both);
    expect(later.output).not.toContain('generating static routes');
  });

  test('do not matter to a site whose pages hold only examples', async () => {
    const site = await siteWith({
      'src/pages/index.md':
        'Write `<snippet-embed id="1"></snippet-embed>`:\n\n```html\n<snippet-embed id="1"></snippet-embed>\n```\n',
    });
    const { exitCode, output } = await site.build();
    expect(output).not.toContain('SNIPPETS_API_KEY');
    expect(exitCode).toBe(0);
    expect(await site.read('index.html')).toContain('snippet-embed');
  });
});

test('a snippet is fetched while pages still render, on the first build ever', async () => {
  const site = await siteWith({
    ...components,
    'src/pages/a.astro': page('<Snippet id={1} />'),
    'src/pages/b.astro': `---
await new Promise((resolve) => setTimeout(resolve, 3_000));
console.log('RENDERED', Date.now());
---
<html><body>b</body></html>`,
  });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).toBe(0);
  const rendered = Number(/RENDERED (\d+)/.exec(output)?.[1]);
  const [request] = service.requests().slice(-1);
  expect(Date.parse(String(request?.at))).toBeLessThan(rendered);
});
