import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderReport, reportRows } from '../../src/cli/report/render-report.ts';
import type { Manifest, ManifestContent } from '../../src/record/manifest.ts';
import { startBrowser } from '../support/browser.ts';
import { startCommand } from '../support/command.ts';
import { startTestService } from '../support/service.ts';
import { createSite } from '../support/site.ts';

const content = (hash: string, bytes = 10, milliseconds = 1): ManifestContent => ({
  hash,
  variant: 'render',
  fetchedAt: Date.UTC(2030, 0, 2, 3, 4),
  bytes,
  milliseconds,
});

const embed = (snippet: number) => ({
  snippet,
  start: 0,
  end: 0,
  form: { as: 'html' as const, layers: [] },
});

function manifestOf(more: Partial<Manifest>): Manifest {
  return {
    version: 4,
    builtAt: '2030-01-02T03:04:05.000Z',
    output: '../dist',
    settings: { concurrency: 20 },
    rules: { sanitizes: false, scripts: 'allow', strict: false, policy: 'none' },
    snippets: [],
    pages: [],
    ...more,
  };
}

describe('the rows', () => {
  const snippets = [{ id: 1, params: '{"plan":"pro"}', content: content('new') }];
  const at = '2030-01-01T00:00:00.000Z';
  const was = (id: number, params: string | undefined, hash: string | undefined) => ({
    at,
    snippets: [{ id, params, hash }],
  });
  test.each<[string, Manifest['before'], string[]]>([
    ['no record of what was before', undefined, ['unknown']],
    ['the same content', was(1, '{"plan":"pro"}', 'new'), ['same']],
    ['another content', was(1, '{"plan":"pro"}', 'old'), ['changed']],
    ['no content before', was(1, '{"plan":"pro"}', undefined), ['changed']],
    ['the same snippet with other params', was(1, undefined, 'new'), ['added', 'gone']],
    ['another snippet', was(2, undefined, 'new'), ['added', 'gone']],
  ])('%s', (_what, before, changes) => {
    expect(reportRows(manifestOf({ snippets, before })).map(({ change }) => change)).toEqual(changes);
  });

  test('a page that shows a snippet twice is named once', () => {
    const pages = [
      { name: 'a.html', hash: '', embeds: [embed(0), embed(0)] },
      { name: 'b.html', hash: '', embeds: [embed(0)] },
    ];
    expect(reportRows(manifestOf({ snippets, pages }))[0]?.pages).toEqual(['a.html', 'b.html']);
  });
});

describe('the page', () => {
  let browser: Browser;
  let page: Page;
  let folder: string;
  let address: string;
  const requests: string[] = [];
  const complaints: string[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'snippets-report-'));
    const file = join(folder, 'report.html');
    address = pathToFileURL(file).href;
    const long = 'a-page-with-a-very-long-name-that-nobody-broke/'.repeat(4);
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
      pages: [
        { name: `${long}index.html`, hash: '', embeds: [embed(0), embed(1)] },
        { name: '<script>alert(1)</script>.html', hash: '', embeds: [embed(1), embed(2)] },
      ],
      before: { at: '2030-01-01T00:00:00.000Z', snippets: [{ id: 2, params: undefined, hash: 'was' }] },
    });
    await writeFile(file, renderReport(manifest));
    browser = await startBrowser();
    page = await browser.newPage();
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('dialog', (dialog) => {
      complaints.push(dialog.message());
      void dialog.dismiss();
    });
    await page.goto(address);
  });
  afterAll(async () => {
    await browser.close();
    await rm(folder, { recursive: true });
  });

  const column = (label: string) =>
    page
      .locator(`td[data-label="${label}"]`)
      .evaluateAll((cells) => cells.map((cell) => cell.textContent?.trim()));

  test('asks for nothing but itself, and breaks no rule of its own policy', async () => {
    for (const summary of await page.locator('summary').all()) await summary.click();
    expect(requests).toEqual([address]);
    expect(complaints).toEqual([]);
    expect(await page.locator('img').count()).toBe(0);
  });

  test('sums up what is embedded, and says when it was fetched and what is shown in its place', async () => {
    const terms = await page.locator('dt').allTextContents();
    const values = await page.locator('dd').allTextContents();
    expect(Object.fromEntries(terms.map((term, index) => [term, values[index]]))).toEqual({
      Snippets: '3',
      'Pages with snippets': '2',
      Embeds: '4',
      'Size of all snippets': '13.2 kB',
      Slowest: '70 ms',
      'New, changed or gone': '3',
    });
    expect(await page.locator('p.quiet').textContent()).toMatch(
      /^As built on 2030-01-02 03:04 UTC\.\s+Compared with what was there before, of 2030-01-01 00:00 UTC\.$/,
    );
    expect(await column('Fetched')).toEqual(['2030-01-02 03:04 UTC', '2030-01-02 03:04 UTC', '–']);
    expect(await column('Variant')).toEqual(['render', 'render', 'children shown']);
    // A mark that turns the direction of writing would turn what follows it on the page.
    const [, ten] = await column('Snippet');
    expect(ten).toContain('<img src=https://evil.test/x onerror=alert(1)>');
    expect(ten).not.toContain('\u202e');
  });

  test('sorts by each column, numbers as numbers, and once more the other way round', async () => {
    expect(await column('Size')).toEqual(['900 B', '12.3 kB', '–']);
    await page.getByRole('button', { name: 'Size' }).click();
    expect(await column('Size')).toEqual(['–', '900 B', '12.3 kB']);
    expect(await page.locator('th[aria-sort="ascending"]').textContent()).toContain('Size');
    await page.getByRole('button', { name: 'Size' }).click();
    expect(await column('Size')).toEqual(['12.3 kB', '900 B', '–']);
    await page.getByRole('button', { name: 'Snippet' }).click();
    expect(await page.locator('th[aria-sort]:not([aria-sort="none"])').allTextContents()).toEqual([
      'Snippet',
    ]);
    expect((await column('Snippet')).map((cell) => cell?.split(' ')[0])).toEqual(['2', '3', '10']);
    expect(await column('Change')).toEqual(['changed', 'added', 'added']);
  });

  test.each([
    ['a desktop', { width: 1280, height: 800 }],
    ['a phone', { width: 390, height: 844 }],
  ])('on %s nothing is wider than the screen, and a checker finds no barrier', async (_what, size) => {
    await page.setViewportSize(size);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    // The page's policy keeps a script tag out, and a debugger in.
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() =>
      (globalThis as unknown as { axe: typeof axe }).axe.run(),
    );
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)).toEqual(
      [],
    );
  });
});

