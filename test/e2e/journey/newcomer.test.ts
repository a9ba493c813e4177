import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { BrowserContext, FrameLocator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { freePort } from '../../support/http/free-port.ts';
import { violationsOf } from '../../support/tools/accessibility.ts';
import { sharedBrowser } from '../../support/tools/browser.ts';
import { pictureOf } from '../../support/tools/screenshot.ts';

const patience = { timeout: 60_000 };
let playground: ChildProcess;
let output = '';
const browser = await sharedBrowser();
/** Signed in to the website with the link from the terminal. */
let context: BrowserContext;
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
  context = await browser.newContext();
  await vi.waitFor(() => expect(output).toContain('Ctrl-C ends all of it'), { timeout: 60_000 });
  siteUrl = `http://localhost:${site}`;
  websiteUrl = `http://localhost:${website}`;
  // Not in a test: the link works once, and every page of the website needs the session.
  page = await context.newPage();
  const link = /http:\/\/localhost:\d+\/login\/\S+/.exec(output)?.[0] ?? '';
  await page.goto(link);
  await page.getByRole('heading', { level: 1, name: 'Snippets' }).waitFor();
  await page.close();
}, 400_000);

// Each test has its own page, so that each can run alone.
beforeEach(async () => {
  page = await context.newPage();
  return () => page.close();
});

afterAll(async () => {
  const ended = once(playground, 'exit');
  playground.kill('SIGINT');
  const [exitCode] = await ended;
  // Windows has no SIGINT: the process is killed.
  if (process.platform !== 'win32') expect(exitCode).toBe(0);
});

test('a snippet is edited from its page, beside its preview, published, and seen by a reader', async () => {
  const picture = pictureOf('playground.png');
  await page.setViewportSize({ width: 1120, height: 830 });
  await page.goto(`${siteUrl}/pricing/`);
  expect(await page.getByText('The winter roast is here.').count()).toBe(1);
  await page.getByRole('link', { name: 'Announcement banner' }).click();
  const words = 'Autumn roast';
  await page
    // The code editor, or the text area until it is there.
    .getByRole('textbox', { name: 'Content' })
    .fill(
      `<aside aria-label="Announcement">\n  <p>${words}: walnut, honey, a long finish. <a href="/pricing/">Taste it</a>.</p>\n</aside>`,
    );
  // The preview follows without a click.
  await page.frameLocator('iframe[data-preview]').getByText(words).waitFor();
  // The page stays that from which the snippet was opened.
  await page.frameLocator('iframe[data-preview]').getByRole('heading', { name: 'Pricing' }).waitFor();
  await picture.add(page);
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByText(/Live after \d+\.\d s/).waitFor(patience);
  await page.frameLocator('iframe.page').getByText(words).waitFor();
  // The same as before publishing.
  await page.getByText('As on /pricing/, in its place and with its styles.').waitFor();
  await page.getByRole('link', { name: 'Open the page' }).click();
  expect(page.url()).toBe(`${siteUrl}/pricing/`);
  expect(await page.getByText(words).count()).toBe(1);
  const reader = await browser.newPage({ viewport: { width: 740, height: 340 } });
  await reader.goto(siteUrl);
  await reader.getByText(words).waitFor();
  await picture.add(reader);
  await picture.write(reader, { width: 1280, height: 1000 });
  await reader.close();
});

test.for([
  ['the legal notice', 44, '/legal/', 'VAT number'],
  ['a price card', 43, '/pricing/', 'Two bags a month'],
  ['the banner', 41, '/visit/', 'Autumn roast'],
] as const)(
  'the preview shows %s as on the page of the site, on a desktop and on a phone, and names that page',
  async ([, id, path, words]) => {
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.goto(`${websiteUrl}/snippets/${id}?page=${path}`);
    await page.getByText(`As on ${path}, in its place and with its styles.`).waitFor();
    const boxOf = (scope: Page | FrameLocator) =>
      scope
        .getByText(words)
        .first()
        .evaluate((element) => {
          const { x, width, height } = element.getBoundingClientRect();
          return { x, width, height };
        });
    const previewed = [];
    for (const width of ['Desktop', 'Phone']) {
      await page.getByRole('radio', { name: width }).check();
      previewed.push(await boxOf(page.frameLocator('iframe[data-preview]')));
    }
    await page.goto(siteUrl + path);
    const shown = [await boxOf(page)];
    await page.setViewportSize({ width: 390, height: 900 });
    shown.push(await boxOf(page));
    expect(previewed).toEqual(shown);
  },
);

test('the preview shows what a draft leaves open on its page, and runs no scripts', async () => {
  await page.goto(`${websiteUrl}/snippets/42`);
  const frame = page.frameLocator('iframe[data-preview]');
  const content = () => page.getByLabel('Content', { exact: true });
  await frame.getByText('Kiambu, Kenya').waitFor();
  await content().fill('Shipping is <!-- free');
  await frame.getByText('Kiambu, Kenya').waitFor({ state: 'detached' });
  await content().fill('<strong>free from 25 €. <a href="/pricing/">More');
  await frame.getByRole('link', { name: 'Kiambu, Kenya' }).waitFor();
  await content().fill('<b>bold</b><script>parent.document.title = document.title = "ran"</script>');
  await frame.getByText('bold', { exact: true }).waitFor();
  expect(await page.title()).toContain('Free-shipping line');
  expect(await frame.locator('title').textContent()).not.toBe('ran');
  // The frame is no page of the history.
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.goto(`${websiteUrl}/keys`);
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Free-shipping line' }).waitFor();
  await page.getByRole('link', { name: 'Discard draft…' }).click();
  await page.getByRole('button', { name: 'Discard it' }).click();
});

