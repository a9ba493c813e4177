import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { violationsOf } from '../../support/accessibility.ts';
import { startBrowser } from '../../support/browser.ts';
import { freePort } from '../../support/free-port.ts';

const phone = { width: 390, height: 844 };
let playground: ChildProcess;
let output = '';
let browser: Browser;
/** Signed in on the website with the link from the terminal. */
let context: BrowserContext;
let link: string;
/** The heading of the page that the link opened. */
let landedOn: string;
let page: Page;
let siteUrl: string;
let websiteUrl: string;

beforeAll(async () => {
  const [site, website, api] = [await freePort(), await freePort(), await freePort()];
  playground = spawn(
    process.execPath,
    [
      join(import.meta.dirname, '../../../playground/start.ts'),
      ...['--fresh', `--site-port=${site}`, `--website-port=${website}`, `--api-port=${api}`],
    ],
    { env: { ...process.env, NO_COLOR: '1' }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  for (const stream of [playground.stdout, playground.stderr]) stream?.on('data', (text) => (output += text));
  browser = await startBrowser();
  context = await browser.newContext();
  await vi.waitFor(() => expect(output).toContain('Ctrl-C ends all of it'), { timeout: 60_000 });
  siteUrl = `http://localhost:${site}`;
  websiteUrl = `http://localhost:${website}`;
  // Here instead of in a test: the link works once, and every page of the website needs the session.
  page = await context.newPage();
  link = /http:\/\/localhost:\d+\/login\/\S+/.exec(output)?.[0] ?? '';
  await page.goto(link);
  landedOn = (await page.getByRole('heading', { level: 1 }).textContent()) ?? '';
  await page.close();
}, 400_000);

// Each test has its own page, so that each can run alone.
beforeEach(async () => {
  page = await context.newPage();
  return () => page.close();
});

afterAll(async () => {
  await browser?.close();
  const ended = once(playground, 'exit');
  playground.kill('SIGINT');
  const [exitCode] = await ended;
  // Windows has no SIGINT: a process is ended without notice.
  if (process.platform !== 'win32') expect(exitCode).toBe(0);
});

/** Whether the page is wider than the screen and scrolls sideways. */
function overflows(): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}

test('the link in the terminal signs in to the website once', async () => {
  expect(link).toContain(websiteUrl);
  expect(landedOn).toBe('Snippets');
  const stranger = await browser.newPage();
  await stranger.goto(link);
  expect(await stranger.getByRole('heading', { level: 1 }).textContent()).toBe('Sign in');
  await stranger.close();
});

test('a new link is written to the terminal when the sign-in page is asked for one', async () => {
  const stranger = await browser.newContext();
  const opened = await stranger.newPage();
  await opened.goto(websiteUrl);
  await opened.getByRole('button', { name: 'Write a new link to the terminal' }).click();
  await opened.getByText('A new link is in the terminal.').waitFor();
  await vi.waitFor(() => expect(output).toContain('A new login link: '), 60_000);
  await opened.goto(/A new login link: (\S+)/.exec(output)?.[1] ?? '');
  expect(await opened.getByRole('heading', { level: 1 }).textContent()).toBe('Snippets');
  await stranger.close();
});

test('a snippet is edited from its page, previewed, published, and shown on the page', async () => {
  await page.goto(`${siteUrl}/pricing/`);
  expect(await page.getByText('The winter roast is here.').count()).toBe(1);
  await page.getByRole('link', { name: '41' }).click();
  const words = `Words of ${Date.now()}`;
  await page.getByLabel('Content').fill(`<aside aria-label="Announcement"><p>${words}</p></aside>`);
  // Without a click: the preview follows what is typed.
  await page.frameLocator('iframe[data-preview]').getByText(words).waitFor();
  await page.getByRole('button', { name: 'Publish' }).click();
  const notice = page.getByText(/on the site \d+\.\d s after the click/);
  await notice.waitFor({ timeout: 60_000 });
  expect(await notice.textContent()).toMatch(/by a refresh \(the last full build took \d+\.\d s\)/);
  await page.frameLocator('iframe.page').getByText(words).waitFor();
  await page.getByRole('link', { name: 'open the page' }).click();
  expect(page.url()).toBe(`${siteUrl}/pricing/`);
  expect(await page.getByText(words).count()).toBe(1);
});

test('an island is hydrated and shows a snippet in its children', async () => {
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(`${siteUrl}/brew/`);
  // Astro removes this attribute when the island is hydrated.
  await page.locator('astro-island:not([ssr])').waitFor();
  await page.getByRole('button', { name: 'Start' }).click();
  await page.getByText(/seconds left/).waitFor();
  expect(await page.locator('section.card').textContent()).toContain('Shipping is free from 40 €.');
  expect(problems).toEqual([]);
});

test('with an expired subscription the website shows the 402 in detail, and the site stays as it was', async () => {
  await page.goto(`${websiteUrl}/account`);
  await page.getByRole('button', { name: 'Let it expire' }).click();
  await page.getByRole('button', { name: 'Update the site' }).click();
  await page.getByText('the site could not be updated').waitFor({ timeout: 60_000 });
  const said = (await page.locator('pre').textContent()) ?? '';
  expect(said).toContain('402 Payment Required [payment-required]');
  expect(said).toContain('The subscription of Northwind Coffee has expired.');
  expect(said).toContain("The organization's free trial or subscription has expired.");
  expect((await fetch(`${siteUrl}/pricing/`)).status).toBe(200);
  await page.goto(`${websiteUrl}/account`);
  await page.getByRole('button', { name: 'Renew it' }).click();
  await page.getByRole('button', { name: 'Update the site' }).click();
  await page.getByText(/on the site \d+\.\d s after the click/).waitFor({ timeout: 60_000 });
});

test('the website lists the requests of the build', async () => {
  await page.goto(`${websiteUrl}/requests`);
  expect(await page.getByRole('row').filter({ hasText: 'render' }).count()).toBeGreaterThan(9);
});

const websitePages = [
  '/snippets',
  '/snippets/43',
  '/keys',
  '/requests',
  '/faults',
  '/account',
  '/problems/not-found',
];
const sitePages = ['/', '/pricing/', '/blog/', '/blog/grinding-at-home/', '/visit/', '/brew/', '/legal/'];

test.for([
  ['a desktop', { width: 1280, height: 900 }],
  ['a phone', phone],
] as const)('on %s, every page is accessible and fits the screen', async ([, viewport]) => {
  await page.setViewportSize(viewport);
  for (const url of [
    ...websitePages.map((path) => websiteUrl + path),
    ...sitePages.map((path) => siteUrl + path),
  ]) {
    await page.goto(url);
    expect(await violationsOf(page), url).toBe('');
    expect(await overflows(), url).toBe(false);
  }
});

test('with the keyboard alone, the content is one key away, and a snippet can be found and opened', async () => {
  await page.goto(`${websiteUrl}/snippets`);
  await page.keyboard.press('Tab');
  expect(await page.locator(':focus').textContent()).toBe('Skip to the content');
  await page.getByLabel('Search by name or id').focus();
  await page.keyboard.type('legal');
  await page.keyboard.press('Enter');
  await page.getByText('1 snippet', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Legal notice' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Legal notice' }).waitFor();
});
