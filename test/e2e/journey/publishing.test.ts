import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Service, startService } from '../../../playground/service/index.ts';
import type { Publication, Publisher } from '../../../playground/service/publisher.ts';
import { createSitePublisher, type SitePublisher } from '../../../playground/site-publisher.ts';
import { violationsOf } from '../../support/accessibility.ts';
import { startBrowser } from '../../support/browser.ts';
import { type FolderServer, serveFolder } from '../../support/folder-server.ts';
import { pictureOf } from '../../support/screenshot.ts';

let browser: Browser;
let page: Page;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());

async function signIn(service: Service, context: BrowserContext): Promise<Page> {
  const opened = await context.newPage();
  await opened.goto(service.loginLink(organizationOf(service)));
  return opened;
}

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

describe('on the website, with a site that does as the test says,', () => {
  let service: Service;
  let context: BrowserContext;
  let latest: Publication | undefined;
  let siteKey: { id: number; secret: string };
  const publisher: Publisher = {
    siteUrl: 'http://localhost:1',
    publish() {
      latest = { state: 'running', how: 'refresh', startedAt: Date.now(), output: '' };
    },
    latest: () => latest,
    shown: (id) => ({ pages: id === 41 ? ['index.html', 'pricing/index.html'] : [], entries: [] }),
    previewHead: () => '',
    apiKey: () => siteKey.secret,
  };
  const content = () => page.getByLabel('Content', { exact: true });
  const open = (path: string) => page.goto(service.websiteUrl + path);

  beforeAll(async () => {
    service = await startService({ publisher });
    const { key, secret } = service.store.keys.create(organizationOf(service), 'secret', 'Site');
    siteKey = { id: key.id, secret };
  });
  afterAll(() => service?.close());
  beforeEach(async () => {
    latest = undefined;
    context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    page = await signIn(service, context);
    return () => context.close();
  });

  test('text that is typed while a publish is under way stays until the site shows it, and after', async () => {
    await open('/snippets/41');
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('The site is being updated.').waitFor();
    await content().fill('the next text');
    latest = { state: 'done', how: 'build', startedAt: 0, finishedAt: 1_500, output: '' };
    await page.getByText('It is on the site 1.5 s after the click').waitFor();
    expect(await content().inputValue()).toBe('the next text');
    await page.getByText('Saved', { exact: true }).waitFor();
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
    await page.getByRole('link', { name: 'Discard the draft…' }).click();
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

  test('a refused publish keeps what was typed', async () => {
    await open('/snippets/42');
    await content().fill('{% if x %}');
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('not closed').waitFor();
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.reload();
    expect(await content().inputValue()).toBe('{% if x %}');
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

  test('of two tabs, the second is told before it overwrites what the first has saved', async () => {
    await open('/snippets/45');
    const other = await context.newPage();
    await other.goto(`${service.websiteUrl}/snippets/45`);
    await other.getByLabel('Content', { exact: true }).fill('from the first tab');
    await other.getByText('Saved', { exact: true }).waitFor();
    await other.close();
    await content().fill('from the second tab');
    await page.getByText('Not saved: the draft was changed elsewhere.').waitFor();
    await page.getByRole('button', { name: 'Save the draft' }).click();
    await page.getByText('Saving once more replaces the other draft.').waitFor();
    await content().press('End');
    const draft = () => service.store.snippets.get(organizationOf(service), 45)?.draft;
    expect(draft()).toBe('from the first tab');
    await page.getByRole('button', { name: 'Save the draft' }).click();
    await page.getByText('The draft is saved.').waitFor();
    expect(draft()).toBe('from the second tab');
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

  test('deleting names the pages that show the snippet', async () => {
    await open('/snippets/41');
    await page.getByRole('link', { name: 'Delete…' }).click();
    await page.getByText('The site shows it on 2 pages.').waitFor();
    expect(await page.getByRole('listitem').filter({ hasText: '/pricing/' }).count()).toBe(1);
    await page.getByRole('button', { name: 'Delete it' }).click();
    await page.getByText('Snippet 41 is deleted.').waitFor();
    const { snippets } = service.store;
    expect(snippets.get(organizationOf(service), 41)).toBeUndefined();
    snippets.create(organizationOf(service), { id: 41, name: 'Announcement banner' });
  });

  test('revoking the key that the site is built with is asked about by name', async () => {
    await open('/keys');
    await page.getByRole('link', { name: 'Revoke Site' }).click();
    await page.getByText('The site is built with this key.').waitFor();
    await page.getByRole('link', { name: 'Cancel' }).click();
    expect(service.store.keys.find(siteKey.secret)).toBeDefined();
  });

  test.for(
    [
      ['a desktop', { width: 1280, height: 900 }],
      ['a phone', { width: 390, height: 844 }],
    ].flatMap(([device, viewport]) =>
      (['light', 'dark'] as const).map((scheme) => [device, scheme, viewport] as const),
    ) as (readonly [string, 'light' | 'dark', { width: number; height: number }])[],
  )(
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
      latest = { state: 'failed', how: 'refresh', startedAt: 0, retryAt: Date.now(), output: 'why' };
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      for (const path of [
        ...[
          '/snippets',
          `/snippets/${id}`,
          `/snippets/${id}?saved`,
          `/snippets/${id}/versions/1`,
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
});

describe('on the website, with the site of the playground,', () => {
  const folder = join(import.meta.dirname, `../.sites/publishing-${process.pid}`);
  const served = join(folder, 'site');
  let service: Service;
  let publisher: SitePublisher;
  let server: FolderServer;
  let context: BrowserContext;

  beforeAll(async () => {
    await mkdir(folder, { recursive: true });
    server = await serveFolder(served);
    let environment: Record<string, string> = {};
    publisher = createSitePublisher({
      siteUrl: server.url,
      environment: () => environment,
      served,
    });
    service = await startService({ publisher });
    const authority = join(folder, 'authority.pem');
    await writeFile(authority, service.certificateAuthority);
    environment = {
      SNIPPETS_API_KEY: service.store.keys.create(organizationOf(service), 'secret', 'Site').secret,
      SNIPPETS_RENDER_BASE_URL: service.renderBaseUrl,
      SNIPPETS_RETRIEVE_BASE_URL: service.retrieveBaseUrl,
      NODE_EXTRA_CA_CERTS: authority,
    };
    publisher.publish();
    expect((await publisher.settled())?.state).toBe('done');
    context = await browser.newContext();
    page = await signIn(service, context);
  });

  afterAll(async () => {
    await publisher?.stop();
    await context?.close();
    await server?.close();
    await service?.close();
    await rm(folder, { recursive: true, force: true });
  });

  test('a publish during an expired subscription arrives by itself once it is renewed', async () => {
    const words = `Words of ${Date.now()}`;
    service.store.organizations.setSubscription(organizationOf(service), 'expired');
    await page.goto(`${service.websiteUrl}/snippets/41`);
    await page.getByLabel('Content', { exact: true }).fill(`<p>${words}</p>`);
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('arrives by itself').waitFor({ timeout: 60_000 });
    await page.getByLabel('Content', { exact: true }).fill('<p>the next text</p>');
    const account = await context.newPage();
    await account.goto(`${service.websiteUrl}/account`);
    await account.getByRole('button', { name: 'Renew it' }).click();
    // A page that is closed while it loads may never close.
    await account.getByRole('button', { name: 'Let it expire' }).waitFor();
    await account.close();
    await page.getByText(/It is on the site \d+\.\d s after the click/).waitFor({ timeout: 60_000 });
    await page.frameLocator('iframe.page').getByText(words).waitFor();
    expect(await page.getByLabel('Content', { exact: true }).inputValue()).toBe('<p>the next text</p>');
    await page.getByText(/Shown on \d+ pages/).click();
    await page.getByRole('status').getByRole('link', { name: '/pricing/' }).waitFor();
  }, 180_000);

  test('a text is edited beside its preview, published, and seen by a reader of the site', async () => {
    const picture = pictureOf('playground.png');
    const words = 'Autumn roast';
    await page.setViewportSize({ width: 1120, height: 830 });
    await page.goto(`${service.websiteUrl}/snippets/41`);
    await page
      .getByLabel('Content', { exact: true })
      .fill(
        `<aside aria-label="Announcement">\n  <p>${words}: walnut, honey, a long finish. <a href="/pricing/">Taste it</a>.</p>\n</aside>`,
      );
    await page.frameLocator('iframe[data-preview]').getByText(words).waitFor();
    await picture.add(page);
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText(/It is on the site \d+\.\d s after the click/).waitFor({ timeout: 60_000 });
    const reader = await browser.newPage({ viewport: { width: 740, height: 340 } });
    await reader.goto(server.url);
    await reader.getByText(words).waitFor();
    await picture.add(reader);
    await picture.write(reader, { width: 1280, height: 1000 });
    await reader.close();
  }, 180_000);

  test('the preview looks as on the site', async () => {
    await page.goto(`${service.websiteUrl}/snippets/41`);
    const colour = (frame: string) =>
      page
        .frameLocator(frame)
        .locator('html')
        .evaluate('getComputedStyle(document.documentElement).backgroundColor');
    expect(await colour('iframe[data-preview]')).toBe('rgb(251, 247, 242)');
    await page.getByLabel('Content', { exact: true }).fill('<p>typed</p>');
    await page.frameLocator('iframe[data-preview]').getByText('typed').waitFor();
    expect(await colour('iframe[data-preview]')).toBe('rgb(251, 247, 242)');
  });
});