test('with an expired subscription the site stays as it was, the website says what to do, and changes arrive once it is renewed', async () => {
  const words = `Words of ${Date.now()}`;
  const content = () => page.getByLabel('Content', { exact: true });
  const account = await context.newPage();
  await account.goto(`${websiteUrl}/account`);
  await account.getByRole('button', { name: 'Let it expire' }).click();
  await page.goto(`${websiteUrl}/snippets/41`);
  await content().fill(`<aside aria-label="Announcement"><p>${words}</p></aside>`);
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByText('The subscription has expired.').waitFor(patience);
  await page.getByText('Trying again').waitFor();
  const said = (await page.locator('[data-publication] pre').textContent()) ?? '';
  expect(said).toContain('402 Payment Required [payment-required]');
  expect(said).toContain('The subscription of Northwind Coffee has expired.');
  expect(said).toContain("The organization's free trial or subscription has expired.");
  expect(await (await fetch(`${siteUrl}/pricing/`)).text()).not.toContain(words);
  await content().fill('<p>the next text</p>');
  await account.getByRole('button', { name: 'Renew it' }).click();
  // Closing a page while it loads may hang.
  await account.getByRole('button', { name: 'Let it expire' }).waitFor();
  await account.close();
  await page.getByText(/Live after \d+\.\d s/).waitFor(patience);
  await page.frameLocator('iframe.page').getByText(words).waitFor();
  expect(await page.locator('#draft').inputValue()).toBe('<p>the next text</p>');
  await page.getByText(/Shown on \d+ pages/).click();
  await page.getByRole('status').getByRole('link', { name: '/pricing/' }).waitFor();
});

test('after Unpublish, the website says at once which page still shows the snippet, and a publish ends that', async () => {
  await page.goto(`${websiteUrl}/snippets/47/unpublish`);
  await page.getByRole('button', { name: 'Unpublish it' }).click();
  const cause = '“Opening hours” is not published, but /visit/ shows it.';
  await page.getByText(cause).waitFor(patience);
  await page.goto(`${websiteUrl}/keys`);
  await page.getByText(cause).waitFor();
  await page.getByRole('link', { name: 'Publish it' }).click();
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByText(/Live after \d+\.\d s/).waitFor(patience);
});

test('while the service fails, the website says so within three seconds, and lists the answers', async () => {
  await page.goto(`${websiteUrl}/faults`);
  await page.getByLabel('Requests that fail, in percent').fill('100');
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.goto(`${websiteUrl}/snippets/42`);
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByText('The service answers 503.').waitFor({ timeout: 5_000 });
  await page.goto(`${websiteUrl}/requests`);
  await page.getByRole('cell', { name: '503' }).first().waitFor();
  await page.goto(`${websiteUrl}/faults`);
  await page.getByRole('button', { name: 'No faults' }).click();
  await page.goto(`${websiteUrl}/snippets/42`);
  await page.getByText(/Live after \d+\.\d s/).waitFor(patience);
});

test.for([
  ['Shipping is\n<!-- free', 'Line 2', 'leaves a comment open, which swallows the rest of the page.'],
  ['<strong>free from 25 €. <a href="/pricing/">More', 'Line 1', 'leaves <strong> and <a> open,'],
] as const)(
  'what breaks a page although it was published is shown beside "Live": %j',
  async ([draft, line, flaw]) => {
    await page.goto(`${websiteUrl}/snippets/42`);
    const before = await page.locator('#draft').inputValue();
    const publish = async (content: string) => {
      await page.getByLabel('Content', { exact: true }).fill(content);
      await page.getByRole('button', { name: 'Publish', exact: true }).click();
      const anyway = page.getByRole('button', { name: 'Publish it anyway' });
      const live = page.getByText(/Live after \d+\.\d s/);
      await anyway.or(live).first().waitFor(patience);
      if (await anyway.isVisible()) await anyway.click();
      await live.waitFor(patience);
    };
    await publish(draft);
    const warning = page.locator('[data-publication] .findings li');
    await warning.filter({ hasText: line }).filter({ hasText: flaw }).waitFor();
    expect(await violationsOf(page)).toBe('');
    await publish(before);
    await warning.waitFor({ state: 'detached' });
  },
);

const sitePages = ['/', '/pricing/', '/blog/', '/blog/grinding-at-home/', '/visit/', '/brew/', '/legal/'];

test.for([
  ['a desktop', 'dark', { width: 1280, height: 900 }],
  ['a phone', 'light', { width: 390, height: 844 }],
  ['a phone', 'dark', { width: 390, height: 844 }],
] as const)(
  'on %s in %s colors, every page of the site is accessible and fits the screen',
  async ([, colorScheme, viewport]) => {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    for (const path of sitePages) {
      await page.goto(siteUrl + path);
      expect(await violationsOf(page), path).toBe('');
      const background = 'getComputedStyle(document.documentElement).backgroundColor';
      const dark = 'rgb(29, 21, 16)';
      expect((await page.evaluate(background)) === dark, path).toBe(colorScheme === 'dark');
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await page.evaluate(overflow), path).toBe(0);
    }
  },
);

test('with the keyboard alone, the content is one key away, and a snippet can be found and opened', async () => {
  await page.goto(`${websiteUrl}/snippets`);
  await page.keyboard.press('Tab');
  expect(await page.locator(':focus').textContent()).toBe('Skip to the content');
  await page.getByLabel('Search names, texts and ids').focus();
  await page.keyboard.type('legal');
  await page.keyboard.press('Enter');
  await page.getByText('1 snippet', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Legal notice' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Legal notice' }).waitFor();
});
