import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { violationsOf } from '../support/accessibility.ts';
import { startBrowser } from '../support/browser.ts';
import { type SiteServer, startServer } from '../support/server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';

let service: TestService;
let site: Site;
let dev: SiteServer;
let browser: Browser;
let page: Page;

const pageWith = (body: string) => `---
import { Snippet } from 'astro-snippets/components';
---
<html lang="en">
  <head><meta name="viewport" content="width=device-width"><title>Coffee</title></head>
  <body>
    <main>
      <h1>Coffee</h1>
      ${body}
    </main>
  </body>
</html>`;

const price = '<Snippet id={3} params={{ plan: "free" }} />';

beforeAll(async () => {
  service = await startTestService({
    2: '<b>The winter roast is here.</b>',
    3: '<i>Your plan: {{ plan }}</i>',
  });
  site = await createSite({
    'astro.config.mjs': `
      import { defineConfig } from 'astro/config';
      import snippets from 'astro-snippets';
      export default defineConfig({
        integrations: [snippets({ scripts: 'error', editUrl: (id) => 'about:blank#edit-' + id })],
      });`,
    'src/pages/index.astro': pageWith(`<p id="banner"><Snippet id={2} /></p><p id="price">${price}</p>`),
    'src/pages/pricing.astro': pageWith(`<p id="price">${price}</p>`),
    'src/pages/pro.astro': pageWith('<p><Snippet id={3} params={{ plan: "pro" }} /></p>'),
    'src/pages/draft.astro': pageWith('Nothing yet.'),
  });
  await site.build(service.environment);
  dev = await startServer(site, 'dev', service.environment);
  browser = await startBrowser();
}, 400_000);
beforeEach(async () => {
  page = await browser.newPage();
  return async () => {
    // Closing a page while it reloads may never end.
    await page.goto('about:blank').catch(() => {});
    await page.close();
  };
});
afterAll(async () => {
  await browser?.close();
  await dev?.stop();
  await site?.remove();
  await service?.close();
});

const patience = { timeout: 60_000 };
const panel = () => page.getByRole('dialog', { name: 'Snippets on this page' });
const rowOf = (id: number) =>
  panel()
    .getByRole('listitem')
    .filter({ hasText: `Snippet ${id}` });
const textField = (id: number) => rowOf(id).getByLabel('Another text or HTML');
const paramsField = (id: number) => rowOf(id).getByLabel('Other params, as JSON');
const click = (id: number, name: string) => rowOf(id).getByRole('button', { name }).click();

async function openToolbar(path: string, id: number): Promise<void> {
  await page.goto(dev.url + path);
  await page.getByRole('button', { name: 'Snippets' }).click();
  await rowOf(id).waitFor(patience);
}

async function openTryOut(id: number): Promise<void> {
  await rowOf(id).getByText('Try another text or other params').click();
  await textField(id).waitFor();
}

async function shows(selector: string, text: string): Promise<void> {
  await page.locator(selector, { hasText: text }).waitFor(patience);
}

test('a typo in an id is named with file and line, and once it is fixed the page shows the snippet', async () => {
  await page.goto(`${dev.url}/draft`);
  await site.write({ 'src/pages/draft.astro': pageWith('<p id="new"><Snippet id="2l" /></p>') });
  const overlay = page.locator('vite-error-overlay');
  await overlay.getByText('A snippet id must be a positive whole number, not "2l"').waitFor(patience);
  expect(await overlay.locator('#code header h2').getAttribute('title')).toMatch(/draft\.astro:9:\d+$/);
  await site.write({ 'src/pages/draft.astro': pageWith('<p id="new"><Snippet id={2} /></p>') });
  await shows('#new', 'The winter roast is here.');
  await page.getByRole('button', { name: 'Snippets' }).click();
  await rowOf(2).waitFor(patience);
});

