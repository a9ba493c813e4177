import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { type Service, startService } from '../../../playground/service/index.ts';
import type { Publication, Publisher } from '../../../playground/service/publisher.ts';
import { violationsOf } from '../../support/tools/accessibility.ts';
import { sharedBrowser } from '../../support/tools/browser.ts';

// The website, with a site that each test controls.

const organizationOf = ({ store }: Service) => store.organizations.list()[0]?.id ?? 0;

/** The type of the dialog that the browser shows when a link is clicked. It is dismissed. */
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
  organizationId: () => organizationOf(service),
  publish() {
    latest = { state: 'running', startedAt: Date.now(), output: '' };
  },
  latest: () => latest,
  shown: (id) => ({
    pages: id === 41 ? ['index.html', 'pricing/index.html'] : [],
    entries: [],
    params: [],
    warnings: [],
  }),
  facts: () => ({
    url: 'http://localhost:1',
    paths: ['/', '/pricing/'],
    scripts: 'error',
    optional: new Map(),
  }),
  preview: async () => undefined,
  styles: async () => '',
  apiKey: () => siteKey.secret,
};
const content = () => page.getByLabel('Content', { exact: true });
/** The field of the form, which the code editor fills. */
const draftField = () => page.locator('#draft');
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

test('text is saved while one types, and is there after a reload, Back, and signing in again', async () => {
  await open('/snippets/42');
  await content().fill('a new text');
  await page.getByText('Saved', { exact: true }).waitFor();
  await page.reload();
  expect(await draftField().inputValue()).toBe('a new text');
  await content().fill('a newer text');
  await page.getByText('Saved', { exact: true }).waitFor();
  expect(await askedOnLeaving('API keys')).toBeUndefined();
  await page.getByRole('heading', { level: 1, name: 'API keys' }).waitFor();
  await page.goBack();
  expect(await draftField().inputValue()).toBe('a newer text');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.goto(service.loginLink(organizationOf(service)));
  await open('/snippets/42');
  expect(await draftField().inputValue()).toBe('a newer text');
  await page.getByRole('link', { name: 'Discard draft…' }).click();
  await page.getByRole('button', { name: 'Discard it' }).click();
  await page.getByRole('heading', { level: 1, name: 'Free-shipping line' }).waitFor();
  expect(await draftField().inputValue()).toContain('free from 40');
  await page.getByRole('button', { name: 'Bring the discarded draft back' }).click();
  await page.getByText('unpublished changes').waitFor();
  expect(await draftField().inputValue()).toBe('a newer text');
});

test('a second tab says, open or while one types, that the draft was changed elsewhere; no text is lost', async () => {
  const other = await context.newPage();
  const textOf = (one: Page) => one.getByLabel('Content', { exact: true });
  const told = (one: Page) => one.getByText('The draft was changed elsewhere.').filter({ visible: true });
  const saved = () => service.store.snippets.get(organizationOf(service), 48)?.draft;
  await open('/snippets/48');
  await other.goto(`${service.websiteUrl}/snippets/48`);
  await textOf(other).fill('theirs');
  await other.getByText('Saved', { exact: true }).waitFor();
  // Nothing was typed in this tab. The message is in view.
  await told(page).waitFor();
  expect((await told(page).boundingBox())?.y).toBeLessThan(page.viewportSize()?.height ?? 0);
  await content().fill('mine');
  await page.getByText('Not saved: the draft was changed elsewhere.').waitFor();
  await page.getByText('The other draft', { exact: true }).click();
  expect(await page.getByText('theirs', { exact: true }).isVisible()).toBe(true);
  expect(saved()).toBe('theirs');
  expect(await askedOnLeaving('Load the other draft')).toBe('beforeunload');
  expect(await draftField().inputValue()).toBe('mine');
  const published = () => service.store.snippets.get(organizationOf(service), 48)?.published;
  const before = published();
  await page.getByRole('button', { name: 'Publish', exact: true }).click();
  await page.getByText('Not published yet: the draft was changed elsewhere.').waitFor();
  expect([published(), saved()]).toEqual([before, 'theirs']);
  await page.getByRole('button', { name: 'Save the draft' }).click();
  await page.getByText('The draft is saved.').waitFor();
  expect(saved()).toBe('mine');

  // Now the first tab gets the message, and loads the other text.
  await told(other).waitFor();
  await other.getByRole('link', { name: 'Load the other draft' }).click();
  await told(other).waitFor({ state: 'hidden' });
  expect(await other.locator('#draft').inputValue()).toBe('mine');
});

