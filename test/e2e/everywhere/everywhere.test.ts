import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { serveFolder } from '../../support/http/folder-server.ts';
import { builtSite } from '../../support/site/built-site.ts';
import { everyPlace, shown } from '../../support/site/every-place.ts';
import { contents, siteWithOtherTools } from '../../support/site/other-tools.ts';
import type { Site } from '../../support/site/site.ts';
import { sharedBrowser } from '../../support/tools/browser.ts';

const browser = await sharedBrowser();

/** A built site in a browser, with the errors and warnings of its console. */
async function inBrowser(site: Site) {
  const server = await serveFolder(join(site.directory, 'dist'));
  afterAll(() => server.close());
  const problems: string[] = [];
  const open = async (path: string, islands: number): Promise<Page> => {
    const page = await browser.newPage();
    problems.length = 0;
    page.on('console', (message) => void problems.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => void problems.push(error.message));
    await page.goto(server.url + path);
    await page
      .locator('astro-island:not([ssr])')
      .nth(islands - 1)
      .waitFor({ state: 'attached' });
    return page;
  };
  return { open, problems };
}

describe('an embed in the props of hydrated islands', async () => {
  const { site } = await builtSite({ 1: shown.html }, everyPlace);
  const { open, problems } = await inBrowser(site);

  test('shows the content of its snippet in a browser', async () => {
    const page = await open('/', 2);
    await page.locator('button').click();
    expect(await page.locator('button').textContent()).toBe('1');
    expect(await page.title()).toBe(`Sale by ${shown.text}`);
    expect(await page.locator('#island').textContent()).toBe(`Sale by ${shown.text}`);
    expect(await page.locator('#rich').textContent()).toBe(shown.text);
    expect(problems).toEqual([]);
  });
});

describe('islands hydrate around snippets', async () => {
  const { site } = await builtSite(contents, siteWithOtherTools);
  const { open, problems } = await inBrowser(site);

  test.for(['react', 'vue'])('%s', async (name) => {
    const page = await open(`/${name}/`, 1);
    await page.locator('.box button').first().click();
    expect(await page.locator('.box').first().innerText()).toMatch(/^1\s+one & only$/);
    expect(await page.locator('.box b').first().textContent()).toBe('one');
    expect(problems).toEqual([]);
  });
});
