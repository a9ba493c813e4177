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
    expect(await page.getByText('Not saved yet').count()).toBe(1);
  });

  test('leaving is asked about while there are changes, and not any more once they are saved', async () => {
    await open('/snippets/42');
    await content().fill('a new text');
    expect(await askedOnLeaving('API keys')).toBe('beforeunload');
    expect(await content().inputValue()).toBe('a new text');
    await page.getByRole('button', { name: 'Save the draft' }).click();
    await page.getByText('The draft is saved.').waitFor();
    await page.getByText('unpublished changes').waitFor();
    expect(await askedOnLeaving('API keys')).toBeUndefined();
    await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
  });

  test('leaving is asked about after a refused publish', async () => {
    await open('/snippets/42');
    await content().fill('{% if x %}');
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByText('not closed').waitFor();
    // A browser asks only a person who has done something on the page.
    await content().press('End');
    expect(await askedOnLeaving('API keys')).toBe('beforeunload');
  });

  test('text that was typed when the session had ended is offered after signing in again', async () => {
    await open('/snippets/43');
    await content().fill('typed too late');
    await context.clearCookies();
    await page.getByRole('button', { name: 'Save the draft' }).click();
    await page.getByText('is kept in this browser').waitFor();
    await page.goto(service.loginLink(organizationOf(service)));
    await open('/snippets/43');
    expect(await content().inputValue()).not.toContain('typed too late');
    await page.getByRole('button', { name: 'Bring it back' }).click();
    expect(await content().inputValue()).toBe('typed too late');
    await page.getByRole('button', { name: 'Save the draft' }).click();
    await page.getByText('The draft is saved.').waitFor();
    await open('/snippets/43');
    expect(await page.getByRole('button', { name: 'Bring it back' }).count()).toBe(0);
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
    publisher?.stop();
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