test('without scripts, saving a draft that was changed elsewhere gives a message, and saving again replaces it', async () => {
  const { snippets } = service.store;
  const organization = organizationOf(service);
  const { id } = snippets.create(organization, { name: 'Of two', draft: 'one' });
  const plain = await browser.newContext({ javaScriptEnabled: false });
  page = await plain.newPage();
  await page.goto(service.loginLink(organization));
  await open(`/snippets/${id}`);
  snippets.save(organization, id, { name: 'Of two', draft: 'theirs', sample: '{}' });
  await content().fill('mine');
  for (const draft of ['theirs', 'mine']) {
    await page.getByRole('button', { name: 'Save the draft' }).click();
    expect(await draftField().inputValue()).toBe('mine');
    expect(snippets.get(organization, id)?.draft).toBe(draft);
  }
  await page.getByText('The draft is saved.').waitFor();
  await plain.close();
});

test('without scripts a snippet is added, edited, previewed and published, and the page shows the progress', async () => {
  const plain = await browser.newContext({ javaScriptEnabled: false });
  page = await plain.newPage();
  await page.goto(service.loginLink(organizationOf(service)));
  await page.getByLabel('Name', { exact: true }).fill('Without scripts');
  await page.getByRole('button', { name: 'Add' }).click();
  await content().fill('<p>Plan {{ plan }}</p>');
  await page.getByText('Values for the preview, as JSON').click();
  await page.getByLabel('JSON object').fill('{"plan":"team"}');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByLabel('plan', { exact: true }).fill('pro');
  await page.getByRole('button', { name: 'Preview' }).click();
  const frame = page.frameLocator('iframe[title="Preview of Without scripts"]');
  await frame.getByText('Plan pro').waitFor();
  expect(await draftField().inputValue()).toBe('<p>Plan {{ plan }}</p>');
  await page.getByRole('button', { name: 'Save the draft' }).click();
  await page.getByText('It is not published: no page can show it yet.').waitFor();
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.getByText('Updating the site …').waitFor();
  const id = Number(/snippets\/(\d+)/.exec(page.url())?.[1]);
  const published = service.store.snippets.published(organizationOf(service), id);
  expect(published?.content).toBe('<p>Plan {{ plan }}</p>');
  await page.getByRole('link', { name: 'Look at how it goes' }).click();
  Object.assign(latest ?? {}, { state: 'done', finishedAt: Date.now() });
  // The page reloads without help.
  await page.getByText(/Live after \d+\.\d s/).waitFor();
  await plain.close();
});

test("only the site's organization sees and starts updates of the site", async () => {
  const [, theirs] = service.store.organizations.list();
  const other = await browser.newContext();
  const [snippet] = service.store.snippets.list(theirs?.id ?? 0);
  page = await other.newPage();
  await page.goto(service.loginLink(theirs?.id ?? 0));
  const failed: Publication = { state: 'failed', startedAt: 0, output: 'why' };
  latest = failed;
  for (const path of ['/snippets', '/keys', `/snippets/${snippet?.id}?published`, '/account']) {
    await open(path);
    expect(await page.locator('[data-publication]').count(), path).toBe(0);
  }
  expect(await page.getByRole('button', { name: 'Update the site' }).count()).toBe(0);
  expect((await page.goto(`${service.websiteUrl}/publication`))?.status()).toBe(404);
  await open(`/snippets/${snippet?.id}`);
  expect(await page.getByText('Where it shows').count()).toBe(0);
  await page.getByRole('button', { name: 'Publish' }).click();
  await page.waitForURL('**published=');
  expect(latest).toBe(failed);
  await other.close();
});

