import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { violationsOf } from '../../support/accessibility.ts';
import { startBrowser } from '../../support/browser.ts';
import { type SiteServer, startServer } from '../../support/server.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createSite, type Site } from '../../support/site.ts';

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
    'src/pages/long.astro': pageWith(`<p><Snippet id={3} params={{ plan: "${'Long-'.repeat(100)}" }} /></p>`),
    'src/pages/draft.astro': pageWith('Nothing yet.'),
  });
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
const click = (id: number, name: string) => rowOf(id).getByRole('button', { name }).click();

async function openToolbar(path: string, id: number): Promise<void> {
  await page.goto(dev.url + path);
  await page.getByRole('button', { name: 'Snippets' }).click();
  await rowOf(id).waitFor(patience);
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
  test('fetches a snippet again, and opens where it is edited', async () => {
    await openToolbar('/', 2);
    service.put(2, '<b>The new spring roast is here.</b>');
    await click(2, 'Refresh');
    await shows('#banner', 'The new spring roast is here.');
    service.put(2, '<b>The winter roast is here.</b>');
    await shows('#banner', 'The winter roast is here.');
    await openToolbar('/', 3);
    const opened = page.waitForEvent('popup');
    await click(3, 'Edit');
    expect((await opened).url()).toBe('about:blank#edit-3');
  });

  test.for([
    ['a desktop', { width: 1280, height: 900 }],
    ['a phone', { width: 390, height: 844 }],
    ['a narrow phone', { width: 360, height: 740 }],
  ] as const)('on %s, is accessible and fits the screen', async ([, viewport]) => {
    await page.setViewportSize(viewport);
    await openToolbar('/long', 3);
    expect(await violationsOf(page)).toBe('');
    const { scrollWidth, clientWidth } = await panel().evaluate((element) => ({
      scrollWidth: element.scrollWidth,
      clientWidth: element.clientWidth,
    }));
    expect(scrollWidth).toBeLessThanOrEqual(clientWidth);
    const box = await panel().boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(viewport.width);
  });
});
