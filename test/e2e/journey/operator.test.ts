import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cdn, startCdn } from '../../support/http/cdn.ts';
import { type FolderServer, serveFolder } from '../../support/http/folder-server.ts';
import { freePort } from '../../support/http/free-port.ts';
import { sharedService } from '../../support/site/built-site.ts';
import { configWith, createSite, type Site } from '../../support/site/site.ts';
import { sharedBrowser } from '../../support/tools/browser.ts';
import { type RunningCommand, startCommand } from '../../support/tools/command.ts';
import { codeBelow } from '../../support/tools/docs.ts';

const [purge = ''] = codeBelow('Purge a CDN by URL', 'sh', 'docs/publishing.md');

const browser = await sharedBrowser();
const service = await sharedService({ 1: 'Open from 8 to 18.', 2: 'Shipping is free.' });
let site: Site;
let origin: FolderServer;
let cdn: Cdn;
let watching: RunningCommand | undefined;

beforeAll(async () => {
  cdn = await startCdn(() => origin.url);
  site = await createSite({
    'astro.config.mjs': configWith().replace('integrations', `site: '${cdn.url}', integrations`),
    'src/pages/index.astro': '<h1>Home</h1><p><snippet-embed id="1"></snippet-embed></p>',
    'src/pages/visit.astro':
      '<h1>Visit</h1><p><snippet-embed id="1"></snippet-embed></p><p><snippet-embed id="2"></snippet-embed></p>',
    'src/pages/pricing.astro': '<h1>Pricing</h1><p><snippet-embed id="2"></snippet-embed></p>',
    'src/pages/feed.xml.ts': `export const GET = () => new Response('<rss><title>&lt;snippet-embed id="1"&gt;&lt;/snippet-embed&gt;</title></rss>');`,
    'purge.sh': purge,
  });
  origin = await serveFolder(join(site.directory, 'dist'));
  await site.builds(service.environment);
}, 120_000);

afterAll(async () => {
  watching?.process.kill('SIGKILL');
  await cdn?.close();
  await origin?.close();
  await site?.remove();
});

/** Waits until the watch has logged this. */
async function logged(text: RegExp): Promise<void> {
  await expect.poll(() => watching?.output()).toMatch(text);
}

/** What readers get from the CDN, which caches it. */
async function read(): Promise<string[]> {
  const paths = ['/', '/visit/', '/pricing/', '/feed.xml'];
  return Promise.all(paths.map(async (path) => (await fetch(cdn.url + path)).text()));
}

async function publish(marketer: Page, text: string): Promise<void> {
  await marketer.goto(`${service.websiteUrl}/snippets/1`);
  await marketer.getByLabel('Content', { exact: true }).fill(text);
  await marketer.getByRole('button', { name: 'Publish' }).click();
  await expect.poll(() => service.store.snippets.published(service.organizationId, 1)?.content).toBe(text);
}

// The recipe runs unchanged in a POSIX shell, which Windows does not have.
test.skipIf(process.platform === 'win32')(
  "an operator's day: push, an outage, recovery, the list of URLs to purge, and the report",
  async () => {
    const reader = await browser.newPage();
    const office = await browser.newContext();
    const marketer = await office.newPage();
    const everywhere = ['/', '/feed.xml', '/visit/'].map((path) => cdn.url + path);
    await marketer.goto(service.loginLink(service.organizationId));

    // The page shows the secret once. It goes into the environment of the watch.
    const port = await freePort();
    await marketer.goto(`${service.websiteUrl}/account/webhook`);
    await marketer.getByLabel('URL').fill(`http://127.0.0.1:${port}/`);
    await marketer.getByRole('button', { name: 'Send messages' }).click();
    const secret = await marketer.getByLabel('The secret').inputValue();
    const environment = {
      ...service.environment,
      SNIPPETS_WEBHOOK_SECRET: secret,
      CLOUDFLARE_API: cdn.url,
      CLOUDFLARE_ZONE: 'zone',
      CLOUDFLARE_TOKEN: 'token',
    };
    const flags = ['--listen', `127.0.0.1:${port}`, '--every', '20s', '--after', 'sh purge.sh'];
    watching = startCommand(site.directory, ['watch', ...flags], environment);
    await logged(/Checking every 20 s\./);

    // A change arrives by push, and only the pages that show it are purged from the CDN.
    await read();
    await publish(marketer, 'Open from 9 to 18.');
    await expect.poll(() => cdn.purges).toHaveLength(1);
    expect(cdn.purges[0]?.toSorted()).toEqual(everywhere);
    await logged(/A signed call has arrived[\s\S]*Updated visit\/index\.html/);
    const [home, visiting, pricing, feed] = await read();
    for (const text of [home, visiting, feed]) expect(text).toContain('Open from 9 to 18.');
    expect(pricing).toContain('Shipping is free.');

    // While the service is down, readers keep the old text, and the log says so.
    Object.assign(service.faults, { failing: 1, failingStatus: 503 });
    await publish(marketer, 'Closed on Monday.');
    await logged(/503 Service Unavailable[\s\S]*The site stays as it is until then\./);
    // The service's own sentence ends with a period.
    expect(watching.output()).toMatch(/fails for every request: 503 .*\w\. It is tried for 12s/);
    expect((await read()).join()).not.toContain('Closed on Monday.');
    for (const url of [cdn.url, origin.url]) {
      await reader.goto(`${url}/visit/`);
      await reader.getByText('Open from 9 to 18.').waitFor();
    }
    expect(cdn.purges).toHaveLength(1);

    // What was published meanwhile arrives without any action.
    service.clearFaults();
    await expect.poll(() => cdn.purges).toHaveLength(2);
    await logged(/The check succeeded again\.[\s\S]*Updated visit\/index\.html/);
    expect(cdn.purges[1]?.toSorted()).toEqual(everywhere);
    await reader.goto(`${cdn.url}/visit/`);
    await reader.getByText('Closed on Monday.').waitFor();

    watching.process.kill('SIGTERM');
    expect((await watching.ended).exitCode).toBe(143);

    const report = startCommand(site.directory, ['report'], service.environment);
    expect((await report.ended).exitCode, report.output()).toBe(0);
    await reader.goto(pathToFileURL(report.stdout().trim()).href);
    const row = reader.getByRole('row').filter({ hasText: 'changed' });
    const links = await row.getByRole('link').all();
    const urls = await Promise.all(links.map((link) => link.getAttribute('href')));
    expect(urls.toSorted()).toEqual(everywhere);
  },
  400_000,
);
