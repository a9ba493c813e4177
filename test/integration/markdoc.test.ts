import { beforeEach, expect, test } from 'vitest';
import { codeBlocks } from '../docs/pages.ts';
import { sharedSite } from '../support/site/built-site.ts';
import { configWith } from '../support/site/site.ts';
import { exits } from '../support/tools/exits.ts';

/** An example of docs/embeds.md, as it is there. */
function example(part: string): string {
  const found = codeBlocks('docs/embeds.md').find(({ code }) => code.includes(part));
  if (!found) throw new Error(`docs/embeds.md has no example with ${part}`);
  return found.code;
}

const astroConfig = (options = '') =>
  configWith("{ patience: '1s' }", {
    imports: "import markdoc from '@astrojs/markdoc';",
    integrations: `markdoc(${options}), `,
  });

const config = example('defineMarkdocConfig');
const document = 'src/docs/prices.mdoc';
const frontmatter = '---\ntitle: \'From <snippet-embed id="1"></snippet-embed>\'\n---\n';
// These ids belong to another organization of the playground's service.
const body = example('{% snippet').replace('id=42', 'id=1').replace('id=43', 'id=2');

const { service, site } = await sharedSite(
  { 1: '<b>bold</b>', 2: '<ul><li>plan {{ plan }}</li></ul>' },
  {
    'astro.config.mjs': astroConfig(),
    'markdoc.config.mjs': config,
    'src/content.config.ts': `import { defineCollection } from 'astro:content';
import { glob } from 'astro/loaders';
export const collections = { docs: defineCollection({ loader: glob({ pattern: '*.mdoc', base: 'src/docs' }) }) };`,
    [document]: frontmatter + body,
    'src/pages/[id].astro': `---
import { getCollection, render } from 'astro:content';
export const getStaticPaths = async () =>
  (await getCollection('docs')).map((entry) => ({ params: { id: entry.id }, props: { entry } }));
const { entry } = Astro.props;
const { Content } = await render(entry);
---
<html><head><title>{entry.data.title}</title></head><body><Content /></body></html>`,
  },
);
beforeEach(() => service.put(1, '<b>bold</b>'));
const page = 'prices/index.html';

test('the tag of the docs shows snippets in Markdoc, with params, and a refresh updates them', async () => {
  await site.builds();
  expect(await site.read(page)).toContain('<title>From bold</title>');
  expect(await site.read(page)).toContain('<p>Our offer: <b>bold</b></p><ul><li>plan pro</li></ul>');
  service.put(1, '<b>bolder</b>');
  await exits(0, site.run('refresh'));
  expect(await site.read(page)).toContain('<title>From bolder</title>');
  expect(await site.read(page)).toContain('<p>Our offer: <b>bolder</b></p>');
});

test('while the service is down, the children in Markdoc are shown; an optional snippet may be missing', async () => {
  const missing = '{% snippet id=3 optional=true %}\nNo _offers_ today.\n{% /snippet %}\n';
  await site.write({ [document]: `${frontmatter}${missing}` });
  await site.builds();
  expect(await site.read(page)).toContain('<p>No <em>offers</em> today.</p>');
  await site.write({ [document]: `Prices\n\n{% snippet id=2 %}\nAsk us for a _price_.\n{% /snippet %}\n` });
  Object.assign(service.faults, { failing: 1 });
  await site.builds();
  expect(await site.read(page)).toContain('<p>Ask us for a <em>price</em>.</p>');
});

test('an unknown snippet fails the build, and so does an attribute that no embed has', async () => {
  await site.write({ [document]: 'A {% snippet id=999 /%}' });
  expect(await exits(1, site.build())).toMatch(
    /Snippet 999: 404 Not Found \[not-found\]\n(?: {4}.*\n)* {4}on prices\/index\.html/,
  );
  await site.write({ [document]: 'A {% snippet id=1 class="big" /%}' });
  expect(await exits(1, site.build())).toContain(
    '<Snippet> of snippet 1 on /prices/: the prop `class` is unknown.',
  );
});

test('the element shows its text in Markdoc, and its content where HTML is allowed', async () => {
  await site.write({ [document]: 'An <snippet-embed id="1"></snippet-embed> element.' });
  await site.builds();
  expect(await site.read(page)).toContain('<p>An bold element.</p>');
  await site.write({ 'astro.config.mjs': astroConfig('{ allowHTML: true }') });
  await site.builds();
  expect(await site.read(page)).toContain('<p>An <b>bold</b> element.</p>');
});
