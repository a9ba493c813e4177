import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { startService } from '../../../playground/service/index.ts';
import type { Publisher } from '../../../playground/service/publisher.ts';
import { violationsOf } from '../../support/tools/accessibility.ts';
import { sharedBrowser } from '../../support/tools/browser.ts';

// The editor of a snippet on the website, used with the keyboard alone.

const publisher: Publisher = {
  siteUrl: 'http://localhost:1',
  organizationId: () => organization,
  publish() {},
  latest: () => undefined,
  shown: () => ({ pages: ['index.html'], entries: [], params: ['{"plan":"pro"}'], warnings: [] }),
  facts: () => ({
    url: 'http://localhost:1',
    paths: ['/', '/media/cup.svg', '/pricing/', '/site.css'],
    scripts: 'error',
    optional: new Map(),
  }),
  preview: async () => undefined,
  styles: async () => '',
  apiKey: () => undefined,
};

const browser = await sharedBrowser();
const service = await startService({ publisher });
const { snippets, organizations } = service.store;
const [{ id: organization } = { id: 0 }] = organizations.list();
let context: BrowserContext;
let page: Page;
let id: number;

const content = () => page.getByRole('textbox', { name: 'Content' });
const draft = () => page.locator('#draft').inputValue();
const published = () => snippets.get(organization, id)?.publishedContent;

/** Opens a new snippet with a text that is published. */
async function open(text: string, options: Parameters<typeof browser.newContext>[0] = {}): Promise<void> {
  context = await browser.newContext(options);
  page = await context.newPage();
  await page.goto(service.loginLink(organization));
  id = snippets.create(organization, { name: 'In the editor', draft: text }).id;
  snippets.publish(organization, id);
  await page.goto(`${service.websiteUrl}/snippets/${id}`);
}

afterAll(() => service.close());
beforeEach(() => () => context.close());

const slips = [
  ['a comment', 'Shipping is <!-- free', 'leaves a comment open'],
  ['bold and a link', '<strong>free. <a href="/pricing/">More', 'leaves <strong> and <a> open'],
  ['a script', '<script>alert(1)</script>', 'contains <script>, which the site refuses'],
] as const;

test.for(slips)(
  '%s is shown at its line while one types, and has to be confirmed before it is published',
  async ([, slip, flaw]) => {
    await open('one');
    await content().focus();
    await page.keyboard.press('ControlOrMeta+End');
    await page.keyboard.press('Enter');
    await page.keyboard.insertText(slip);
    const finding = page.locator('[data-checks] li', { hasText: 'Line 2' });
    await finding.getByText(flaw).waitFor();
    expect(await page.locator('.cm-lint-marker-error').count()).toBe(1);
    await page.getByRole('button', { name: 'Publish', exact: true }).press('Enter');
    await page.getByText('Not published yet: this would break the pages that show it.').waitFor();
    await page.getByRole('alert').getByText(flaw).waitFor();
    expect(published()).toBe('one');
    // The question has the focus.
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Publish it anyway');
    await page.keyboard.press('Enter');
    await page.waitForURL('**published=');
    expect(published()).toBe(`one\n${slip}`);
    await finding.getByText(flaw).waitFor();
  },
);

test.for(slips)('without scripts, %s has to be confirmed before it is published', async ([, slip, flaw]) => {
  await open('one', { javaScriptEnabled: false });
  await content().fill(slip);
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByRole('alert').getByText(flaw).waitFor();
  expect(published()).toBe('one');
  expect(await content().inputValue()).toBe(slip);
  await page.getByRole('button', { name: 'Publish it anyway' }).click();
  await page.waitForURL('**published=');
  expect(published()).toBe(slip);
});

