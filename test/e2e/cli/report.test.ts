import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { builtSite } from '../../support/site/built-site.ts';
import { pageWith } from '../../support/site/site.ts';
import { violationsOf } from '../../support/tools/accessibility.ts';
import { sharedBrowser } from '../../support/tools/browser.ts';

const long = 'a-page-with-a-very-long-name-in-one-piece/'.repeat(4);
// A mark that changes the text direction would also affect the text after it.
const hostile = '<img src=https://evil.test/x onerror=alert(1)>\u202e';
const embed = (id: number, more = '') => `<p><snippet-embed id="${id}"${more}></snippet-embed></p>`;

const { site } = await builtSite(
  { 2: 'x'.repeat(900), 4: 'four', 10: 'x'.repeat(12_345) },
  {
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

const column = async (label: string) => {
  const labels = await page.locator('th').allTextContents();
  const cells = await page.locator(`td:nth-child(${labels.indexOf(label) + 1})`).allTextContents();
  return cells.map((cell) => cell.trim());
};

test('the page of the report makes no requests, follows its own Content Security Policy, and shows hostile params as text', async () => {
  for (const summary of await page.locator('summary').all()) await summary.click();
  expect(requests).toEqual([url]);
  expect(problems).toEqual([]);
  expect(await page.locator('img').count()).toBe(0);
  const ten = (await column('Snippet')).find((cell) => cell.startsWith('10'));
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
  expect((await column('Variant')).toSorted()).toEqual([
    'not found, children shown',
    'render',
    'render',
    'render',
  ]);
});

test('the report sorts by each column, numerically where it has numbers, in both directions', async () => {
  await page.getByRole('button', { name: 'Size' }).click();
  expect(await column('Size')).toEqual(['–', '4B', '900B', '12.3kB']);
  expect(await page.locator('th[aria-sort="ascending"]').textContent()).toContain('Size');
  await page.getByRole('button', { name: 'Size' }).click();
  expect(await column('Size')).toEqual(['12.3kB', '900B', '4B', '–']);
  await page.getByRole('button', { name: 'Snippet' }).click();
  expect(await page.locator('th[aria-sort]:not([aria-sort="none"])').allTextContents()).toEqual(['Snippet']);
  expect((await column('Snippet')).map((cell) => cell.split(' ')[0])).toEqual(['2', '3', '4', '10']);
});

test('the report lists 200 pages of a snippet and counts the rest', async () => {
  const row = page.getByRole('row').filter({ hasText: '203 places' });
  expect(await row.locator('li').count()).toBe(201);
  expect(await row.locator('li').last().textContent()).toBe('and 3 more: astro-snippets list');
});

test.for([
  ['light', 1280],
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
