import { expect, test } from 'vitest';
import { builtSite } from '../support/site/built-site.ts';
import { collectionOf, configWith, temporarySite } from '../support/site/site.ts';
import { exits } from '../support/tools/exits.ts';

const offer = (id: number) => `<html><body><p><snippet-embed id="${id}"></snippet-embed></p></body></html>`;

// Everything is rendered on demand. An integration copies the output before `snippets()` runs, as adapters do.
const { service, site } = await builtSite(
  { 1: '<b>one</b>', 2: 'two' },
  {
    'astro.config.mjs': configWith('', {
      imports: `
import { cpSync } from 'node:fs';
import node from '@astrojs/node';
const copier = {
  name: 'copier',
  hooks: { 'astro:build:done': ({ dir }) => cpSync(dir, new URL('../copy/', dir), { recursive: true }) },
};
const leaked = JSON.stringify(process.env.LEAK ? process.env.SNIPPETS_API_KEY : '');
const vite = { build: { assetsInlineLimit: 0 }, define: { __LEAK__: leaked } };`,
      settings: `output: 'server', adapter: node({ mode: 'standalone' }), vite,`,
      integrations: 'copier, ',
    }),
    'src/content.config.ts': collectionOf('legal', '{ imprint: { id: 2 } }'),
    'src/pages/index.astro': `---
import { getCollection } from 'astro:content';
export const prerender = false;
const entries = await getCollection('legal');
---
<html><body><p>{Date.now()}</p>{entries.map(({ data }) => <p set:html={data.content} />)}
<script>console.log('live', __LEAK__);</script></body></html>`,
    'public/offer.html': offer(1),
  },
);

test('where no page is prerendered, an embed in public/ is inlined before other integrations copy it', async () => {
  for (const name of ['client/offer.html', 'copy/offer.html']) {
    expect(await site.read(name)).toContain('<p><b>one</b></p>');
  }
});

test('where no page is prerendered, a collection is recorded, so that check can compare', async () => {
  const check = () => site.run('check');
  expect(await check()).toMatchObject({ exitCode: 0 });
  service.put(2, 'another two');
  expect(await exits(10, check())).toBe('Snippet 2 has changed\n    legal (collection), entry "imprint"\n');
});

test('where no page is prerendered, the API key in a script for the browser fails the build', async () => {
  const output = await exits(1, site.build({ ...service.environment, LEAK: '1' }));
  expect(output).toContain('published-key');
  expect(output).not.toContain(service.environment.SNIPPETS_API_KEY);
});

test('where no page is prerendered, a snippet that fails leaves neither its page nor a record', async () => {
  await site.write({ 'public/offer.html': offer(404) });
  expect(await exits(1, site.build())).toContain('Snippet 404');
  expect(await site.list()).not.toContain('client/offer.html');
  expect(await site.list('node_modules/.astro/astro-snippets')).not.toContain('manifest.json');
});

test.for(['static', 'server'])(
  'where nothing is for browsers, a site with the output %s is built',
  async (output) => {
    const bare = await temporarySite(
      {
        'astro.config.mjs': configWith('', {
          imports: "import node from '@astrojs/node';",
          settings: `output: '${output}', adapter: node({ mode: 'standalone' }),`,
        }),
        'src/pages/index.astro': '---\nexport const prerender = false;\n---\n<p>{Date.now()}</p>',
      },
      service,
    );
    await bare.builds();
    expect((await bare.list()).filter((name) => name.startsWith('client/'))).toEqual([]);
  },
);