test('the command writes it from the record of the last two builds', async () => {
  const service = await startTestService({ 1: 'first', 2: 'stays', 3: 'goes' });
  const site = await createSite({
    'src/pages/index.html':
      '<p><snippet-embed id="1"></snippet-embed><snippet-embed id="2"></snippet-embed></p>',
    'src/pages/old.html': '<p><snippet-embed id="3"></snippet-embed></p>',
  });
  try {
    await site.build(service.environment);
    await rm(join(site.directory, 'src/pages/old.html'));
    // Six bytes, and five characters.
    service.put(1, 'zwölf');
    await site.build(service.environment);
    const { exitCode, output } = await startCommand(site.directory, ['report'], {}).ended;
    expect(exitCode).toBe(0);
    expect(output).toBe(`${join(site.directory, 'snippets-report.html')}\n`);
    const html = await readFile(output.trim(), 'utf8');
    const year = new Date().getUTCFullYear();
    expect(html).toContain('data-sort="6">6 B<');
    expect(html.match(new RegExp(`data-label="Fetched" class="time">${year}-`, 'g'))).toHaveLength(2);
    expect(html.match(/class="changed"/g)).toHaveLength(1);
    expect(html.match(/class="same"/g)).toHaveLength(1);
    expect(html.match(/class="gone"/g)).toHaveLength(1);
    expect(html).toContain('<dt>New, changed or gone</dt><dd>2</dd>');
    expect(html).toContain('<li>index.html</li>');
  } finally {
    await site.remove();
    await service.close();
  }
});

test('after a refresh the report says when, and compares with what the build had put there', async () => {
  const service = await startTestService({ 1: 'first', 2: 'stays' });
  const site = await createSite({
    'src/pages/index.html':
      '<p><snippet-embed id="1"></snippet-embed><snippet-embed id="2"></snippet-embed></p>',
  });
  try {
    await site.build(service.environment);
    const run = (name: string) => startCommand(site.directory, [name], service.environment).ended;
    const reported = async () => {
      await run('report');
      return readFile(join(site.directory, 'snippets-report.html'), 'utf8');
    };
    const before = await reported();
    expect(before).toContain('There is no record of what was there before');
    expect(before).toContain('<dd>–</dd>');
    expect(before).not.toContain('refreshed on');
    service.put(1, 'the second');
    expect((await run('refresh')).exitCode).toBe(0);
    const after = await reported();
    expect(after).toMatch(/As built on [^<]*, and refreshed on \d{4}-\d\d-\d\d/);
    expect(after).toContain('Compared with what was there before');
    expect(after.match(/class="changed"/g)).toHaveLength(1);
    expect(after.match(/class="same"/g)).toHaveLength(1);
    expect(after).toContain('data-sort="10">10 B<');
  } finally {
    await site.remove();
    await service.close();
  }
});

test('of a snippet on hundreds of pages the report names 200, and says how many more there are', async () => {
  const service = await startTestService({ 1: 'everywhere' });
  const site = await createSite({
    'src/pages/[page].astro': `---
export const getStaticPaths = () => Array.from({ length: 203 }, (_, page) => ({ params: { page: 'p' + page } }));
---
<p><snippet-embed id="1"></snippet-embed></p>`,
  });
  try {
    expect((await site.build(service.environment)).exitCode).toBe(0);
    await startCommand(site.directory, ['report'], {}).ended;
    const html = await readFile(join(site.directory, 'snippets-report.html'), 'utf8');
    expect(html).toContain('203 pages');
    expect(html.match(/<li>p\d+\/index\.html<\/li>/g)).toHaveLength(200);
    expect(html).toContain('and 3 more: astro-snippets list');
  } finally {
    await site.remove();
    await service.close();
  }
});
