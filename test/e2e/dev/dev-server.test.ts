import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startBrowser } from '../../support/browser.ts';
import { type SiteServer, startServer, textWithoutAnswers } from '../../support/server.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createSite, type Site } from '../../support/site.ts';

let service: TestService;
let site: Site;
let dev: SiteServer;
let browser: Browser;
let page: Page;
let siteUrl: string;

const patience = { timeout: 60_000 };

const oddParams = { plan: `it's "R&D" &lt; &amp; <b>`, more: ['</p>', 'ü'] };

// Responses of other middleware, written in all the ways that Node allows. Each logs which of its callbacks were called.
const otherMiddleware = `
  const embed = '<snippet-embed id="1"></snippet-embed>';
  const answers = {
    '/docs/raw/encodings': (response, called) => {
      response.setHeader('content-type', 'text/html; charset=latin1');
      response.write('<b>', called('write'));
      response.write(embed, 'utf8', called('write with encoding'));
      response.end(' na\u00efve', 'latin1', called('end'));
    },
    '/docs/raw/write': (response) => {
      response.setHeader('content-type', 'text/html; charset=latin1');
      response.write('caf\u00e9 ' + embed, 'latin1');
      response.end();
    },
    '/docs/raw/end': (response, called) => {
      response.setHeader('content-type', 'text/html');
      response.write(Buffer.from('caf\u00e9 ' + embed));
      response.end(called('end alone'));
    },
    '/docs/raw/bytes': (response, called) => {
      response.writeHead(203, 'Odd', { 'content-type': 'TEXT/HTML', etag: '"1"', 'x-two': ['a', 'b'] });
      response.end(new TextEncoder().encode(embed + '\u00fc'), called('end with bytes'));
    },
    '/docs/raw/list': (response) => {
      response.writeHead(201, ['content-type', 'text/html', 'x-one', 'a']).end(embed);
    },
    '/docs/raw/plain': (response, called) => {
      response.writeHead(202, 'Quite fine', { 'content-type': 'text/plain', etag: '"2"', 'x-one': 'a' });
      response.write('caf\u00e9 ', 'latin1', called('plain write'));
      response.end(embed, called('plain end'));
    },
  };
  const other = {
    name: 'other',
    hooks: {
      'astro:server:setup': ({ server }) => {
        server.watcher.on('add', (file) => console.log('SEEN ' + file));
        server.middlewares.use((request, response, next) => {
          const called = (what) => () => console.log('CALLED ' + what + '.');
          const answer = answers[request.originalUrl];
          if (answer === undefined) next();
          else answer(response, called);
        });
      },
    },
  };`;

