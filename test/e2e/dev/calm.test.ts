import type { Page } from 'playwright-core';
import { afterEach, expect, test, vi } from 'vitest';
import { servedSite } from '../../support/site/built-site.ts';
import { configWith } from '../../support/site/site.ts';
import { sharedBrowser } from '../../support/tools/browser.ts';

const browser = await sharedBrowser();

const pageOf = (embeds: string) => `<html><head><title>page</title></head><body>${embeds}</body></html>`;
const embed = (id: number, children = '') =>
  `<p id="s${id}"><snippet-embed id="${id}">${children}</snippet-embed></p>`;

const { service, dev } = await servedSite(
  { 1: '<b>one</b>', 2: '<b>two</b>', 3: 'three', 4: 'four' },
  {
    'astro.config.mjs': configWith('', { settings: 'devToolbar: { enabled: false },' }),
    'src/pages/healthy.astro': pageOf(embed(1)),
    'src/pages/failing.astro': pageOf(embed(2)),
    'src/pages/children.astro': pageOf(embed(3, 'children')),
    'src/pages/post.md': '# Post\n\n<snippet-embed id="4"></snippet-embed>\n',
    'src/pages/other.astro': pageOf(embed(60_000)),
    'src/pages/changing.astro': pageOf(embed(60_001)),
    ...Object.fromEntries([70, 71, 72].map((id) => [`src/pages/key${id - 70}.astro`, pageOf(embed(id))])),
  },
);

afterEach(async () => {
  service.clearFaults();
  for (const context of browser.contexts()) await context.close();
});

/** A page that counts how often it is loaded. */
async function open(path: string): Promise<{ page: Page; loads(): number }> {
  const page = await browser.newPage();
  let loads = 0;
  page.on('framenavigated', (frame) => {
    if (frame === page.mainFrame()) loads += 1;
  });
  await page.goto(dev.url + path);
  return { page, loads: () => loads };
}

const seconds = (count: number) => new Promise((resolve) => setTimeout(resolve, count * 1000));

const count = (pattern: RegExp) => dev.output().match(new RegExp(pattern, 'g'))?.length ?? 0;

test('a page reloads only when a snippet that it shows has changed', async () => {
  const astro = await open('/healthy');
  const markdown = await open('/post');
  for (const content of ['changed', 'four']) {
    service.put(4, content);
    await markdown.page.locator('body', { hasText: content }).waitFor({ timeout: 60_000 });
  }
  // Time for an unwanted reload.
  await seconds(3);
  expect([astro.loads(), markdown.loads()]).toEqual([1, 3]);
});

test('a hidden page asks for nothing, and is updated when it becomes visible', async () => {
  const { page, loads } = await open('/healthy');
  const turn = (state: string) =>
    page.evaluate(`{
      Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }`);
  await turn('hidden');
  // Earlier requests have arrived by now.
  await seconds(2);
  const asked = () => service.requests().length;
  const before = asked();
  service.put(1, '<b>seen</b>');
  await seconds(5);
  expect([asked(), loads()]).toEqual([before, 1]);
  await turn('visible');
  await page.locator('#s1', { hasText: 'seen' }).waitFor({ timeout: 60_000 });
  service.put(1, '<b>one</b>');
  await page.locator('#s1', { hasText: 'one' }).waitFor({ timeout: 60_000 });
});

test('while the service is down, no open page reloads; all recover without help, and each failure is logged once', async () => {
  const healthy = await open('/healthy');
  expect(await healthy.page.locator('#s1').textContent()).toBe('one');
  Object.assign(service.faults, { failing: 1, failingStatus: 503 });
  const failing = await open('/failing');
  const children = await open('/children');
  expect(await failing.page.locator('vite-error-overlay').count()).toBe(1);
  expect(await children.page.locator('#s3').textContent()).toBe('children');
  const pages = [healthy, failing, children];
  await seconds(14);
  expect(pages.map(({ loads }) => loads())).toEqual([1, 1, 1]);

  await failing.page.reload();
  await children.page.reload();
  expect(pages.map(({ loads }) => loads())).toEqual([1, 2, 2]);
  expect(count(/\[ERROR\] \[astro-snippets\] 1 snippet could not be fetched\.\n/)).toBe(1);
  expect(dev.output()).toMatch(
    /Snippet 2: 503 Service Unavailable \[server-error\]\n(?: {4}.*\n){2} {4}on \/failing\n {4}written in src\/pages\/failing\.astro:1\n\n {2}Hint:\n {4}server-error: Try again/,
  );
  expect(count(/\[WARN\].* Its children are shown instead on \/children\. \[server-error\]/)).toBe(1);
  expect(dev.output()).not.toMatch(/build again/i);

  service.clearFaults();
  await failing.page.locator('#s2', { hasText: 'two' }).waitFor({ timeout: 60_000 });
  await children.page.locator('#s3', { hasText: 'three' }).waitFor({ timeout: 60_000 });
  expect(pages.map(({ loads }) => loads())).toEqual([1, 3, 3]);
});

test('a failure that changes is logged again, one that is over is not', async () => {
  const failures = () => count(/\n {4}on \/other\n/);
  const view = async () => (await fetch(`${dev.url}/other`)).status;
  expect(await view()).toBe(500);
  expect(await view()).toBe(500);
  expect(failures()).toBe(1);
  service.put(60_000, 'here');
  await expect.poll(view).toBe(200);
  Object.assign(service.faults, { failing: 1, only: [60_000] });
  // Known content is shown. Only a snippet without content fails.
  expect(await view()).toBe(200);
  expect(failures()).toBe(1);
  service.clearFaults();
  expect(await (await fetch(`${dev.url}/changing`)).text()).toContain('no published snippet 60001');
  Object.assign(service.faults, { failing: 1, only: [60_001] });
  await vi.waitFor(
    async () => {
      await fetch(`${dev.url}/changing`);
      expect(count(/\n {4}on \/changing\n/)).toBe(2);
    },
    { timeout: 60_000, interval: 500 },
  );
  service.clearFaults();
});

test('a page with a snippet that contains the API key is an error, without the key, until the key is gone', async () => {
  const key = service.environment.SNIPPETS_API_KEY;
  const spellings = [key, Buffer.from(`x${key}`).toString('base64'), encodeURIComponent(key)];
  for (const [index, spelling] of spellings.entries()) {
    service.put(70 + index, `<b data-x="1">${spelling}</b>`);
    const answer = await fetch(`${dev.url}/key${index}`);
    const text = await answer.text();
    expect(answer.status).toBe(500);
    expect(text).toContain(`The API key was found in snippet ${70 + index} on /key${index}.`);
    expect(text).toContain('and replace it');
    for (const any of spellings) expect(text).not.toContain(any);
  }
  const { page } = await open('/key0');
  expect(await page.locator('vite-error-overlay').count()).toBe(1);
  for (const any of spellings) expect(dev.output()).not.toContain(any);
  expect(count(/The API key was found in snippet 70/)).toBe(1);
  expect(dev.output()).toMatch(/published-key/);
  service.put(70, 'clean');
  await page.locator('#s70', { hasText: 'clean' }).waitFor({ timeout: 60_000 });
  // A failure that was over is logged again.
  service.put(70, key);
  await page.locator('vite-error-overlay').waitFor({ state: 'attached', timeout: 60_000 });
  expect(count(/The API key was found in snippet 70/)).toBe(2);
});
