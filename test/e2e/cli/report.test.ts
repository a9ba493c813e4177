import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { builtSite } from '../../support/site/built-site.ts';
import { configWith, pageWith } from '../../support/site/site.ts';
import { violationsOf } from '../../support/tools/accessibility.ts';
import { sharedBrowser } from '../../support/tools/browser.ts';

const long = 'a-page-with-a-very-long-name-in-one-piece/'.repeat(4);
// A mark that changes the text direction would also affect the text after it.
const hostile = '<img src=https://evil.test/x onerror=alert(1)>\u202e';
const embed = (id: number, more = '') => `<p><snippet-embed id="${id}"${more}></snippet-embed></p>`;

const { site } = await builtSite(
  { 2: 'x'.repeat(900), 4: 'four', 10: 'x'.repeat(12_345) },
  {
    'astro.config.mjs': configWith(`{ editUrl: (id) => 'https://edit.test/' + id }`, {
      settings: `site: 'https://shop.test',`,
    }),
    [`src/pages/${long}index.html`]: embed(2) + embed(3, ' optional'),
    'src/pages/index.astro': pageWith(
      `<p><Snippet id={10} params={{ name: ${JSON.stringify(hostile)} }} /></p>`,
    ),
    'src/pages/[page].astro': `---
export const getStaticPaths = () => Array.from({ length: 203 }, (_, page) => ({ params: { page: 'p' + page } }));
---
${embed(4)}`,
  },
);

const browser = await sharedBrowser();
const requests: string[] = [];
const problems: string[] = [];

const { exitCode, output } = await site.run('report');
expect(exitCode, output).toBe(0);
const url = pathToFileURL(output.trim()).href;
const page = await browser.newPage();
page.on('request', (request) => requests.push(request.url()));
page.on('console', (message) => problems.push(message.text()));
page.on('pageerror', (error) => problems.push(error.message));
page.on('dialog', (dialog) => {
  problems.push(dialog.message());
  void dialog.dismiss();
});
await page.goto(url);

const rows = () => page.getByRole('row').filter({ has: page.getByRole('rowheader') });
const titles = () => page.getByRole('rowheader').allTextContents();
/** What the rows have for a value by which they are sorted, from the first row to the last. */
const sortedBy = (name: string) =>
  rows().evaluateAll((all, key) => all.map((row) => row.getAttribute(`data-${key}`)), name);

test('the page of the report makes no requests, follows its own Content Security Policy, and shows hostile params as text', async () => {
  for (const summary of await page.locator('summary').all()) await summary.click();
  expect(requests).toEqual([url]);
  expect(problems).toEqual([]);
  expect(await page.locator('img').count()).toBe(0);
  const ten = (await titles()).find((title) => title.startsWith('Snippet 10'));
  expect(ten).toContain('<img src=https://evil.test/x onerror=alert(1)>');
  expect(ten).not.toContain('\u202e');
});

test('the report shows totals and each snippet', async () => {
  const terms = await page.locator('dt').allTextContents();
  const values = await page.locator('dd').allTextContents();
  expect(Object.fromEntries(terms.map((term, index) => [term, values[index]]))).toMatchObject({
    Snippets: '4',
    'Files with snippets': '205',
    Embeds: '206',
    'Total size': '13.2kB',
  });
  const texts = await rows().locator('td').first().allTextContents();
  expect(texts.toString()).toContain('rendered · ');
  const missing = rows().filter({ hasText: 'Not found. Pages show what is written in the embed.' });
  expect(await missing.getByRole('rowheader').textContent()).toBe('Snippet 3');
  expect(await page.getByRole('link', { name: 'Edit Snippet 4, in a new tab' }).getAttribute('href')).toBe(
    'https://edit.test/4',
  );
  const place = page.getByRole('link', { name: '/p0/', exact: true });
  expect(await place.getAttribute('href')).toBe('https://shop.test/p0/');
});

test('the report sorts by each column, numerically where it has numbers, in both directions', async () => {
  await page.getByRole('button', { name: 'Shown on' }).click();
  expect(await sortedBy('places')).toEqual(['1', '1', '1', '203']);
  expect(await page.locator('th[aria-sort="ascending"]').textContent()).toContain('Shown on');
  await page.getByRole('button', { name: 'Shown on' }).click();
  expect(await sortedBy('places')).toEqual(['203', '1', '1', '1']);
  await page.getByRole('button', { name: 'Snippet' }).click();
  expect(await page.locator('th[aria-sort]:not([aria-sort="none"])').allTextContents()).toEqual(['Snippet']);
  expect(await sortedBy('id')).toEqual(['2', '3', '4', '10']);
});

test.for([
  ['Size', 'bytes', ['', '4', '900', '12345']],
  ['Number', 'id', ['2', '3', '4', '10']],
  ['Text', 'id', undefined],
] as const)(
  'the report sorts by %s, which it offers as a choice, and reverses that',
  async ([label, key, expected]) => {
    await page.getByLabel('Sort by').selectOption(label);
    const sorted = await sortedBy(key);
    if (expected) expect(sorted).toEqual(expected);
    await page.getByRole('button', { name: 'Reverse' }).click();
    expect(await sortedBy(key)).toEqual(sorted.toReversed());
  },
);

test('without scripts, the report has all snippets, and nothing that does not work', async () => {
  const plain = await browser.newPage({ javaScriptEnabled: false });
  await plain.goto(url);
  expect(await plain.getByRole('rowheader').count()).toBe(4);
  expect(await plain.getByRole('button').count()).toBe(0);
  expect(await plain.getByLabel('Sort by').isVisible()).toBe(false);
  expect(await plain.locator('time').first().textContent()).toMatch(/ UTC$/);
});

test('the report lists 200 pages of a snippet and counts the rest', async () => {
  const row = rows().filter({ hasText: 'and 200 more places' });
  expect(await row.locator('li').count()).toBe(201);
  expect(await row.locator('li').last().textContent()).toBe('and 3 more: astro-snippets list');
});

test.for([
  ['light', 1280],
  ['light', 390],
  ['dark', 1280],
  ['dark', 390],
] as const)(
  'the report in %s colors is accessible and fits a screen of %i pixels',
  async ([colorScheme, width]) => {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    await page.evaluate('for (const part of document.querySelectorAll("details")) part.open = true');
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await violationsOf(page)).toBe('');
  },
);
