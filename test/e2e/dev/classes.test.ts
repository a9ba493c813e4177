import { expect, test, vi } from 'vitest';
import { sharedService } from '../../support/site/built-site.ts';
import { startServer } from '../../support/site/server.ts';
import { temporarySite } from '../../support/site/site.ts';
import { styledPage, styledSites } from '../../support/site/styled-sites.ts';
import { sharedBrowser } from '../../support/tools/browser.ts';

const browser = await sharedBrowser();
const service = await sharedService({});

const styled = (classes: string) => `<p class="${classes}">Its id is computed.</p>`;

test.for(['Tailwind 4', 'UnoCSS'] as const)(
  '%s makes CSS in astro dev for the classes of a snippet: when a page shows it, when it changes, and while the service is down; and in a build',
  async (tool) => {
    service.put(2, styled('bg-[rgb(250,200,5)] p-[7px]'));
    const site = await temporarySite({
      ...styledSites[tool].files(),
      'src/pages/index.astro': styledPage('<Snippet id={two} />', styledSites[tool]),
    });
    const dev = await startServer(site, 'dev', service.environment);
    const page = await browser.newPage();
    const style = () =>
      page.locator('p').evaluate((element) => {
        const { backgroundColor, padding } = getComputedStyle(element);
        return `${backgroundColor} ${padding}`;
      });
    const patience = { timeout: 60_000, interval: 200 };
    try {
      await page.goto(dev.url);
      await expect.poll(style).toBe('rgb(250, 200, 5) 7px');

      service.put(2, styled('bg-[rgb(5,100,250)] p-[11px]'));
      await expect.poll(style).toBe('rgb(5, 100, 250) 11px');

      Object.assign(service.faults, { failing: 1, failingStatus: 503 });
      await expect.poll(dev.output).toContain('Snippet 2 is shown as it was last fetched.');
      // The page may be reloading.
      await vi.waitFor(() => page.reload(), patience);
      await expect.poll(style).toBe('rgb(5, 100, 250) 11px');
    } finally {
      service.clearFaults();
      await page.close();
      await dev.stop();
    }

    expect(await site.build(service.environment)).toMatchObject({ exitCode: 0 });
    expect(JSON.stringify(await site.texts())).toMatch(/padding: ?11px/);
  },
);
