import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';

/**
 * Writes what a page shows to a file of the folder that SCREENSHOTS names: `npm run screenshots` does so for those in the
 * documentation. Without it, nothing is written.
 */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS'];
  if (folder === undefined) return;
  await mkdir(resolve(folder), { recursive: true });
  await page.screenshot({
    path: join(resolve(folder), name),
    scale: 'css',
    animations: 'disabled',
    caret: 'hide',
  });
}
