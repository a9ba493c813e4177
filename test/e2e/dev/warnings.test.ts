import { expect, test } from 'vitest';
import { servedSite } from '../../support/site/built-site.ts';
import { configWith } from '../../support/site/site.ts';

const embed = (id: number) => `<snippet-embed id="${id}"></snippet-embed>`;
const escaped = (text: string) => `<p>Text</p>\n<h1>{${JSON.stringify(text)}}</h1>`;

const { site, dev } = await servedSite(
  { 1: 'Ann', 2: '<p>block</p>', 3: '<button>Buy</button>' },
  {
    'astro.config.mjs': configWith(`{ exclude: 'excluded/*.html' }`),
    'src/pages/cut.astro': escaped('<snippet-embed id="1">An excerpt that was cut'),
    'src/pages/again.astro': escaped('<snippet-embed id="0"></snippet-embed>'),
    'src/pages/component.md': 'Text\n\nSee <Snippet id={1} params={{ a: 1 }} />.\n',
    'src/pages/heading.md': `Text\n\n## Sale by ${embed(1)}\n`,
    'src/pages/shows-it-too.astro': `---
import { Content } from './heading.md';
---
<Content />`,
    'src/pages/blocks.md': `Text ${embed(2)} text ${embed(2)}.\n`,
    'src/pages/card.astro': `<a href="/"><h2>Offer</h2>${embed(3)}</a>`,
    'src/pages/feed.xml.ts': `export const GET = () => new Response('<rss><item>&lt;snippet-embed id="1"&gt; cut</item></rss>', { headers: { 'content-type': 'application/xml' } });`,
    'src/pages/last-[turn].astro': `---
export const getStaticPaths = () => Array.from({ length: 20 }, (_, turn) => ({ params: { turn: String(turn) } }));
---
${escaped('<snippet-embed id="1">The last excerpt')}`,
    'src/pages/ignored.astro': `<div data-snippets-ignore>${escaped('<snippet-embed id="1">An excerpt that was cut')}</div>`,
    'src/pages/excluded.astro': escaped('<snippet-embed id="1">An excerpt that was cut'),
    'src/pages/fine.md': `Text ${embed(1)}.\n\n\`<Snippet id={1} />\`\n`,
  },
);

const view = async (path: string) => (await fetch(dev.url + path)).status;
const warnings = () => dev.output().match(/\[WARN\] \[astro-snippets\] .*/g) ?? [];

let turn = 0;

/** The warnings from two views of a page. */
async function warningsOf(path: string): Promise<string[]> {
  const before = warnings().length;
  expect([await view(path), await view(path)]).toEqual([200, 200]);
  // Warnings come in the order of views: when a later page's warning is here, this page's are too.
  const last = `/last-${turn++}`;
  expect(await view(last)).toBe(200);
  const isLast = (line: string) => line.includes(`${last}:`);
  await expect.poll(() => warnings().some(isLast)).toBe(true);
  return warnings()
    .slice(before)
    .filter((line) => !isLast(line));
}

test.for([
  [
    'text that looks like an embed without an end',
    '/cut',
    /\/cut:\d+: text that looks like an embed has no end tag\. It is left as it is\. If it is an example, silence this with data-snippets-ignore or the option exclude\. It is written in src\/pages\/cut\.astro:2 or elsewhere\.$/,
  ],
  ['text that looks like an embed without a valid id', '/again', /\/again:\d+: .* has no valid id\./],
  ['the text of a <Snippet> in Markdown', '/component', /\/component:\d+: shows the text of a <Snippet>/],
  ['text in a feed', '/feed.xml', /\/feed\.xml:1: text that looks like an embed has no end tag\./],
  ['an embed in a Markdown heading', '/heading', /src\/pages\/heading\.md:3 has an embed in a heading\./],
  ['a block in a paragraph', '/blocks', /Snippet 2 is a block, .* It is on \/blocks:\d+/],
  ['a button in a link', '/card', /Snippet 3 has a button, inside a link\. .* It is on \/card:\d+/],
] as const)('%s is one warning, however often it is viewed', async ([, path, expected]) => {
  expect(await warningsOf(path)).toEqual([expect.stringMatching(expected)]);
});

test('a heading on two pages is one warning', async () => {
  expect(await view('/heading')).toBe(200);
  expect(await warningsOf('/shows-it-too')).toEqual([]);
});

test.for(['/ignored', '/excluded', '/fine'])(
  '%s is no warning: it follows the advice of the warning, or has no flaws',
  async (path) => {
    expect(await warningsOf(path)).toEqual([]);
  },
);

test('a warning that was fixed and comes back is shown again', async () => {
  const cut = escaped('<snippet-embed id="1">A second excerpt');
  await site.write({ 'src/pages/later.astro': cut });
  await expect.poll(() => view('/later')).toBe(200);
  const count = () => warnings().filter((line) => line.includes('/later:')).length;
  await expect.poll(count).toBe(1);
  const shows = async (text: string) =>
    expect.poll(async () => (await fetch(`${dev.url}/later`)).text()).toContain(text);
  await site.write({ 'src/pages/later.astro': '<p>fixed</p>' });
  await shows('fixed');
  await site.write({ 'src/pages/later.astro': cut });
  await shows('A second excerpt');
  await expect.poll(count).toBe(2);
});
