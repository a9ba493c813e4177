import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { serveFolder } from '../../support/http/folder-server.ts';
import { builtSite } from '../../support/site/built-site.ts';
import { csp } from '../../support/site/policy.ts';
import { configWith, pageWith, temporarySite } from '../../support/site/site.ts';
import { violationsOf } from '../../support/tools/accessibility.ts';
import { sharedBrowser } from '../../support/tools/browser.ts';

const config = (options: string) => configWith(options, { settings: `${csp},` });

// Selectors and places where an added element or text would change the layout.
const source =
  pageWith(`<html lang="en"><head><meta name="viewport" content="width=device-width"><title>{<Snippet id={3} />}</title></head>
<body><main><h1>Page</h1>
<p id="text">Some text, <Snippet id={1} />, and more of it.</p>
<div id="block"><Snippet id={2} /></div>
<div id="flex"><Snippet id={1} /> and <b>b</b></div>
<table id="table"><tbody><tr><Snippet id={4} /></tr></tbody></table>
<p><select id="select" aria-label="Choice"><option><Snippet id={1} as="text" /></option></select></p>
<svg id="drawing" width="60" height="30" aria-hidden="true"><g><Snippet id={5} as="html" /></g></svg>
<ul id="list"><Snippet id={6} /></ul>
<p id="empty"><Snippet id={7} /></p>
<p><a id="link" href="#elsewhere"><Snippet id={8} /></a></p>
<div id="far"></div></main></body></html>
<style is:global>
  body { font: 16px/1.5 sans-serif; max-width: 600px; }
  #text::first-letter { font-size: 32px; }
  #flex { display: flex; gap: 20px; }
  #flex b:only-child { padding: 9px; }
  td:first-child { padding-left: 30px; }
  #list > :first-child { margin-left: 40px; }
  #list > :last-child { margin-bottom: 50px; }
  #empty:empty { height: 70px; }
  #far { height: 2000px; }
  body > :last-child { padding-bottom: 33px; }
  main:only-child { padding-top: 7px; }
  body:only-of-type { padding-left: 5px; }
</style>`);

const { service, site } = await builtSite(
  {
    1: 'words of a snippet',
    2: '<section><h2>Block</h2><p>text</p></section>',
    3: 'Home',
    4: '<td>one</td><td>two</td>',
    5: '<rect width="40" height="20" />',
    6: '<li>one</li><li>two</li>',
    7: '',
    8: 'linked words',
  },
  {
    'astro.config.mjs': config(`{ editLinks: true, editUrl: (id) => '/edit/' + id + '.html' }`),
    'src/pages/index.astro': source,
    'public/edit/2.html': '<!doctype html><title>Edit</title>',
  },
);

const browser = await sharedBrowser();
let page: Page;
/** The requests of the page after it was loaded. */
let requests: string[];

const server = await serveFolder(join(site.directory, 'dist'));
afterAll(() => server.close());

beforeEach(async () => {
  page = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  await page.addInitScript(`
    globalThis.blocked = [];
    addEventListener('securitypolicyviolation', (event) => blocked.push(event.violatedDirective), true);`);
  await page.goto(`${server.url}/`);
  requests = [];
  page.on('request', (request) => requests.push(request.url()));
});
afterEach(async () => {
  const blocked = await page.evaluate('blocked');
  await page.close();
  expect(blocked).toEqual([]);
  expect(requests).toEqual([]);
});

const outlines = () => page.locator('.outline').count();
const linkTo = (id: number) => page.getByRole('link', { name: `Edit snippet ${id}`, exact: true });
const openPanel = () => page.getByRole('button', { name: 'Snippets (8)', exact: true }).click();

/** The boxes of all elements and lines of text of a page. */
async function boxesOf(at: Page): Promise<unknown> {
  return at.evaluate(`[document.documentElement, ...document.body.querySelectorAll('*'), document.body].map((element) =>
    [element.localName, ...[...element.getClientRects()].map(({ x, y, width, height }) => [x, y, width, height].join())])`);
}

test('a page with edit links has the layout of the same page without them', async () => {
  const other = await temporarySite({ 'astro.config.mjs': config(''), 'src/pages/index.astro': source });
  await other.builds(service.environment);
  const without = await serveFolder(join(other.directory, 'dist'));
  const plain = await browser.newPage({ viewport: { width: 1200, height: 800 } });
  await plain.goto(`${without.url}/`);
  const expected = await boxesOf(plain);
  await plain.close();
  await without.close();
  expect(await boxesOf(page)).toEqual(expected);
  await openPanel();
  expect(await boxesOf(page)).toEqual(expected);
});

