import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { startTestService } from '../support/service.ts';
import { createSite } from '../support/site.ts';

test('astro check knows what an entry of a collection has: its text is one expression, another name is an error', async () => {
  const service = await startTestService({ 1: '<b>Tom</b> &amp; Jerry' });
  const site = await createSite({
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
  const { exitCode, output } = await site.start(['check'], service.environment).ended;
  expect(exitCode).toBe(1);
  const errors = stripVTControlCharacters(output).matchAll(/src\/pages\/index\.astro:(\d+):\d+ - (\w+)/g);
  expect([...errors].map(([, line, kind]) => `${line} ${kind}`).sort()).toEqual(['6 error', '7 error']);
  await site.remove();
  await service.close();
});
