import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { configWith, createSite, type RunningAstro, type Site } from '../support/site.ts';

let service: TestService;
let site: Site;
let dev: RunningAstro;
let browser: Browser;
let page: Page;
let address: string;

beforeAll(async () => {
  service = await startTestService({
    1: '<b>first words</b>',
    2: '<section>block</section>',
    3: 'a & b',
    8: 'collected',
  });
  site = await createSite({
    'astro.config.mjs': `
      import { defineConfig } from 'astro/config';
      import snippets from 'astro-snippets';
      export default defineConfig({ base: '/docs', integrations: [snippets({ editUrl: (id) => 'about:blank#edit-' + id })] });`,
    'src/pages/index.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<html><head><title><Snippet id={3} /></title></head><body><p id="one"><Snippet id={1} /></p></body></html>`,
    'src/pages/post.md': '# Post\n\n<snippet-embed id="2"></snippet-embed>\n',
    'src/pages/slow.astro': `---
const later = new Promise((resolve) => setTimeout(() => resolve('<snippet-embed id="1"></snippet-embed> later'), 300));
---
<html><body><p>now</p><p id="later"><Fragment set:html={later} /></p></body></html>`,
    'src/pages/missing.astro':
      '<html><body><p id="late"><snippet-embed id="500">children</snippet-embed></p></body></html>',
    'src/pages/faulty.astro': '<html><body>\n<snippet-embed id="x"></snippet-embed></body></html>',
    'src/pages/children.astro':
      '<html><body><p id="kids"><snippet-embed id="7">children</snippet-embed></p></body></html>',
    'src/pages/data.json.ts': `export const GET = () => Response.json({ html: '<snippet-embed id="1"></snippet-embed>' });`,
    'src/pages/plain.astro': '<html><body>plain</body></html>',
    'src/content.config.ts': `
      import { defineCollection } from 'astro:content';
      import { snippetLoader } from 'astro-snippets/loader';
      export const collections = { texts: defineCollection({ loader: snippetLoader({ banner: { id: 8 } }) }) };`,
    'src/pages/collected.astro': `---
import { getEntry } from 'astro:content';
const { data } = await getEntry('texts', 'banner');
---
<html><body><p id="collected">{data.content}</p><snippet-embed id="1"></snippet-embed></body></html>`,
  });
  dev = site.start(['dev', '--port', '0'], service.environment);
  await vi.waitFor(() => expect(dev.output()).toMatch(/http:\/\/localhost:\d+/), { timeout: 30_000 });
  address = `${/http:\/\/localhost:\d+/.exec(dev.output())?.[0]}/docs`;
  browser = await startBrowser();
});
beforeEach(async () => {
  page = await browser.newPage();
  return async () => {
    // A page that reloads just now may never be closed.
    await page.goto('about:blank').catch(() => {});
    await page.close();
  };
});
afterAll(async () => {
  await browser.close();
  dev.process.kill('SIGTERM');
  await dev.ended;
  await site.remove();
  await service.close().catch(() => undefined);
});

const html = async (path: string) => (await fetch(address + path)).text();

describe('a page is served with its snippets in it', () => {
  test('.astro, in text and in markup', async () => {
    const text = await html('/');
    expect(text).toContain('<title>a &amp; b</title>');
    expect(text).toMatch(/<p id="one"[^>]*><!--snippet 1--><b>first words<\/b><!--\/snippet 1--><\/p>/);
    expect(text).not.toContain('snippet-embed');
  });
  test('Markdown', async () => {
    expect(await html('/post')).toMatch(
      /<\/h1>\s*<!--snippet 2--><section>block<\/section><!--\/snippet 2-->/,
    );
  });
  test('a page that streams', async () => {
    expect(await html('/slow')).toMatch(
      /<p>now<\/p>\s*<p id="later"><!--snippet 1--><b>first words<\/b><!--\/snippet 1--> later<\/p>/,
    );
  });
  test('what is no HTML passes as it is', async () => {
    expect(await html('/data.json')).toBe('{"html":"<snippet-embed id=\\"1\\"></snippet-embed>"}');
    expect(await html('/plain')).toContain('plain');
  });
  test('once fetched, a page does not wait for the service', async () => {
    await html('/');
    service.faults.latency = 5_000;
    const start = performance.now();
    expect(await html('/')).toContain('first words');
    expect(performance.now() - start).toBeLessThan(2_000);
    service.mend();
  });
});

/** Publishes as an editor does: on the website. */
async function publishOnWebsite(id: number, draft: string): Promise<void> {
  const signedIn = await fetch(service.loginLink(service.organizationId), { redirect: 'manual' });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const published = await fetch(`${service.websiteUrl}/snippets/${id}`, {
    method: 'POST',
    headers: { cookie, origin: service.websiteUrl },
    body: new URLSearchParams({ name: 'x', draft, sample: '{}', action: 'publish' }),
    redirect: 'manual',
  });
  expect(published.status).toBe(303);
}

test('an open page shows a change by itself', async () => {
  await page.goto(`${address}/`);
  expect(await page.locator('#one').textContent()).toBe('first words');
  await publishOnWebsite(1, '<b>second words</b>');
  await page.locator('#one', { hasText: 'second words' }).waitFor({ timeout: 15_000 });
  service.put(1, '<b>first words</b>');
  await page.locator('#one', { hasText: 'first words' }).waitFor({ timeout: 15_000 });
});

