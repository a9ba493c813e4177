import type { Page } from 'playwright-core';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { servedSite } from '../../support/site/built-site.ts';
import { textWithoutAnswers } from '../../support/site/server.ts';
import { collectionOf, pageWith } from '../../support/site/site.ts';
import { violationsOf } from '../../support/tools/accessibility.ts';
import { sharedBrowser } from '../../support/tools/browser.ts';

const browser = await sharedBrowser();
let page: Page;

const patience = { timeout: 60_000 };

const oddParams = { plan: `it's "R&D" &lt; &amp; <b>`, more: ['</p>', 'ü', 'Long-'.repeat(100)] };

// Responses of other middleware, written in all ways that Node allows.
const otherMiddleware = `
  const embed = '<snippet-embed id="1"></snippet-embed>';
  const answers = {
    '/docs/raw/pieces': (response) => {
      response.setHeader('content-type', 'text/html; charset=latin1');
      response.write('<b>', () => console.log('WRITTEN'));
      response.write(embed, 'utf8');
      response.end(' na\u00efve', 'latin1', () => console.log('ENDED'));
    },
    '/docs/raw/bytes': (response) => {
      response.writeHead(203, 'Odd', { 'content-type': 'TEXT/HTML', etag: '"1"', 'x-two': ['a', 'b'] });
      response.end(new TextEncoder().encode(embed + '\u00fc'));
    },
    '/docs/raw/list': (response) => {
      response.writeHead(201, ['content-type', 'text/html', 'x-one', 'a']).end(embed);
    },
    '/docs/raw/compressed': (response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }).end(gzipSync(embed));
    },
    '/docs/raw/plain': (response) => {
      response.writeHead(202, 'Quite fine', { 'content-type': 'text/plain', etag: '"2"', 'x-one': 'a' });
      response.write('caf\u00e9 ', 'latin1');
      response.end(embed);
    },
  };
  const other = {
    name: 'other',
    hooks: {
      'astro:server:setup': ({ server }) => {
        server.middlewares.use((request, response, next) => {
          const answer = answers[request.originalUrl];
          if (answer === undefined) next();
          else answer(response);
        });
      },
    },
  };`;