beforeAll(async () => {
  service = await startTestService({
    1: '<b>first words</b>',
    2: '<section>block</section>',
    3: 'a & b',
    5: '<i>plan {{ plan }}</i>',
    8: 'collected',
  });
  site = await createSite({
    'astro.config.mjs': `
      import { defineConfig } from 'astro/config';
      import snippets from 'astro-snippets';
      ${otherMiddleware}
      export default defineConfig({
        base: '/docs',
        // In dev, snippets of pages and collections never come from the cache, so this must make no difference.
        integrations: [snippets({ cache: { maxAge: '1h' }, editUrl: (id) => 'about:blank#edit-' + id }), other],
      });`,
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
    'src/pages/optional.astro':
      '<html><body><p id="maybe"><snippet-embed id="501" optional>children</snippet-embed></p></body></html>',
    'src/pages/faulty.astro': '<html><body>\n<snippet-embed id="x"></snippet-embed></body></html>',
    'src/pages/children.astro':
      '<html><body><p id="kids"><snippet-embed id="7">children</snippet-embed></p></body></html>',
    'src/pages/data.json.ts': `export const GET = () => Response.json({ html: '<snippet-embed id="1"></snippet-embed>' });`,
    'src/pages/tall.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<html><body style="width: 4000px"><div style="height: 3000px"></div>
<p id="far" style="margin-left: 400px"><Snippet id={5} params={${JSON.stringify(oddParams)}} /></p>
<div style="height: 3000px"></div></body></html>`,
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
  dev = await startServer(site, 'dev', service.environment);
  siteUrl = `${dev.url}/docs`;
  browser = await startBrowser();
});
beforeEach(async () => {
  page = await browser.newPage();
  return async () => {
    // Closing a page while it reloads may never end.
    await page.goto('about:blank').catch(() => {});
    await page.close();
  };
});
afterAll(async () => {
  await browser.close();
  await dev.stop();
  await site.remove();
  await service.close().catch(() => undefined);
});

const html = async (path: string) => (await fetch(siteUrl + path)).text();

describe('astro dev inlines snippets in', () => {
  test('an Astro page, as HTML and as text', async () => {
    const text = await html('/');
    expect(text).toContain('<title>a &amp; b</title>');
    expect(text).toMatch(/<p id="one"[^>]*><!--snippet 1--><b>first words<\/b><!--\/snippet 1--><\/p>/);
    expect(text).not.toContain('snippet-embed');
  });
  test('a Markdown page', async () => {
    expect(await html('/post')).toMatch(
      /<\/h1>\s*<!--snippet 2--><section>block<\/section><!--\/snippet 2-->/,
    );
  });
  test('a page that streams', async () => {
    expect(await html('/slow')).toMatch(
      /<p[^>]*>now<\/p>\s*<p id="later"[^>]*><!--snippet 1--><b>first words<\/b><!--\/snippet 1--> later<\/p>/,
    );
  });
  test('a JSON endpoint, and no page without an embed', async () => {
    expect(JSON.parse(await html('/data.json'))).toEqual({ html: '<b>first words</b>' });
    expect(await html('/plain')).toContain('plain');
  });
  const snippet = '<!--snippet 1--><b>first words</b><!--/snippet 1-->';
  const ask = async (path: string) => {
    const response = await fetch(`${siteUrl}/raw/${path}`);
    return { response, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  test('responses of other middleware, written in pieces with encodings and callbacks', async () => {
    const called = async (...names: string[]) => {
      for (const name of names) {
        await vi.waitFor(() => expect(dev.output()).toContain(`CALLED ${name}.`), { timeout: 60_000 });
        expect(dev.output().match(new RegExp(`CALLED ${name}\\.`, 'g')), name).toHaveLength(1);
      }
    };
    const encoded = await ask('encodings');
    expect(encoded.bytes.toString('latin1')).toBe(`<b>${snippet} naïve`);
    expect(encoded.response.headers.get('content-length')).toBe(`${encoded.bytes.length}`);
    await called('write', 'write with encoding', 'end');

    expect((await ask('end')).bytes.toString()).toBe(`café ${snippet}`);
    await called('end alone');

    const { response, bytes } = await ask('bytes');
    expect(bytes.toString()).toBe(`${snippet}ü`);
    expect(response.status).toBe(203);
    expect(response.headers.get('x-two')).toBe('a, b');
    // It was that of other bytes.
    expect(response.headers.get('etag')).toBeNull();
    await called('end with bytes');

    const list = await ask('list');
    expect([list.response.status, list.response.headers.get('x-one'), list.bytes.toString()]).toEqual([
      201,
      'a',
      snippet,
    ]);
  });
  test('a response of other middleware that is written in an encoding other than UTF-8', async () => {
    expect((await ask('write')).bytes.toString('latin1')).toBe(`café ${snippet}`);
  });
  test('no response of other middleware that is not HTML, which keeps its status, headers and bytes', async () => {
    const response = await fetch(`${siteUrl}/raw/plain`);
    expect([response.status, response.statusText]).toEqual([202, 'Quite fine']);
    expect(response.headers.get('etag')).toBe('"2"');
    expect(response.headers.get('x-one')).toBe('a');
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.toString('latin1')).toBe('café <snippet-embed id="1"></snippet-embed>');
    await vi.waitFor(() => expect(dev.output()).toMatch(/CALLED plain write\.[\s\S]*CALLED plain end\./), {
      timeout: 60_000,
    });
  });
  test('a page from memory, without waiting for the service, once its snippets were fetched', async () => {
    await html('/');
    expect(await textWithoutAnswers(`${siteUrl}/`, service)).toContain('first words');
  });
});

/** Waits until the server sees new files: one that is added before that is no page until the server restarts. */
async function watching(): Promise<void> {
  let probes = 0;
  await vi.waitFor(
    async () => {
      // Not a page, because of how its name begins.
      await site.write({ [`src/pages/_probe-${probes++}.txt`]: '' });
      expect(dev.output()).toMatch(/SEEN .*_probe-/);
    },
    { timeout: 60_000, interval: 200 },
  );
}

/** Publishes on the website, as an editor does. */
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

test('astro dev reloads an open page when a snippet changes, whatever cache.maxAge is', async () => {
  await page.goto(`${siteUrl}/`);
  expect(await page.locator('#one').textContent()).toBe('first words');
  await publishOnWebsite(1, '<b>second words</b>');
  await page.locator('#one', { hasText: 'second words' }).waitFor({ timeout: 60_000 });
  service.put(1, '<b>first words</b>');
  await page.locator('#one', { hasText: 'first words' }).waitFor({ timeout: 60_000 });
});

describe('the error overlay', () => {
  const overlay = () => page.locator('vite-error-overlay');
  // Its content is in a shadow root.
  const overlayText = () =>
    overlay().evaluate(({ shadowRoot }) => shadowRoot?.querySelector('#layout')?.textContent ?? '');

  test('shows a problem with its detail, page and hint until it is fixed', async () => {
    const answer = await page.goto(`${siteUrl}/missing`);
    expect(answer?.status()).toBe(500);
    const text = await overlayText();
    for (const part of [
      'Snippet 500: 404 Not Found [not-found]',
      'There is no published snippet 500 in this organization.',
      '/problems/not-found',
      'on /docs/missing',
      'Check the id',
    ]) {
      expect(text).toContain(part);
    }
    service.put(500, '<i>here at last</i>');
    await page.locator('#late', { hasText: 'here at last' }).waitFor({ timeout: 60_000 });
    expect(await overlay().count()).toBe(0);
  });

  test('escapes HTML in its text', async () => {
    await watching();
    await site.write({
      'src/pages/evil.astro':
        '<html><body><snippet-embed id="<img src=x onerror=alert(1)>"></snippet-embed></body></html>',
    });
    // A new file becomes a page when the server has seen it.
    await vi.waitFor(async () => expect((await page.goto(`${siteUrl}/evil`))?.status()).toBe(500), {
      timeout: 60_000,
    });
    expect(await overlayText()).toContain('onerror=alert(1)');
    expect(await overlay().locator('img[src="x"]').count()).toBe(0);
  });

  test('names the line of an invalid embed', async () => {
    await page.goto(`${siteUrl}/faulty`);
    expect(await overlayText()).toMatch(
      /\/docs\/faulty:\d+.*A snippet id must be a positive whole number, not "x"\. \[invalid-id\]/,
    );
  });
});

describe('the toolbar app', () => {
  const panel = () => page.locator('astro-dev-toolbar-window', { hasText: 'Snippets on this page' });

  const frames = () => page.locator('astro-dev-toolbar-highlight:visible');

  /** Expects one frame, eight pixels around the element. */
  async function expectFrameAround(selector: string): Promise<void> {
    await frames().waitFor();
    const place = await page.locator(selector).boundingBox();
    const drawn = await frames().boundingBox();
    if (place === null || drawn === null) throw new Error('No frame is drawn.');
    const sides = {
      left: place.x - drawn.x,
      top: place.y - drawn.y,
      right: drawn.x + drawn.width - place.x - place.width,
      bottom: drawn.y + drawn.height - place.y - place.height,
    };
    for (const [side, distance] of Object.entries(sides)) {
      // The frame has a border.
      expect(distance, side).toBeGreaterThanOrEqual(6);
      expect(distance, side).toBeLessThanOrEqual(13);
    }
  }

  test('lists the snippets of the page, outlines and refreshes them, with the keyboard alone', async () => {
    await page.goto(`${siteUrl}/`);
    const toggle = page.getByRole('button', { name: 'Snippets' });
    await toggle.focus();
    await page.keyboard.press('Enter');
    const rows = panel().getByRole('listitem');
    await vi.waitFor(async () => expect(await rows.count()).toBe(2), { timeout: 60_000 });
    const row = rows.filter({ hasText: 'Snippet 1' });
    expect(await row.innerText()).toMatch(/Snippet 1\s+render · \d+ ms · 18 bytes · \d+ s old/);

    await row.hover();
    await expectFrameAround('#one b');
    await rows.filter({ hasText: 'Snippet 3' }).hover();
    await frames().waitFor({ state: 'hidden' });

    await row.getByRole('button', { name: 'Refresh' }).focus();
    await expectFrameAround('#one b');
    await rows.filter({ hasText: 'Snippet 3' }).getByRole('button', { name: 'Refresh' }).focus();
    await frames().waitFor({ state: 'hidden' });

    service.put(1, '<b>refreshed words</b>');
    await row.getByRole('button', { name: 'Refresh' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('#one', { hasText: 'refreshed words' }).waitFor({ timeout: 60_000 });
    service.put(1, '<b>first words</b>');
    await page.locator('#one', { hasText: 'first words' }).waitFor({ timeout: 60_000 });
  });

  test('scrolls to a snippet with "Show" and outlines it', async () => {
    await page.goto(`${siteUrl}/tall`);
    await page.getByRole('button', { name: 'Snippets' }).click();
    const row = panel().getByRole('listitem').filter({ hasText: 'Snippet 5' });
    await row.getByRole('button', { name: 'Show' }).click();
    await vi.waitFor(
      async () => {
        const place = await page.locator('#far i').boundingBox();
        expect(place?.y).toBeGreaterThan(0);
        expect(place?.y).toBeLessThan(page.viewportSize()?.height ?? 0);
      },
      { timeout: 60_000 },
    );
    await page.evaluate(() => {
      scrollTo({ left: 200, top: 2800, behavior: 'instant' });
      (document.activeElement as HTMLElement | null)?.blur();
    });
    await page.mouse.move(0, 0);
    await row.getByRole('button', { name: 'Show' }).focus();
    await expectFrameAround('#far i');
  });

  test('copies an embed of the snippet and its params with "Copy embed"', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${siteUrl}/tall`);
    await page.getByRole('button', { name: 'Snippets' }).click();
    const copied = async () => page.evaluate(() => navigator.clipboard.readText());
    const row = panel().getByRole('listitem').filter({ hasText: 'Snippet 5' });
    await row.getByRole('button', { name: 'Copy embed' }).click();
    await vi.waitFor(async () => expect(await copied()).toContain('id="5"'), { timeout: 60_000 });
    const parsed = await page.evaluate(
      (markup) => {
        const { body } = new DOMParser().parseFromString(`<p>${markup}<b>after</b></p>`, 'text/html');
        const embed = body.querySelector('snippet-embed');
        return {
          id: embed?.getAttribute('id'),
          params: embed?.getAttribute('params'),
          inside: embed?.innerHTML,
          rest: embed?.nextElementSibling?.outerHTML,
        };
      },
      await copied(),
    );
    expect(parsed).toMatchObject({ id: '5', inside: '', rest: '<b>after</b>' });
    expect(JSON.parse(parsed.params ?? '')).toEqual(oddParams);

    await page.goto(`${siteUrl}/`);
    await page.getByRole('button', { name: 'Snippets' }).click();
    const plain = panel().getByRole('listitem').filter({ hasText: 'Snippet 1' });
    await plain.getByRole('button', { name: 'Copy embed' }).click();
    await vi.waitFor(async () => expect(await copied()).toBe('<snippet-embed id="1"></snippet-embed>'), {
      timeout: 60_000,
    });

    await page.goto(`${siteUrl}/optional`);
    await page.getByRole('button', { name: 'Snippets' }).click();
    await panel().getByRole('button', { name: 'Copy embed' }).click();
    await vi.waitFor(
      async () => expect(await copied()).toBe('<snippet-embed id="501" optional></snippet-embed>'),
      { timeout: 60_000 },
    );
  });

  test('updates collections too with "Refresh", whatever cache.maxAge is', async () => {
    await page.goto(`${siteUrl}/collected`);
    expect(await page.locator('#collected').textContent()).toBe('collected');
    service.put(8, 'updated entry');
    await page.getByRole('button', { name: 'Snippets' }).click();
    await panel().getByRole('button', { name: 'Refresh' }).first().click();
    await page.locator('#collected', { hasText: 'updated entry' }).waitFor({ timeout: 60_000 });
  });

  test('says in the row why a "Refresh" failed', async () => {
    await page.goto(`${siteUrl}/collected`);
    await page.getByRole('button', { name: 'Snippets' }).click();
    service.unpublish(8);
    await panel().getByRole('button', { name: 'Refresh' }).first().click();
    await panel().getByRole('status').getByText('There is no published snippet 8').waitFor(patience);
    service.put(8, 'collected');
  });

  test('opens the page where a snippet is edited with "Edit"', async () => {
    await page.goto(`${siteUrl}/`);
    await page.getByRole('button', { name: 'Snippets' }).click();
    const opened = page.waitForEvent('popup');
    await panel().getByRole('button', { name: 'Edit' }).first().click();
    expect((await opened).url()).toBe('about:blank#edit-3');
  });
});

