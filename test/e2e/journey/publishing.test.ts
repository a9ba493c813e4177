import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { type Service, startService } from '../../../playground/service/index.ts';
import type { Publication, Publisher } from '../../../playground/service/publisher.ts';
import { violationsOf } from '../../support/accessibility.ts';
import { sharedBrowser } from '../../support/browser.ts';

// The website, with a site that does as the test says.

const organizationOf = ({ store }: Service) => store.organizations.list()[0]?.id ?? 0;

/** What a dialog of the browser asks when a link is clicked, and then not answered with "leave". */
async function askedOnLeaving(link: string): Promise<string | undefined> {
  let asked: string | undefined;
  page.once('dialog', async (dialog) => {
    asked = dialog.type();
    await dialog.dismiss();
  });
  await page.getByRole('link', { name: link }).click();
  return asked;
}

const browser = await sharedBrowser();
let page: Page;
let context: BrowserContext;
let latest: Publication | undefined;
const publisher: Publisher = {
  siteUrl: 'http://localhost:1',
  publish() {
    latest = { state: 'running', startedAt: Date.now(), output: '' };
  },
  latest: () => latest,
  shown: (id) => ({ pages: id === 41 ? ['index.html', 'pricing/index.html'] : [], entries: [] }),
  previewHead: () => '',
  apiKey: () => siteKey.secret,
};
const content = () => page.getByLabel('Content', { exact: true });
const open = (path: string) => page.goto(service.websiteUrl + path);

const service = await startService({ publisher });
const { key, secret } = service.store.keys.create(organizationOf(service), 'secret', 'Site');
const siteKey = { id: key.id, secret };
afterAll(() => service.close());
beforeEach(async () => {
  latest = undefined;
  context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
  page = await context.newPage();
  await page.goto(service.loginLink(organizationOf(service)));
  return () => context.close();
});

test('what is typed is saved by itself, and is there after loading the page again, Back, and signing in again', async () => {
  await open('/snippets/42');
  await content().fill('a new text');
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.reload();
  expect(await content().inputValue()).toBe('a new text');
  await content().fill('a newer text');
  await page.getByText('Saved', { exact: true }).waitFor();
  expect(await askedOnLeaving('API keys')).toBeUndefined();
  await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
  await page.goBack();
  expect(await content().inputValue()).toBe('a newer text');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.goto(service.loginLink(organizationOf(service)));
  await open('/snippets/42');
  expect(await content().inputValue()).toBe('a newer text');
  await page.getByRole('link', { name: 'Discard draft…' }).click();
  await page.getByRole('button', { name: 'Discard it' }).click();
  await page.getByRole('heading', { level: 1, name: 'Free-shipping line' }).waitFor();
  expect(await content().inputValue()).toContain('free from 40');
});

test('a publish while a draft is being saved publishes what was typed', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { promise: saved, resolve: noteSaved } = Promise.withResolvers<void>();
  await page.route('**/draft', async (route) => {
    const response = await route.fetch();
    noteSaved();
    await answered;
    await route.fulfill({ response });
  });
  await open('/snippets/44');
  await content().fill('<p>one</p>');
  await saved;
  await content().fill('<p>one, and more</p>');
  await page.getByRole('button', { name: 'Publish' }).click();
  answer();
  await page.waitForURL('**/snippets/44?published=');
  const published = service.store.snippets.published(organizationOf(service), 44);
  expect(published?.content).toBe('<p>one, and more</p>');
});

test('what is typed after the session has ended is not saved, which is said, until one has signed in again', async () => {
  await open('/snippets/43');
  await context.clearCookies();
  await content().fill('typed too late');
  await page.getByText('Not saved: you are signed out.').waitFor();
  expect(await askedOnLeaving('API keys')).toBe('beforeunload');
  const other = await context.newPage();
  await other.goto(service.loginLink(organizationOf(service)));
  await other.close();
  await page.getByText('Saved', { exact: true }).waitFor();
  await open('/snippets/43');
  expect(await content().inputValue()).toBe('typed too late');
  service.store.snippets.rollBack(organizationOf(service), 43, 1);
});

test('a template with an error is not published: a banner has the focus and says what to fix, on a phone too', async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await open('/snippets/42');
  await content().fill('Shipping is free\nfrom {{ price');
  await page.getByRole('button', { name: 'Publish' }).click();
  const banner = page.getByText('Not published: line 2: `{{ price` is not closed. Add `}}`.');
  await banner.waitFor();
  expect(await page.evaluate('document.activeElement.textContent')).toContain('Not published');
  expect(await content().inputValue()).toContain('{{ price');
});

test('times are those of the browser', async () => {
  const local = await browser.newContext({ timezoneId: 'Asia/Tokyo' });
  page = await local.newPage();
  await page.goto(service.loginLink(organizationOf(service)));
  latest = { state: 'failed', startedAt: 0, retryAt: Date.UTC(2026, 0, 1, 12, 30), output: 'why' };
  await open('/snippets');
  await page.getByText('Trying again at 21:30.').waitFor();
  await page
    .getByText(/seconds? ago|minutes? ago/)
    .first()
    .waitFor();
  await local.close();
});

test('the embed is copied with the params that are typed', async () => {
  await open('/snippets/43');
  await page.getByLabel('Sample params').fill('{"plan":"team"}');
  const component = '<Snippet id={43} params={{"plan":"team"}} />';
  await page.getByText(component).waitFor();
  await page.getByRole('button', { name: 'Copy: In .astro and .mdx files' }).click();
  await page.getByText('Copied').waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(component);
});

test.for([
  ['a desktop', 'light', { width: 1280, height: 900 }],
  ['a phone', 'dark', { width: 390, height: 844 }],
] as const)(
  'on %s in %s colours, every page is accessible and fits the screen',
  async ([, colorScheme, viewport]) => {
    const { snippets } = service.store;
    const organization = organizationOf(service);
    const { id } = snippets.create(organization, { name: 'A draft', draft: '<p>one</p>' });
    for (const draft of ['<p>one</p>', `<p>${'averylongword'.repeat(20)}</p>`]) {
      snippets.save(organization, id, { name: 'A draft', draft, sample: '{"plan":"pro"}' });
      snippets.publish(organization, id);
    }
    snippets.save(organization, id, { name: 'A draft', draft: 'changed', sample: '{"plan":"pro"}' });
    const { webhooks } = service.store;
    webhooks.setUrl(organization, 'https://example.com/');
    for (const state of ['delivered', 'failed'] as const) {
      webhooks.record(webhooks.add(organization, 'snippet.published', id).id, state, 'ECONNREFUSED');
    }
    latest = { state: 'failed', startedAt: 0, retryAt: Date.now(), output: 'why' };
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    for (const path of [
      ...[
        '/snippets',
        `/snippets/${id}`,
        `/snippets/${id}?saved`,
        `/snippets/${id}/versions/2`,
        `/snippets/${id}/versions/1/roll-back`,
        '/snippets/41/delete',
      ],
      ...[
        `/snippets/${id}/unpublish`,
        '/keys',
        `/keys/${siteKey.id}/revoke`,
        '/requests',
        '/account',
        '/account/webhook',
        '/faults',
        '/problems/not-found',
      ],
    ]) {
      await open(path);
      await page.evaluate('for (const part of document.querySelectorAll("details")) part.open = true');
      expect(await violationsOf(page), path).toBe('');
      const width = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
      expect(await page.evaluate(width), path).toBe(0);
    }
    webhooks.remove(organization);
  },
);
