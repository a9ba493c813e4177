import { afterAll, expect, test } from 'vitest';
import { images } from '../../support/http/images.ts';
import { startLocalServer } from '../../support/http/local-server.ts';
import { policyTable, restrictedCode } from '../../support/site/policy-table.ts';
import { sharedBrowser } from '../../support/tools/browser.ts';

const { script, handler, url, styleSheet, style } = restrictedCode;
const browser = await sharedBrowser();
const server = await startLocalServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname !== '/') {
    response.writeHead(200, { 'content-type': 'image/png' }).end(images.png);
    return;
  }
  const policy = searchParams.get('policy') ?? '';
  response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><html lang="en"><head>
<meta http-equiv="content-security-policy" content="${policy}"><title>Policy</title></head><body>
<script>${script}</script><style>${styleSheet}</style><b style="${style}" onclick="${handler}">b</b><a href="${url}">a</a>
<img alt="" src="/images/a.png"></body></html>`);
});
afterAll(() => server.close());

test('Chromium blocks what is known to be blocked, and nothing else', async () => {
  const page = await browser.newPage();
  const blocked: [string, string[]][] = [];
  for (const [policy] of policyTable) {
    await page.goto(`${server.url.replace('127.0.0.1', 'localhost')}/?policy=${encodeURIComponent(policy)}`);
    await page.locator('b').click();
    // A `javascript:` URL runs, or is blocked, in a task of its own.
    await page.evaluate(
      `addEventListener('securitypolicyviolation', () => { globalThis.isBlocked = true; })`,
    );
    await page.locator('a').click();
    await page.waitForFunction('globalThis.isBlocked || document.documentElement.dataset.url');
    const has: Record<string, boolean> = await page.evaluate(`(() => {
      const { dataset } = document.documentElement;
      const value = (element, name) => getComputedStyle(element).getPropertyValue(name);
      return {
        script: dataset.script === 'ran',
        handler: dataset.handler === 'ran',
        url: dataset.url === 'ran',
        styleSheet: value(document.documentElement, '--sheet') === 'applied',
        style: value(document.querySelector('b'), '--attribute') === 'applied',
        image: document.querySelector('img').naturalWidth > 0,
      };
    })()`);
    blocked.push([policy, Object.keys(has).filter((kind) => !has[kind])]);
  }
  await page.close();
  expect(blocked).toEqual(policyTable);
});
