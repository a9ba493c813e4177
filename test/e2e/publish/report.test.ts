import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderReport } from '../../../src/cli/report/render-report.ts';
import type { Manifest, ManifestContent } from '../../../src/record/manifest.ts';
import { violationsOf } from '../../support/accessibility.ts';
import { startBrowser } from '../../support/browser.ts';
import { createFolder, type Folder } from '../../support/folder.ts';

const content = (hash: string, bytes = 10, milliseconds = 1): ManifestContent => ({
  hash,
  variant: 'render',
  fetchedAt: Date.UTC(2030, 0, 2, 3, 4),
  bytes,
  milliseconds,
});

const kind = (snippet: number) => ({
  snippet,
  length: 0,
  form: { as: 'html' as const, layers: [] },
});

function manifestOf(more: Partial<Manifest>): Manifest {
  return {
    builtAt: '2030-01-02T03:04:05.000Z',
    output: '../dist',
    settings: { concurrency: 20 },
    rules: { sanitizes: false, scripts: 'allow', strict: false, policy: 'none' },
    snippets: [],
    kinds: [],
    files: [],
    collections: [],
    ...more,
  };
}

describe('the HTML page of the report', () => {
  let browser: Browser;
  let page: Page;
  let folder: Folder;
  const requests: string[] = [];
  const problems: string[] = [];

  /** Opens the page in the browser. */
  async function show(manifest: Manifest): Promise<string> {
    await folder.write({ 'report.html': renderReport(manifest) });
    const url = pathToFileURL(join(folder.directory, 'report.html')).href;
    requests.length = 0;
    await page.goto(url);
    return url;
  }

  const long = 'a-page-with-a-very-long-name-in-one-piece/'.repeat(4);
  const manifest = manifestOf({
    snippets: [
      { id: 2, params: undefined, content: content('two', 900, 9) },
      {
        id: 10,
        params: '{"name":"<img src=https://evil.test/x onerror=alert(1)>\u202e"}',
        content: content('ten', 12_345, 70),
      },
      { id: 3, params: undefined, content: undefined },
    ],
    kinds: [kind(0), kind(1), kind(2)],
    files: [
      { name: `${long}index.html`, hash: '', places: [0, 0, 1, 0] },
      { name: '<script>alert(1)</script>.html', hash: '', places: [1, 0, 2, 0] },
    ],
    before: { at: '2030-01-01T00:00:00.000Z', snippets: [{ id: 2, params: undefined, hash: 'was' }] },
  });

  beforeAll(async () => {
    folder = await createFolder({});
    browser = await startBrowser();
    page = await browser.newPage();
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('dialog', (dialog) => {
      problems.push(dialog.message());
      void dialog.dismiss();
    });
  });
  afterAll(async () => {
    await browser.close();
    await folder.remove();
  });

  const column = async (label: string) => {
    const labels = await page.locator('th').allTextContents();
    const cells = await page.locator(`td:nth-child(${labels.indexOf(label) + 1})`).allTextContents();
    return cells.map((cell) => cell.trim());
  };

  test('makes no requests and follows its own Content Security Policy', async () => {
    const url = await show(manifest);
    for (const summary of await page.locator('summary').all()) await summary.click();
    expect(requests).toEqual([url]);
    expect(problems).toEqual([]);
    expect(await page.locator('img').count()).toBe(0);
  });

  test('shows totals, and when and from where each snippet was fetched', async () => {
    await show(manifest);
    const terms = await page.locator('dt').allTextContents();
    const values = await page.locator('dd').allTextContents();
    expect(Object.fromEntries(terms.map((term, index) => [term, values[index]]))).toEqual({
      Snippets: '3',
      'Pages with snippets': '2',
      Embeds: '4',
      'Total size': '13.2kB',
      Slowest: '70ms',
      'New, changed or gone': '3',
    });
    expect(await page.locator('p.quiet').first().textContent()).toMatch(
      /^Built on 2030-01-02 03:04 UTC\.\s+Changes since 2030-01-01 00:00 UTC\.$/,
    );
    expect(await column('Fetched')).toEqual(['2030-01-02 03:04 UTC', '2030-01-02 03:04 UTC', '–']);
    expect(await column('Variant')).toEqual(['render', 'render', 'children shown']);
    // A mark that changes the direction of text would also change the text after it.
    const [, ten] = await column('Snippet');
    expect(ten).toContain('<img src=https://evil.test/x onerror=alert(1)>');
    expect(ten).not.toContain('\u202e');
  });

  test('sorts by each column, numerically where it has numbers, in both directions', async () => {
    await show(manifest);
    expect(await column('Size')).toEqual(['900B', '12.3kB', '–']);
    await page.getByRole('button', { name: 'Size' }).click();
    expect(await column('Size')).toEqual(['–', '900B', '12.3kB']);
    expect(await page.locator('th[aria-sort="ascending"]').textContent()).toContain('Size');
    await page.getByRole('button', { name: 'Size' }).click();
    expect(await column('Size')).toEqual(['12.3kB', '900B', '–']);
    await page.getByRole('button', { name: 'Snippet' }).click();
    expect(await page.locator('th[aria-sort]:not([aria-sort="none"])').allTextContents()).toEqual([
      'Snippet',
    ]);
    expect((await column('Snippet')).map((cell) => cell?.split(' ')[0])).toEqual(['2', '3', '10']);
    expect(await column('Change')).toEqual(['changed', 'added', 'added']);
  });

  test('counts pages, feeds and collection entries, and links to what has a URL', async () => {
    await show(
      manifestOf({
        snippets: [{ id: 10, params: '{"plan":"pro"}', content: content('ten') }],
        urls: { site: 'https://example.com', base: '/', trailingSlash: 'ignore' },
        kinds: [kind(0)],
        files: ['a/index.html', 'feed.xml'].map((name) => ({ name, hash: '', places: [0, 0] })),
        collections: [
          { collection: 'legal', entry: '<script>alert(1)</script>', snippet: 0, content: 'ten' },
        ],
      }),
    );
    expect(await column('Shown on')).toEqual([
      expect.stringContaining('1 page, 1 other file, and 1 collection entry'),
    ]);
    const links = page.locator('td a');
    expect(await links.allTextContents()).toEqual(['a/index.html', 'feed.xml']);
    expect(await links.first().getAttribute('href')).toBe('https://example.com/a/');
    expect(problems).toEqual([]);
  });

  test('lists 200 pages of a snippet and counts the rest', async () => {
    const names = Array.from({ length: 203 }, (_, page) => `p${page}/index.html`);
    await show(
      manifestOf({
        snippets: [{ id: 1, params: undefined, content: content('one') }],
        kinds: [kind(0)],
        files: names.map((name) => ({ name, hash: '', places: [0, 0] })),
      }),
    );
    await page.getByText('203 pages').click();
    expect(await page.locator('li').allTextContents()).toEqual([
      ...names.slice(0, 200),
      'and 3 more: astro-snippets list',
    ]);
  });

  test.each(
    [
      ['a desktop', { width: 1280, height: 800 }],
      ['a phone', { width: 390, height: 844 }],
    ].flatMap(([device, size]) =>
      (['light', 'dark'] as const).map((colorScheme) => [device, colorScheme, size] as const),
    ) as [string, 'light' | 'dark', { width: number; height: number }][],
  )('is accessible and fits the screen on %s in %s colours', async (_what, colorScheme, size) => {
    await show(manifest);
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    await page.evaluate('for (const part of document.querySelectorAll("details")) part.open = true');
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await violationsOf(page)).toBe('');
  });
});
