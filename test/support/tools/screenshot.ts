import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** A picture of two pages for the docs. */
export interface Picture {
  /** Adds a screenshot of a page. */
  add(page: Page): Promise<void>;
  /** Writes the picture, with the second page in front of the first, at the opposite corner. */
  write(page: Page, size: { width: number; height: number }): Promise<void>;
}

/**
 * Takes a picture into the folder named by SCREENSHOTS, which `npm run screenshots` sets. Does nothing
 * without that variable.
 */
export function pictureOf(name: string): Picture {
  const folder = process.env['SCREENSHOTS'];
  if (folder === undefined) return { add: async () => {}, write: async () => {} };
  const windows: string[] = [];
  const options = { scale: 'css', animations: 'disabled', caret: 'hide' } as const;
  return {
    async add(page) {
      windows.push((await page.screenshot(options)).toString('base64'));
    },
    async write(page, size) {
      const images = windows.map((window) => `<img src="data:image/png;base64,${window}">`);
      await page.setViewportSize(size);
      await page.setContent(`<style>
        body { margin: 0; background: #dfe6ee }
        img { position: absolute; left: 40px; top: 40px; border-radius: 10px; box-shadow: 0 0 0 1px #0002, 0 8px 16px #0003 }
        img + img { left: auto; top: auto; right: 40px; bottom: 40px }
      </style>${images.join('')}`);
      await mkdir(folder, { recursive: true });
      await page.screenshot({ ...options, path: join(folder, name) });
    },
  };
}
