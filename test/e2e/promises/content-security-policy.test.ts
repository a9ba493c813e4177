import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { serveFolder } from '../../support/http/folder-server.ts';
import { sharedSite } from '../../support/site/built-site.ts';
import { configWithPolicy, headersFile, snippetWithCode, staticHeaders } from '../../support/site/policy.ts';
import { pageWith } from '../../support/site/site.ts';
import { sharedBrowser } from '../../support/tools/browser.ts';

const browser = await sharedBrowser();

const { service, site } = await sharedSite(
  {},
  {
    'src/pages/index.astro': pageWith(
      `<html><head><title>Home</title></head><body><p><Snippet id={1} /></p><script>document.documentElement.dataset.own = 'ran';</script></body></html>`,
    ),
    'src/pages/headless.astro': '<p><snippet-embed id="1"></snippet-embed></p>',
  },
);

async function build(config: string) {
  service.put(1, snippetWithCode('red'));
  await site.write({ 'astro.config.mjs': config });
  await site.builds();
}

/** The effects of the snippet's script and of the site's script on a page, and the snippet's color. */
async function look(path = '', folder = 'dist', headers: Record<string, string> = {}) {
  const server = await serveFolder(join(site.directory, folder), headers);
  onTestFinished(() => server.close());
  const page = await browser.newPage();
  await page.goto(`${server.url}/${path}`);
  const seen = await page.evaluate(
    `({ ran: document.documentElement.dataset.ran, own: document.documentElement.dataset.own, color: getComputedStyle(document.querySelector('i')).color })`,
  );
  await page.close();
  return seen;
}

test("a browser runs no code of a snippet by default, and the site's own", async () => {
  await build(configWithPolicy());
  expect(await look()).toEqual({ own: 'ran', color: 'rgb(0, 0, 0)' });
});

test("with csp: 'hash' a browser runs what a build and a refresh allow, on a page without a head element too", async () => {
  await build(configWithPolicy(`{ csp: 'hash' }`));
  expect(await look()).toEqual({ ran: 'red', own: 'ran', color: 'rgb(255, 0, 0)' });
  expect(await look('headless/')).toEqual({ ran: 'red', color: 'rgb(255, 0, 0)' });
  service.put(1, snippetWithCode('blue'));
  expect(await site.run('refresh')).toMatchObject({ exitCode: 0 });
  expect(await look()).toEqual({ ran: 'blue', own: 'ran', color: 'rgb(0, 0, 255)' });
  expect(await look('headless/')).toEqual({ ran: 'blue', color: 'rgb(0, 0, 255)' });
});

test("with csp: 'hash' a browser runs what the headers of an adapter allow", async () => {
  const adapter = `adapter: node({ mode: 'standalone', ${staticHeaders} })`;
  await build(configWithPolicy(`{ csp: 'hash' }`, adapter));
  const routes: { pathname: string; headers: { value: string }[] }[] = JSON.parse(
    await site.read(headersFile),
  );
  const policy = routes.find(({ pathname }) => pathname === '/')?.headers[0]?.value ?? '';
  expect(await look('', 'dist/client', { 'content-security-policy': policy })).toEqual({
    ran: 'red',
    own: 'ran',
    color: 'rgb(255, 0, 0)',
  });
});