test('markup is inserted by key or with the buttons, and Tab leaves the editor', async () => {
  await open('free shipping');
  await content().focus();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.press('ControlOrMeta+b');
  expect(await draft()).toBe('<strong>free shipping</strong>');

  await page.keyboard.press('ControlOrMeta+k');
  const dialog = page.getByRole('dialog', { name: 'Insert a link' });
  expect(await dialog.getByLabel('Text').inputValue()).toBe('free shipping');
  await page.keyboard.insertText('/pricing/?a="b"');
  await page.keyboard.press('Enter');
  const link = '<a href="/pricing/?a=&quot;b&quot;">free shipping</a>';
  await expect.poll(draft).toBe(`<strong>${link}</strong>`);
  // The focus is in the text again, behind what was inserted.
  await page.keyboard.insertText(' now');
  expect(await draft()).toBe(`<strong>${link} now</strong>`);

  await page.keyboard.press('ControlOrMeta+k');
  await page.keyboard.press('Escape');
  await page.locator('.cm-content:focus').waitFor();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText('one\ntwo');
  await page.keyboard.press('ControlOrMeta+A');
  await page.getByRole('button', { name: 'List' }).press('Enter');
  expect(await draft()).toBe('<ul>\n  <li>one</li>\n  <li>two</li>\n</ul>');
  await page.keyboard.press('ControlOrMeta+End');
  await page.getByRole('button', { name: '{{ plan }}' }).press('Enter');
  expect(await draft()).toMatch(/<\/ul>\{\{ plan \}\}$/);
  await page.getByRole('button', { name: 'Image…' }).press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.insertText('A cup');
  await page.keyboard.press('Enter');
  await expect.poll(draft).toMatch(/\}\}<img src="\/media\/cup\.svg" alt="A cup">$/);
  await expect.poll(() => snippets.get(organization, id)?.draft).toBe(await draft());

  await page.keyboard.press('Tab');
  expect(await page.locator('.cm-editor :focus').count()).toBe(0);
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('ControlOrMeta+z');
  expect(await draft()).toMatch(/\{\{ plan \}\}$/);
});

test('the text area stays where the code editor cannot be loaded', async () => {
  await open('one');
  await page.route('**/code-editor.js', (route) => route.abort());
  await page.reload();
  await content().fill('one <b>two</b>');
  await page.getByText('Saved', { exact: true }).waitFor();
  expect(snippets.get(organization, id)?.draft).toBe('one <b>two</b>');
});

test('what is typed before the code editor is there is in it, with the cursor behind', async () => {
  await open('one');
  const { promise: typed, resolve: load } = Promise.withResolvers<void>();
  await page.route('**/code-editor.js', (route) => typed.then(() => route.continue()));
  await page.reload({ waitUntil: 'commit' });
  await page.locator('#draft').focus();
  await page.keyboard.press('ControlOrMeta+End');
  await page.keyboard.insertText(' two');
  load();
  await page.locator('.cm-content:focus').waitFor();
  await page.keyboard.insertText(' three');
  expect(await draft()).toBe('one two three');
});

test('a closing tag that is typed whole is not closed twice', async () => {
  await open('');
  await content().focus();
  await page.keyboard.type('<b>x</b> {{ plan }} <ul><li>y</li></ul>');
  expect(await draft()).toBe('<b>x</b> {{ plan }} <ul><li>y</li></ul>');
});

test.for([
  ['a desktop', 'light', { width: 1280, height: 800 }],
  ['a desktop', 'dark', { width: 1280, height: 800 }],
  ['a phone', 'light', { width: 390, height: 844 }],
  ['a phone', 'dark', { width: 390, height: 844 }],
] as const)(
  'on %s in %s colors, the editor with errors and its dialogs are accessible and fit the screen',
  async ([, colorScheme, viewport]) => {
    await open('{% comment %}x{% endcomment %}\n<a class="y" href="/pricng/">{{ plan | upcsae }}</a><b>z\n', {
      colorScheme,
      viewport,
    });
    await page.locator('.cm-lint-marker-error').waitFor();
    const width = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await violationsOf(page)).toBe('');
    expect(await page.evaluate(width)).toBe(0);
    for (const name of ['Link…', 'Image…']) {
      await page.getByRole('button', { name }).click();
      expect(await violationsOf(page), name).toBe('');
      await page.keyboard.press('Escape');
    }
  },
);
