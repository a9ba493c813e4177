import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Manifest } from '../../src/record/manifest.ts';
import { temporaryFiles } from '../../src/record/refresh.ts';
import { createFolder, type Folder } from '../support/folder.ts';

let folder: Folder;
beforeEach(async () => {
  folder = await createFolder({});
});
afterEach(() => folder.remove());

test('what a killed refresh has left of an image is found, and no image is', async () => {
  await folder.write({ 'dist/_astro/a.png.refresh.tmp': 'half', 'dist/_astro/b.png': 'whole' });
  const manifest: Manifest = {
    builtAt: '2026-01-01T00:00:00.000Z',
    output: '../dist',
    settings: { concurrency: 20 },
    rules: {
      ...{ sanitizes: false, scripts: 'allow', strict: false, policy: 'none' },
      images: { hosts: ['images.test'], assets: { folder: '_astro', prefix: '/' } },
    },
    ...{ snippets: [], kinds: [], files: [], collections: [] },
  };
  const file = join(folder.directory, 'cache/manifest.json');
  expect(temporaryFiles(file, manifest)).toEqual([join(folder.directory, 'dist/_astro/a.png.refresh.tmp')]);
});