test('a publish while a draft is being saved publishes what was typed', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { promise: saved, resolve: noteSaved } = Promise.withResolvers<void>();
  await page.route('**/draft?*', async (route) => {
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

test('text typed after the session has ended is not saved, the page says so, and it is saved after signing in again', async () => {
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
  expect(await draftField().inputValue()).toBe('typed too late');
  service.store.snippets.rollBack(organizationOf(service), 43, 1);
});

test.for([
  ['a desktop', { width: 1280, height: 800 }],
  ['a phone', { width: 390, height: 844 }],
] as const)(
  'on %s, the name, the state, Publish and the way to the page are in view, wherever one scrolls',
  async ([, viewport]) => {
    const { snippets } = service.store;
    const organization = organizationOf(service);
    const draft = '<p>line</p>\n'.repeat(100);
    snippets.save(organization, 41, { name: 'Announcement banner', draft, sample: '{}' });
    await page.setViewportSize(viewport);
    await open('/snippets/41');
    const parts = {
      name: page.getByRole('heading', { level: 1, name: 'Announcement banner' }),
      state: page.getByText('unpublished changes'),
      publish: page.getByRole('button', { name: 'Publish', exact: true }),
      way: page.getByRole('link', { name: 'Open the home page' }),
    };
    for (const where of [0, 0.5, 1]) {
      await page.evaluate(`scrollTo(0, document.documentElement.scrollHeight * ${where})`);
      for (const [name, part] of Object.entries(parts)) {
        const { y = -1, height = 0 } = (await part.boundingBox()) ?? {};
        expect(y, `${name} at ${where}`).toBeGreaterThanOrEqual(0);
        expect(y + height, `${name} at ${where}`).toBeLessThan(where === 0 ? 400 : 200);
      }
    }
    await content().focus();
    await page.keyboard.type('more');
    await page.getByText('Saved', { exact: true }).waitFor();
    const saved = await page.getByText('Saved', { exact: true }).boundingBox();
    expect(saved?.y).toBeLessThan(400);
    snippets.discard(organization, 41);
  },
);

test('what has the focus is not behind the bar, and Enter in the name publishes nothing', async () => {
  await page.setViewportSize({ width: 390, height: 500 });
  await open('/snippets/44');
  await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
  await page.keyboard.press('Tab');
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Shift+Tab');
    // Browsers do not scroll to a frame.
    const hidden = await page.evaluate(`(() => {
      const { activeElement: focused } = document;
      const { height, bottom } = focused.getBoundingClientRect();
      const bar = document.querySelector('.bar').getBoundingClientRect();
      const edge = bottom - Math.min(20, height / 2);
      const isBehind = bar.top < edge && edge < bar.bottom && !focused.matches('body, iframe, .bar *');
      return isBehind && focused.outerHTML;
    })()`);
    expect(hidden).toBe(false);
  }
  const { published } = service.store.snippets.get(organizationOf(service), 44) ?? {};
  await page.getByLabel('Name', { exact: true }).press('Enter');
  await page.getByText('The draft is saved.').waitFor();
  expect(service.store.snippets.get(organizationOf(service), 44)?.published).toBe(published);
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

test('the copied embed has the params as typed', async () => {
  await open('/snippets/43');
  await page.getByLabel('plan', { exact: true }).fill('team');
  const component = '<Snippet id={43} params={{"plan":"team","currency":"EUR"}} />';
  await page.getByText(component).waitFor();
  await page.getByRole('button', { name: 'Copy: In .astro and .mdx files' }).click();
  await page.getByText('Copied').waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(component);
});

test('each variable has a field while one types, which stays the same as the JSON for those who ask', async () => {
  await open('/snippets/44');
  expect(await page.getByRole('group', { name: 'Values for the preview' }).getByRole('textbox').count()).toBe(
    0,
  );
  await content().fill('{{ plan }} for {{ price }} and {{ user.name }}');
  await page.getByLabel('plan', { exact: true }).fill('pro');
  await page.getByLabel('price', { exact: true }).fill('19');
  const json = page.getByLabel('JSON object');
  await page.getByText('Values for the preview, as JSON').click();
  await expect.poll(() => json.inputValue()).toBe('{"plan":"pro","price":"19"}');
  await json.fill('{"plan":"team","user":{"name":"Ines"}}');
  const frame = page.frameLocator('iframe[data-preview]');
  await frame.getByText('team for and Ines').waitFor();
  await expect.poll(() => page.getByLabel('plan', { exact: true }).inputValue()).toBe('team');
  await page.getByLabel('price', { exact: true }).fill('89');
  await frame.getByText('team for 89 and Ines').waitFor();
  expect(JSON.parse(await json.inputValue())).toEqual({ plan: 'team', user: { name: 'Ines' }, price: '89' });
  await page.getByText('Saved', { exact: true }).waitFor();
  service.store.snippets.save(organizationOf(service), 44, {
    ...{ name: 'Legal notice', draft: '<p>one</p>', sample: '{}' },
  });
});

test.for([
  ['a desktop', 'light', { width: 1280, height: 900 }],
  ['a phone', 'dark', { width: 390, height: 844 }],
] as const)(
  'on %s in %s colors, every page is accessible and fits the screen',
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