test('astro dev leaves the API key out of pages and out of its log', async () => {
  const { SNIPPETS_API_KEY: key } = service.environment;
  for (const path of ['/', '/missing', '/faulty']) expect(await html(path)).not.toContain(key);
  expect(dev.output()).not.toContain(key);
});

test('astro dev shows the last content, or children, while the service is down, with one warning', async () => {
  await page.goto(`${siteUrl}/`);
  await service.close();
  await vi.waitFor(() => expect(dev.output()).toContain('Snippet 1 is shown as it was last fetched'), {
    timeout: 60_000,
  });
  await page.reload();
  expect(await page.locator('#one').textContent()).toBe('first words');
  await page
    .locator('[data-app-id="astro-snippets"] .notification[data-active]')
    .waitFor({ timeout: 60_000 });
  await page.getByRole('button', { name: 'Snippets' }).click();
  const row = page.locator('astro-dev-toolbar-window li', { hasText: 'Snippet 1' });
  expect(await row.locator('.error').textContent()).toMatch(
    /^Snippet 1 could not be (?:rendered|retrieved): /,
  );
  await page.goto(`${siteUrl}/children`);
  expect(await page.locator('#kids').textContent()).toBe('children');
  expect(dev.output().match(/Snippet 1 is shown as it was last fetched/g)).toHaveLength(1);
});
