import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { byAstro } from '../../support/installation.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createSite, type Site } from '../../support/site.ts';

let service: TestService;
let site: Site;
beforeAll(async () => {
  service = await startTestService({ 1: '<b>Tom</b> &amp; Jerry' });
  site = await createSite({
    'tsconfig.json': '{ "extends": "astro/tsconfigs/strict", "include": [".astro/types.d.ts", "src"] }',
    'src/content.config.ts': `
      import { defineCollection } from 'astro:content';
      import { snippetLoader } from 'astro-snippets/loader';
      export const collections = { snippets: defineCollection({ loader: snippetLoader({ banner: { id: 1 } }) }) };`,
    'src/pages/index.astro': `---
import { getEntry } from 'astro:content';
---
<meta name="description" content={(await getEntry('snippets', 'banner'))?.data.text} />
<p set:html={(await getEntry('snippets', 'banner'))?.data.content} />
<meta name="description" content={(await getEntry('snippets', 'banner'))?.data.txt} />
<meta name="description" content={(await getEntry('snippet', 'banner'))?.data.text} />
`,
  });
});
afterAll(async () => {
  await site.remove();
  await service.close();
});

test('astro check knows what an entry of a collection has: its text is one expression, another name is an error', async () => {
  const { exitCode, output } = await site.start(['check'], service.environment).ended;
  expect(exitCode).toBe(1);
  const errors = stripVTControlCharacters(output).matchAll(/src\/pages\/index\.astro:(\d+):\d+ - (\w+)/g);
  expect([...errors].map(([, line, kind]) => `${line} ${kind}`).sort()).toEqual(
    // Astro 5 takes the unknown collection for an error, and its entry for another.
    byAstro({
      5: ['6 error', '7 error', '7 error'],
      6: ['6 error', '7 error'],
      7: ['6 error', '7 error'],
    }),
  );
});

test('a description and a title as in the docs are built with the text of a snippet', async () => {
  await site.write({
    'src/pages/index.astro': `---
import { getEntry } from 'astro:content';
import { Snippet } from 'astro-snippets/components';
---
<html><head>
<title>Pricing {<Snippet id={1} />}</title>
<meta name="description" content={(await getEntry('snippets', 'banner'))?.data.text} />
</head></html>`,
  });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode, output).toBe(0);
  const html = await site.read('index.html');
  expect(html).toContain('<title>Pricing Tom &amp; Jerry</title>');
  const ampersand = byAstro({ 5: '&#38;', 6: '&amp;', 7: '&amp;' });
  expect(html).toContain(`<meta name="description" content="Tom ${ampersand} Jerry">`);
});