const { service, dev } = await servedSite(
  {
    1: '<b>first words</b>',
    2: '<section>block</section>',
    3: 'a & b',
    5: '<i>plan {{ plan }}</i>',
    8: 'collected',
  },
  {
    'astro.config.mjs': `
      import { defineConfig } from 'astro/config';
      import { gzipSync } from 'node:zlib';
      import snippets from 'astro-snippets';
      ${otherMiddleware}
      export default defineConfig({
        base: '/docs',
        // Dev never uses the cache, so this must make no difference.
        integrations: [snippets({ cache: { maxAge: '1h' }, editUrl: (id) => 'about:blank#edit-' + id }), other],
      });`,
    'src/pages/index.astro': pageWith(
      '<html><head><title><Snippet id={3} /></title></head><body><p id="one"><Snippet id={1} /></p></body></html>',
    ),
    'src/pages/post.md': '# Post\n\n<snippet-embed id="2"></snippet-embed>\n',
    'src/pages/slow.astro': `---
const later = new Promise((resolve) => setTimeout(() => resolve('<snippet-embed id="1"></snippet-embed> later'), 300));
---
<html><body><p>now</p><p id="later"><Fragment set:html={later} /></p></body></html>`,
    'src/pages/missing.astro':
      '<html><body><p id="late"><snippet-embed id="500">children</snippet-embed></p></body></html>',
    'src/pages/optional.astro':
      '<html><body><p id="maybe"><snippet-embed id="501" optional>children</snippet-embed></p></body></html>',
    'src/pages/faulty.astro':
      '<html><body>\n<snippet-embed id="<img src=x onerror=alert(1)>"></snippet-embed></body></html>',
    'src/pages/children.astro':
      '<html><body><p id="kids"><snippet-embed id="7">children</snippet-embed></p></body></html>',
    // A realistic page for axe.
    'src/pages/params.astro':
      pageWith(`<html lang="en"><head><meta name="viewport" content="width=device-width"><title>Coffee</title></head>
<body><main><h1>Coffee</h1><p><Snippet id={5} params={${JSON.stringify(oddParams)}} /></p></main></body></html>`),
    'src/content.config.ts': collectionOf('texts', '{ banner: { id: 8 } }'),
    'src/pages/collected.astro': `---
import { getEntry } from 'astro:content';
const { data } = await getEntry('texts', 'banner');
---
<html><body><p id="collected">{data.content}</p><snippet-embed id="1"></snippet-embed></body></html>`,
  },
);
const siteUrl = `${dev.url}/docs`;
beforeEach(async () => {
  page = await browser.newPage();
  return async () => {
    // Closing a page while it reloads may hang.
    await page.goto('about:blank').catch(() => {});
    await page.close();
  };
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
  // Without marks around it: these are parts of pages.
  const snippet = '<b>first words</b>';
  const ask = async (path: string) => {
    const response = await fetch(`${siteUrl}/raw/${path}`);
    return { response, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  test('responses of other middleware, written in pieces, with encodings and callbacks', async () => {
    const pieces = await ask('pieces');
    expect(pieces.bytes.toString('latin1')).toBe(`<b>${snippet} naïve`);
    expect(pieces.response.headers.get('content-length')).toBe(`${pieces.bytes.length}`);
    await expect.poll(dev.output).toMatch(/WRITTEN[\s\S]*ENDED/);

    const { response, bytes } = await ask('bytes');
    expect([response.status, response.headers.get('x-two'), bytes.toString()]).toEqual([
      203,
      'a, b',
      `${snippet}ü`,
    ]);
    // The ETag belonged to the original bytes.
    expect(response.headers.get('etag')).toBeNull();

    const list = await ask('list');
    expect([list.response.status, list.response.headers.get('x-one'), list.bytes.toString()]).toEqual([
      201,
      'a',
      snippet,
    ]);
  });
  test('no response of other middleware that is not HTML, which keeps its status, headers and bytes', async () => {
    const { response, bytes } = await ask('plain');
    expect([response.status, response.statusText]).toEqual([202, 'Quite fine']);
    expect([response.headers.get('etag'), response.headers.get('x-one')]).toEqual(['"2"', 'a']);
    expect(bytes.toString('latin1')).toBe('café <snippet-embed id="1"></snippet-embed>');
  });
  test('no compressed response, which is logged once', async () => {
    for (let times = 0; times < 2; times += 1) {
      expect((await ask('compressed')).bytes.toString()).toBe('<snippet-embed id="1"></snippet-embed>');
    }
    const said = /\/docs\/raw\/compressed is sent with the content encoding gzip, so it is left as it is/g;
    expect(dev.output().match(said)).toHaveLength(1);
  });
  test('a page from memory, without waiting for the service, once its snippets have been fetched', async () => {
    await html('/');
    expect(await textWithoutAnswers(`${siteUrl}/`, service)).toContain('first words');
  });
});

describe('the error overlay', () => {
  const overlay = () => page.locator('vite-error-overlay');
  // Its content is in a shadow root. Vite loads a page again once it has prepared a dependency.
  const overlayText = () =>
    vi.waitFor(
      () => overlay().evaluate(({ shadowRoot }) => shadowRoot?.querySelector('#layout')?.textContent ?? ''),
      patience,
    );

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
    expect(dev.output()).toMatch(/\[500\] (?:\/docs)?\/missing /);
    expect(dev.output()).not.toMatch(/\[200\] (?:\/docs)?\/missing /);
    service.put(500, '<i>here at last</i>');
    await page.locator('#late', { hasText: 'here at last' }).waitFor(patience);
    expect(await overlay().count()).toBe(0);
  });

  test('names the line of an invalid embed, and escapes HTML in its text', async () => {
    await page.goto(`${siteUrl}/faulty`);
    expect(await overlayText()).toMatch(
      /\/docs\/faulty:\d+.*A snippet id must be a positive whole number, not "<img src=x onerror=alert\(1\)>"\. \[invalid-id\]/,
    );
    expect(await overlay().locator('img[src="x"]').count()).toBe(0);
  });
});

