import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { sharedSite } from '../../support/site/built-site.ts';
import { byAstro } from '../../support/site/installation.ts';
import { collectionOf } from '../../support/site/site.ts';

const head = `---
import { getEntry } from 'astro:content';
import { Snippet } from 'astro-snippets/components';
import { banner, pricing } from '../snippets.ts';
---
`;

const right = `
<Snippet of={pricing} params={{ plan: 'pro' }} />
<Snippet of={pricing} params={{ plan: 'free', seats: 3 }} as="text">children</Snippet>
<Snippet of={banner} />
<Snippet of={banner} optional>children</Snippet>
<Snippet id={7} />
<Snippet id="7" params={{ any: ['thing', { a: null, b: 1 }] }} as="text" />
<snippet-embed id={3} params='{"a":1}' as="text" optional slot="x">children</snippet-embed>
<meta name="description" content={(await getEntry('snippets', 'banner'))?.data.text} />
<p set:html={(await getEntry('snippets', 'banner'))?.data.content} />
`;

// In an expression, since the checker sees other titles as text. With params, so that the helper does not change the markup.
const title = `---
import { Snippet } from 'astro-snippets/components';
---
<title>Pricing {<Snippet id={46} params={{}} />}</title>
`;

// Each line is an error.
const wrong = [
  `<Snippet of={pricing} params={{ plan: 'gold' }} />`,
  '<Snippet of={pricing} params={{}} />',
  '<Snippet of={pricing} />',
  `<Snippet of={pricing} params={{ plan: 'pro', seats: 'many' }} />`,
  `<Snippet of={pricing} id={7} params={{ plan: 'pro' }} />`,
  `<Snippet of={banner} params={{ plan: 'pro' }} />`,
  '<Snippet id={7} params={{ at: new Date() }} />',
  '<Snippet id="seven" />',
  '<Snippet id={7} as="markdown" />',
  '<Snippet id={7} optional="maybe" />',
  '<Snippet />',
  '<title>{<Snippet id="seven" />}</title>',
  '<snippet-embed params="{}" />',
  '<snippet-embed id={true} />',
  '<snippet-embed id="3" as="markdown" />',
  `<meta name="description" content={(await getEntry('snippets', 'banner'))?.data.txt} />`,
  `<meta name="description" content={(await getEntry('snippet', 'banner'))?.data.text} />`,
];

const { service, site } = await sharedSite(
  { 1: '<b>Tom</b> &amp; Jerry' },
  {
    'tsconfig.json': '{ "extends": "astro/tsconfigs/strictest", "include": [".astro/types.d.ts", "**/*"] }',
    'src/snippets.ts': `
      import { defineSnippet } from 'astro-snippets/client';
      import { z } from 'astro/zod';
      export const banner = defineSnippet({ id: 1 });
      export const pricing = defineSnippet({
        id: 42,
        params: z.object({ plan: z.enum(['free', 'pro']), seats: z.number().default(1) }),
      });`,
    'src/content.config.ts': collectionOf('snippets', '{ banner: { id: 1 } }'),
    'src/pages/index.astro': head + right,
    'src/pages/title.astro': title,
    'src/pages/wrong.astro': head + wrong.join('\n'),
  },
);

test('astro check rejects every invalid prop, param and entry of a collection, and nothing that is valid', async () => {
  const { exitCode, output } = await site.start(['check'], service.environment).ended;
  expect(exitCode).toBe(1);
  const found = stripVTControlCharacters(output).matchAll(/src\/pages\/(\w+)\.astro:(\d+):\d+ - (\w+)/g);
  const lines = [...found].map(([, page, line, kind]) => `${page} ${line} ${kind}`);
  const first = head.split('\n').length;
  const expected = wrong.map((_, index) => `wrong ${first + index} error`);
  // Astro 5 reports two errors for an unknown collection.
  const twice = byAstro({ 5: expected.slice(-1), 6: [], 7: [] });
  expect(lines.sort()).toEqual([...expected, ...twice].sort());
});
