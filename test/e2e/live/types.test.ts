import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { sharedSite } from '../../support/site/built-site.ts';
import { byAstro } from '../../support/site/installation.ts';

const head = `---
import { getLiveCollection, getLiveEntry, render } from 'astro:content';
import { forgetSnippet, LiveSnippetError, liveSnippetLoader } from 'astro-snippets/live';
import { pricing } from '../snippets.ts';
const { entry, error, cacheHint } = await getLiveEntry('snippets', { id: 42, params: { plan: 'pro' } });
`;

const right = [
  `if (error) console.error(error.message, error instanceof LiveSnippetError && error.code);`,
  `if (cacheHint?.tags?.includes('snippet-42')) forgetSnippet(42);`,
  `const { Content } = entry ? await render(entry) : {};`,
  `const text: string | undefined = entry?.data.text ?? entry?.data.content ?? entry?.data.name;`,
  `await getLiveEntry('snippets', { id: Astro.params['id'] ?? '' });`,
  `await getLiveEntry('snippets', { of: pricing, params: { plan: 'free' } });`,
  `const { entries = [] } = await getLiveCollection('snippets', { ids: [1, '2'] });`,
  `liveSnippetLoader({ maxAge: '10m', timeout: '1s', sanitize: async (html, { id }) => html + id });`,
];

// Each line is an error.
const wrong = [
  `await getLiveEntry('snippet', { id: 42 });`,
  `await getLiveEntry('snippets', { id: true });`,
  `await getLiveEntry('snippets', { ids: [42] });`,
  `await getLiveEntry('snippets', { id: 42, params: { at: new Date() } });`,
  `await getLiveEntry('snippets', { of: 42 });`,
  `await getLiveCollection('snippets', { id: 42 });`,
  `const wrong: number | undefined = entry?.data.text;`,
  `entry?.data.html;`,
  `forgetSnippet('banner');`,
  `liveSnippetLoader({ maxAge: 600 });`,
  `liveSnippetLoader({ apiKey: 'sk_test_0123456789' });`,
];

const page = (lines: readonly string[]) => `${head}${lines.join('\n')}\n---\n<p></p>`;

const { service, site } = await sharedSite(
  {},
  {
    'tsconfig.json': '{ "extends": "astro/tsconfigs/strict", "include": [".astro/types.d.ts", "**/*"] }',
    'src/snippets.ts': `
      import { defineSnippet } from 'astro-snippets/client';
      import { z } from 'astro/zod';
      export const pricing = defineSnippet({ id: 42, params: z.object({ plan: z.enum(['free', 'pro']) }) });`,
    'src/live.config.ts': `
      import { defineLiveCollection } from 'astro:content';
      import { liveSnippetLoader } from 'astro-snippets/live';
      export const collections = { snippets: defineLiveCollection({ loader: liveSnippetLoader() }) };`,
    'src/pages/right.astro': page(right),
    'src/pages/wrong.astro': page(wrong),
  },
);

test.skipIf(byAstro({ 5: true, 6: false, 7: false }))(
  'astro check rejects every wrong use of a live collection, and nothing that is right',
  async () => {
    const { exitCode, output } = await site.start(['check'], service.environment).ended;
    const plain = stripVTControlCharacters(output);
    const found = plain.matchAll(/src\/pages\/(\w+)\.astro:(\d+):\d+ - error/g);
    const lines = [...found].map(([, name, line]) => `${name} ${line}`);
    const first = head.split('\n').length;
    const expected = wrong.map((_, index) => `wrong ${first + index}`);
    // In the types of Astro 6, `render` takes no live entry, although it renders one.
    const rendered = `right ${first + right.findIndex((line) => line.includes('render('))}`;
    const known = byAstro({ 5: [], 6: [rendered], 7: [] });
    expect(lines.sort(), plain).toEqual([...expected, ...known].sort());
    expect(exitCode).toBe(1);
  },
);