describe('the toolbar app', () => {
  const panel = () => page.getByRole('complementary', { name: 'Snippets on this page' });
  const rowOf = (id: number) =>
    panel()
      .getByRole('listitem')
      .filter({ hasText: `Edit snippet ${id}` });

  async function openPanel(path: string): Promise<void> {
    await page.goto(siteUrl + path);
    await page.getByRole('button', { name: 'Snippets' }).click();
    await panel().getByRole('listitem').first().waitFor(patience);
  }

  test('lists the snippets of the page, refreshes them with the keyboard alone, and opens the editor of one', async () => {
    await page.goto(`${siteUrl}/`);
    await vi.waitFor(async () => {
      // A change in the previous test may still reload the page, which closes the panel.
      if (!(await panel().isVisible())) {
        await page.getByRole('button', { name: 'Snippets' }).focus();
        await page.keyboard.press('Enter');
      }
      expect(await panel().getByRole('listitem').count(), await panel().innerText()).toBe(2);
    }, patience);
    expect(await rowOf(1).innerText()).toMatch(
      /^Edit snippet 1\s+in 1 place on this page\s+Written in src\/pages\/index\.astro:\d+\s+render · \d+ ms · 18 bytes · fetched at [\d:]{8}\s/,
    );

    service.put(1, '<b>refreshed words</b>');
    await panel().getByRole('button', { name: 'Refresh' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('#one', { hasText: 'refreshed words' }).waitFor(patience);
    service.put(1, '<b>first words</b>');
    await page.locator('#one', { hasText: 'first words' }).waitFor(patience);

    await openPanel('/');
    await rowOf(1).getByRole('link').focus();
    expect(await page.locator('.outline').boundingBox()).toEqual(await page.locator('#one b').boundingBox());
    const opened = page.waitForEvent('popup');
    await rowOf(3).getByRole('link').click();
    expect((await opened).url()).toBe('about:blank#edit-3');
  });

  test('has a heading, says what to do, and opens the source of an embed in an editor', async () => {
    const opened: string[] = [];
    await page.route('**/__open-in-editor?**', (route) => {
      opened.push(new URL(route.request().url()).searchParams.get('file') ?? '');
      return route.fulfill({ body: '' });
    });
    await openPanel('/');
    await panel().getByRole('heading', { name: 'Snippets on this page' }).waitFor();
    await panel().getByText('The page reloads by itself when one is published.').waitFor();
    const source = rowOf(1).getByRole('button', { name: /^src\/pages\/index\.astro:\d+$/ });
    await source.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => opened).toEqual([expect.stringMatching(/\/src\/pages\/index\.astro:\d+:\d+$/)]);
    await page.unroute('**/__open-in-editor?**');

    await openPanel('/optional');
    await panel().getByText('Below is what to do about snippet 501.').waitFor();
    const missing = panel().getByRole('listitem');
    expect(await missing.locator('.error').textContent()).toContain('There is no published snippet 501');
    await missing.getByText(/^What to do: Check the id: /).waitFor();
  });

  test('copies an embed of the snippet and its params with "Copy embed"', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await openPanel('/params');
    const copied = async () => page.evaluate(() => navigator.clipboard.readText());
    await rowOf(5).getByRole('button', { name: 'Copy embed' }).click();
    await expect.poll(copied).toContain('id="5"');
    const parsed = await page.evaluate(
      (markup) => {
        const { body } = new DOMParser().parseFromString(`<p>${markup}<b>after</b></p>`, 'text/html');
        const embed = body.querySelector('snippet-embed');
        return [embed?.getAttribute('params'), embed?.innerHTML, embed?.nextElementSibling?.outerHTML];
      },
      await copied(),
    );
    expect(JSON.parse(parsed.shift() ?? '')).toEqual(oddParams);
    expect(parsed).toEqual(['', '<b>after</b>']);

    await openPanel('/optional');
    await panel().getByRole('button', { name: 'Copy embed' }).click();
    const optional = '<snippet-embed id="501" optional></snippet-embed>';
    await expect.poll(copied).toBe(optional);
  });

  test('also updates collections with "Refresh", whatever cache.maxAge is, and says why one failed', async () => {
    await page.goto(`${siteUrl}/collected`);
    expect(await page.locator('#collected').textContent()).toBe('collected');
    service.put(8, 'updated entry');
    await openPanel('/collected');
    await panel().getByRole('button', { name: 'Refresh' }).click();
    await page.locator('#collected', { hasText: 'updated entry' }).waitFor(patience);
    await openPanel('/collected');
    service.unpublish(8);
    await panel().getByRole('button', { name: 'Refresh' }).click();
    await panel().getByRole('status').getByText('There is no published snippet 8').waitFor(patience);
    service.put(8, 'collected');
  });

  test.for([
    [1280, 'light'],
    [360, 'dark'],
  ] as const)('is accessible and fits a screen of %i pixels, %s', async ([width, colorScheme]) => {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    await openPanel('/params');
    expect(await violationsOf(page)).toBe('');
    expect(await panel().evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0);
    const box = await panel().boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
  });
});

test('astro dev shows the last content, or children, while the service is down, with one warning', async () => {
  await page.goto(`${siteUrl}/`);
  await service.close();
  await expect.poll(dev.output).toContain('Snippet 1 is shown as it was last fetched');
  await page.reload();
  expect(await page.locator('#one').textContent()).toBe('first words');
  await page.locator('[data-app-id="astro-snippets"] .notification[data-active]').waitFor(patience);
  await page.getByRole('button', { name: 'Snippets' }).click();
  const row = page.locator('aside li', { hasText: 'snippet 1' });
  expect(await row.locator('.error').textContent()).toMatch(
    /^Snippet 1 could not be (?:rendered|retrieved): /,
  );
  await page.goto(`${siteUrl}/children`);
  expect(await page.locator('#kids').textContent()).toBe('children');
  expect(dev.output().match(/Snippet 1 is shown as it was last fetched/g)).toHaveLength(1);
});
