import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { afterAll } from 'vitest';

const installed = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The path of Chromium: CHROMIUM_PATH, Playwright's, or the system's. */
export function findChromium(): string | undefined {
  return [process.env['CHROMIUM_PATH'], chromium.executablePath(), ...installed].find(
    (path) => path !== undefined && path !== '' && existsSync(path),
  );
}

/** Starts one Chromium for all files. Vitest calls this before the tests. */
export default async function launchBrowser(): Promise<(() => Promise<void>) | undefined> {
  // Another project of this run may have started the browser already.
  if (process.env['TEST_BROWSER'] !== undefined) return undefined;
  const server = await chromium.launchServer({
    executablePath: findChromium() ?? '',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  process.env['TEST_BROWSER'] = server.wsEndpoint();
  return () => server.close();
}

/** The browser of this run. Closes the contexts of a test file after its tests. */
export async function sharedBrowser(): Promise<Browser> {
  const { TEST_BROWSER } = process.env;
  if (TEST_BROWSER === undefined) {
    throw new Error('Tests in a browser are part of npm run test:e2e, and belong in test/e2e.');
  }
  const browser = await chromium.connect(TEST_BROWSER);
  afterAll(() => browser.close());
  return browser;
}
