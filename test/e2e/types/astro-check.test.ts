import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSite, type Site } from '../../support/site.ts';

const right = `---
import { Snippet } from 'astro-snippets/components';
import { banner, pricing } from '../snippets.ts';
---
<Snippet of={pricing} params={{ plan: 'pro' }} />
<Snippet of={pricing} params={{ plan: 'free', seats: 3 }} as="text">children</Snippet>
<Snippet of={banner} />
<Snippet of={banner} optional>children</Snippet>
<Snippet id={7} />
<Snippet id="7" params={{ any: ['thing', { a: null, b: 1 }] }} as="text" />
<snippet-embed id={3} params='{"a":1}' as="text" optional slot="x">children</snippet-embed>
`;

// In an expression, which Astro's compiler and its checker read alike: a checker sees only text in the other titles.
// With params, so that the page is written as it stands here.
const title = `---
import { Snippet } from 'astro-snippets/components';
---
<title>Pricing {<Snippet id={46} params={{}} />}</title>
`;

// Each line is an error, and nothing else is.
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
];

let site: Site;
beforeAll(async () => {
  site = await createSite({
    'tsconfig.json': '{ "extends": "astro/tsconfigs/strictest", "include": [".astro/types.d.ts", "**/*"] }',
    'src/snippets.ts': `
      import { defineSnippet } from 'astro-snippets/client';
      import { z } from 'astro/zod';
      export const banner = defineSnippet({ id: 41 });
      export const pricing = defineSnippet({
        id: 42,
        params: z.object({ plan: z.enum(['free', 'pro']), seats: z.number().default(1) }),
      });`,
    'src/pages/index.astro': right,
    'src/pages/title.astro': title,
  });
});
afterAll(() => site.remove());

test('astro check accepts valid props and params, and a snippet in a title', async () => {
  const { exitCode, output } = await site.start(['check']).ended;
  expect(output).toMatch(/- 0 errors\s+- 0 warnings\s+- 0 hints/);
  expect(exitCode).toBe(0);
});

test('astro check rejects every invalid prop and param', async () => {
  const head = right.slice(0, right.lastIndexOf('---') + 4);
  await site.write({ 'src/pages/wrong.astro': head + wrong.join('\n') });
  const { exitCode, output } = await site.start(['check']).ended;
  expect(exitCode).toBe(1);
  const lines = [...stripVTControlCharacters(output).matchAll(/src\/pages\/(\w+)\.astro.*?:(\d+):\d+/g)].map(
    ([, page, line]) => `${page} ${line}`,
  );
  const first = head.split('\n').length;
  expect(lines.sort()).toEqual(wrong.map((_, index) => `wrong ${first + index}`).sort());
});

test('a param that only fails at build time is an error with its page and path', async () => {
  const other = await createSite({
    'src/snippets.ts': `
      import { defineSnippet } from 'astro-snippets/client';
      import { z } from 'astro/zod';
      export const pricing = defineSnippet({ id: 42, params: z.object({ plans: z.array(z.enum(['free', 'pro'])) }) });`,
    'src/pages/offer.astro': `---
import { Snippet } from 'astro-snippets/components';
import { pricing } from '../snippets.ts';
---
<Snippet of={pricing} params={{ plans: ['pro', 'gold' as 'pro'] }} />`,
  });
  const { exitCode, output } = await other.build();
  expect(exitCode).toBe(1);
  expect(output).toContain(
    '<Snippet> of snippet 42 on /offer/ (src/pages/offer.astro:5): params.plans.1: Invalid option: expected one of',
  );
  await other.remove();
});