test('a page shows a change however long a build may use what is kept', async () => {
  service.put(9, 'kept');
  const other = await createSite({
    'astro.config.mjs': configWith(`{ cache: { maxAge: '1h' } }`),
    'src/pages/index.html': '<p><snippet-embed id="9"></snippet-embed></p>',
  });
  const running = other.start(['dev', '--port', '0'], service.environment);
  try {
    await vi.waitFor(() => expect(running.output()).toMatch(/http:\/\/localhost:\d+/), { timeout: 30_000 });
    const url = /http:\/\/localhost:\d+/.exec(running.output())?.[0] ?? '';
    expect(await (await fetch(url)).text()).toContain('kept');
    service.put(9, 'published since');
    await vi.waitFor(async () => expect(await (await fetch(url)).text()).toContain('published since'), {
      timeout: 15_000,
      interval: 500,
    });
  } finally {
    running.process.kill('SIGTERM');
    await running.ended;
    await other.remove();
  }
});

describe('the error overlay', () => {
  const overlay = () => page.locator('vite-error-overlay');
  // Its content is in a shadow root.
  const overlayText = () =>
    overlay().evaluate(({ shadowRoot }) => shadowRoot?.querySelector('#layout')?.textContent ?? '');

  test('shows a problem with its detail, page and hint, and goes when it is mended', async () => {
    const answer = await page.goto(`${address}/missing`);
    expect(answer?.status()).toBe(500);
    const text = await overlayText();
    for (const part of [
      'Snippet 500: 404 Not Found',
      'There is no published snippet 500 in this organization.',
      '/problems/not-found',
      'on /docs/missing',
      'Check the id',
    ]) {
      expect(text).toContain(part);
    }
    service.put(500, '<i>here at last</i>');
    await page.locator('#late', { hasText: 'here at last' }).waitFor({ timeout: 15_000 });
    expect(await overlay().count()).toBe(0);
  });

  test('shows text as text', async () => {
    await site.write({
      'src/pages/evil.astro':
        '<html><body><snippet-embed id="<img src=x onerror=alert(1)>"></snippet-embed></body></html>',
    });
    // A new file is a page only when the server has seen it.
    await vi.waitFor(async () => expect((await page.goto(`${address}/evil`))?.status()).toBe(500), {
      timeout: 15_000,
    });
    expect(await overlayText()).toContain('onerror=alert(1)');
    expect(await overlay().locator('img[src="x"]').count()).toBe(0);
  });

  test('names the line of an embed that cannot be used', async () => {
    await page.goto(`${address}/faulty`);
    expect(await overlayText()).toMatch(/\/docs\/faulty:\d+.*not "x"/);
  });
});

describe('the toolbar app', () => {
  const panel = () => page.locator('astro-dev-toolbar-window', { hasText: 'Snippets of this page' });

  test('lists the snippets of the page, outlines them, asks for one again, and works by keyboard', async () => {
    await page.goto(`${address}/`);
    const toggle = page.getByRole('button', { name: 'Snippets' });
    await toggle.focus();
    await page.keyboard.press('Enter');
    const rows = panel().getByRole('listitem');
    await vi.waitFor(async () => expect(await rows.count()).toBe(2));
    const row = rows.filter({ hasText: 'Snippet 1' });
    expect(await row.innerText()).toMatch(/Snippet 1\s+render · \d+ ms · 18 bytes · \d+ s old/);

    await row.hover();
    const frame = page.locator('astro-dev-toolbar-highlight:visible');
    await frame.first().waitFor();
    const place = await page.locator('#one b').boundingBox();
    const drawn = await frame.first().boundingBox();
    expect(Math.abs((drawn?.x ?? 0) + 8 - (place?.x ?? 0))).toBeLessThan(2);

    service.put(1, '<b>asked words</b>');
    await row.getByRole('button', { name: 'Ask again' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('#one', { hasText: 'asked words' }).waitFor({ timeout: 15_000 });
    service.put(1, '<b>first words</b>');
    await page.locator('#one', { hasText: 'first words' }).waitFor({ timeout: 15_000 });
  });

  test('asking again refreshes collections too', async () => {
    await page.goto(`${address}/collected`);
    expect(await page.locator('#collected').textContent()).toBe('collected');
    service.put(8, 'collected anew');
    await page.getByRole('button', { name: 'Snippets' }).click();
    await panel().getByRole('button', { name: 'Ask again' }).first().click();
    await page.locator('#collected', { hasText: 'collected anew' }).waitFor({ timeout: 15_000 });
  });

  test('leads to where a snippet is edited', async () => {
    await page.goto(`${address}/`);
    await page.getByRole('button', { name: 'Snippets' }).click();
    const opened = page.waitForEvent('popup');
    await panel().getByRole('button', { name: 'Edit' }).first().click();
    expect((await opened).url()).toBe('about:blank#edit-3');
  });
});

test('the key is in no page and in no line of the log', async () => {
  const { SNIPPETS_API_KEY: key } = service.environment;
  for (const path of ['/', '/missing', '/faulty']) expect(await html(path)).not.toContain(key);
  expect(dev.output()).not.toContain(key);
});

test('the service is stopped: pages show the last content, children where there is none, and it is said once', async () => {
  await page.goto(`${address}/`);
  await service.close();
  await vi.waitFor(() => expect(dev.output()).toContain('Snippet 1 is shown as it was last fetched'), {
    timeout: 20_000,
  });
  await page.reload();
  expect(await page.locator('#one').textContent()).toBe('first words');
  await page
    .locator('[data-app-id="astro-snippets"] .notification[data-active]')
    .waitFor({ timeout: 15_000 });
  await page.getByRole('button', { name: 'Snippets' }).click();
  const row = page.locator('astro-dev-toolbar-window li', { hasText: 'Snippet 1' });
  expect(await row.locator('.error').textContent()).toMatch(/^Snippet 1 could not be retrieved: /);
  await page.goto(`${address}/children`);
  expect(await page.locator('#kids').textContent()).toBe('children');
  expect(dev.output().match(/Snippet 1 is shown as it was last fetched/g)).toHaveLength(1);
});