test('the panel names each snippet with its places, and outlines the one that has the focus', async () => {
  await openPanel();
  const panel = page.getByRole('complementary', { name: 'Snippets on this page' });
  const texts = await panel.getByRole('listitem').allInnerTexts();
  expect(texts.map((text) => text.replace('\n\n', '\n'))).toEqual([
    'Edit snippet 3\nin <title>',
    'Edit snippet 1\nin 2 places on this page',
    'Edit snippet 2\nin 1 place on this page',
    'Edit snippet 4\nin 1 place on this page',
    'Edit snippet 5\nin 1 place on this page',
    'Edit snippet 6\nin 1 place on this page',
    'Edit snippet 7\nnot visible on this page',
    'Edit snippet 8\nin 1 place on this page',
  ]);
  expect(await outlines()).toBe(0);
  const boxOf = async (selector: string) => page.locator(selector).boundingBox();
  const outlineOf = async (id: number) => {
    await linkTo(id).focus();
    return boxOf('.outline');
  };
  expect(await outlineOf(5)).toEqual(await boxOf('#drawing rect'));
  const row = await outlineOf(4);
  const [first, last] = [await boxOf('#table td:first-child'), await boxOf('#table td + td')];
  expect(row).toMatchObject({ x: first?.x, y: first?.y, height: first?.height });
  expect((row?.x ?? 0) + (row?.width ?? 0)).toBe((last?.x ?? 0) + (last?.width ?? 0));
  // Only the snippet's words, not the text around them.
  await linkTo(1).focus();
  expect(await outlines()).toBe(2);
  const words = await page.locator('.outline').first().boundingBox();
  const paragraph = await boxOf('#text');
  expect(words?.x).toBeGreaterThan(paragraph?.x ?? Infinity);
  expect(words?.width).toBeLessThan((paragraph?.width ?? 0) / 2);
  expect(await outlineOf(2)).toEqual(await boxOf('#block > section'));
  await linkTo(7).focus();
  expect(await outlines()).toBe(0);
});

test('a link opens the editor of the snippet in a tab without an opener', async () => {
  await openPanel();
  const popup = page.context().waitForEvent('page');
  await linkTo(2).click();
  const opened = await popup;
  await opened.waitForLoadState();
  expect(new URL(opened.url()).pathname).toBe('/edit/2.html');
  expect(await opened.evaluate('opener')).toBeNull();
  await opened.close();
});

test('the links are reached with Tab, visible when focused, and left with Escape', async () => {
  const focused = () => page.evaluate('document.activeElement.shadowRoot?.activeElement?.textContent');
  await page.locator('#link').focus();
  await page.keyboard.press('Tab');
  expect(await focused()).toBe('Snippets (8)');
  await page.keyboard.press('Enter');
  const button = page.getByRole('button', { name: 'Snippets (8)', exact: true, expanded: true });
  await button.waitFor();
  for (const name of ['Edit snippet 3', 'Edit snippet 1', 'Edit snippet 2']) {
    await page.keyboard.press('Tab');
    expect(await focused()).toBe(name);
    const styles = await page.evaluate(`(() => {
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement.shadowRoot.activeElement);
      return [outlineStyle, outlineWidth];
    })()`);
    expect(styles).toEqual(['solid', '3px']);
  }
  expect(await outlines()).toBe(1);
  await page.keyboard.press('Escape');
  expect(await focused()).toBe('Snippets (8)');
  expect(await linkTo(1).count()).toBe(0);
  expect(await outlines()).toBe(0);
});

test('after client-side navigation, the links belong to the new page', async () => {
  await openPanel();
  const navigate = (data: string) =>
    page.evaluate(`{
      document.querySelector('script#snippet-edit-links').textContent = '${data}';
      document.dispatchEvent(new Event('astro:page-load'));
    }`);
  await navigate('[]');
  expect(await page.getByRole('complementary').count()).toBe(0);
  await navigate('[{ "id": 2, "url": "/edit/2.html", "unmarked": [] }]');
  await page.getByRole('button', { name: 'Snippets (1)', exact: true }).click();
  expect(await linkTo(2).count()).toBe(1);
});

test.for([
  [1280, 'light'],
  [360, 'dark'],
] as const)('axe finds nothing with the panel open, at a width of %i, %s', async ([width, colorScheme]) => {
  await page.setViewportSize({ width, height: 700 });
  await page.emulateMedia({ colorScheme });
  await openPanel();
  expect(await violationsOf(page)).toBe('');
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
});