describe('the toolbar', () => {
  test('shows another text on the page, marked, until the way back, whatever the service sends', async () => {
    await openToolbar('/', 2);
    await openTryOut(2);
    await vi.waitFor(async () => {
      expect(await textField(2).inputValue()).toBe('<b>The winter roast is here.</b>');
    }, patience);
    await textField(2).fill('<b>The <em>summer</em> roast is here.</b>');
    await click(2, 'Try this text');
    await shows('#banner b em', 'summer');
    // The page has loaded again, and the window is as it was.
    await rowOf(2).getByText('Tried out').waitFor(patience);
    expect(await rowOf(3).getByText('Tried out').isVisible()).toBe(false);
    expect(await textField(2).inputValue()).toBe('<b>The <em>summer</em> roast is here.</b>');
    await page.locator('.mark', { hasText: 'Tried out' }).waitFor();

    service.put(2, '<b>The new spring roast is here.</b>');
    await click(2, 'Refresh');
    await rowOf(2).getByText('36 bytes').waitFor(patience);
    expect(await page.locator('#banner').textContent()).toBe('The summer roast is here.');

    await click(2, "Back to the service's text");
    await shows('#banner', 'The new spring roast is here.');
    service.put(2, '<b>The winter roast is here.</b>');
    await shows('#banner', 'The winter roast is here.');
  });

  test('refuses a text that the site refuses, and one with the API key, and the page stays', async () => {
    await openToolbar('/', 2);
    await openTryOut(2);
    const { SNIPPETS_API_KEY: key } = service.environment;
    await textField(2).fill(`<b>${key}</b>`);
    await click(2, 'Try this text');
    await rowOf(2).getByText('The text contains the API key, so it is not shown.').waitFor(patience);
    await textField(2).fill('<script>alert(1)</script>');
    await textField(2).press('Control+Enter');
    await rowOf(2).getByText('Snippet 2 contains <script>.').waitFor(patience);
    expect(await textField(2).inputValue()).toBe('<script>alert(1)</script>');
    expect(await rowOf(2).getByText('Tried out').isVisible()).toBe(false);
    expect(await page.locator('#banner b').textContent()).toBe('The winter roast is here.');
  });

  test('shows a snippet with other params, says why some cannot be shown, and the page stays', async () => {
    await openToolbar('/pricing', 3);
    await openTryOut(3);
    expect(JSON.parse(await paramsField(3).inputValue())).toEqual({ plan: 'free' });
    await paramsField(3).fill('{ plan: 1 }');
    await click(3, 'Try these params');
    await rowOf(3).getByText('params is not JSON').waitFor(patience);
    await paramsField(3).fill('{ "plan": "pro" }');
    await click(3, 'Try these params');
    await shows('#price i', 'Your plan: pro');
    await rowOf(3).getByText('Pages show what the service sends for the params {"plan":"pro"}').waitFor();

    // Params that no request can hold fail when the service is to be asked.
    await paramsField(3).fill(JSON.stringify({ plan: 'x'.repeat(9_000) }));
    await click(3, 'Try these params');
    await rowOf(3)
      .getByText(/make a URL of \d+ characters/)
      .waitFor(patience);
    expect(await page.locator('#price').textContent()).toBe('Your plan: pro');
    await click(3, "Back to the service's text");
    await shows('#price i', 'Your plan: free');
  });

  test('names the other pages of a snippet, and opens where it is edited', async () => {
    await openToolbar('/pricing', 3);
    await rowOf(3).getByText('On other pages').click();
    const links = rowOf(3).getByRole('link');
    await vi.waitFor(async () => expect(await links.allTextContents()).toEqual(['/', '/pro/']), patience);
    expect(await rowOf(3).locator('.pages li').last().textContent()).toBe('/pro/ with other params');
    const opened = page.waitForEvent('popup');
    await click(3, 'Edit');
    expect((await opened).url()).toBe('about:blank#edit-3');
    await links.first().click();
    await page.waitForURL(`${dev.url}/`);
  });

  test.for([
    ['a desktop', { width: 1280, height: 900 }],
    ['a phone', { width: 390, height: 844 }],
    ['a narrow phone', { width: 360, height: 740 }],
  ] as const)('on %s, is accessible and fits the screen', async ([, viewport]) => {
    await page.setViewportSize(viewport);
    await openToolbar('/', 2);
    await openTryOut(2);
    await textField(2).fill(`<b>${'Long-'.repeat(100)}</b>`);
    await click(2, 'Try this text');
    await rowOf(2).getByText("Back to the service's text").waitFor(patience);
    await rowOf(3).getByText('On other pages').click();
    await rowOf(3).getByRole('link').first().waitFor(patience);
    try {
      expect(await violationsOf(page)).toBe('');
      const { scrollWidth, clientWidth } = await panel().evaluate((element) => ({
        scrollWidth: element.scrollWidth,
        clientWidth: element.clientWidth,
      }));
      expect(scrollWidth).toBeLessThanOrEqual(clientWidth);
      const box = await panel().boundingBox();
      expect(box?.x).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(viewport.width);
    } finally {
      await click(2, "Back to the service's text");
      await shows('#banner', 'The winter roast is here.');
    }
  });
});
