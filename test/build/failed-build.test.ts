import { expect, onTestFinished, test } from 'vitest';
import { buildSite } from '../../src/build/build-site.ts';
import { createFolder } from '../support/folder.ts';

test('a build that fails leaves no page with an embed, even if its connections cannot be closed', async () => {
  const folder = await createFolder({
    'index.html': '<p><snippet-embed id="1"></snippet-embed></p>',
    'about/index.html': '<p><snippet-embed id="2"></snippet-embed></p>',
    'plain.html': '<p>Plain</p>',
  });
  onTestFinished(() => folder.remove());
  const { directory } = folder;
  const building = buildSite({
    directory,
    outDir: directory,
    manifest: `${directory}/../no-manifest.json`,
    fetcher: {
      prefetch() {},
      fetch: () => Promise.reject(new Error('Snippet 1 could not be fetched.')),
      close: () => Promise.reject(new Error('The connections could not be closed.')),
    } as never,
    sources: { root: directory, srcDir: directory, outDir: directory },
    before: undefined,
    hadManifest: false,
    classes: undefined,
    environment: { mode: 'production' },
    collected: [],
    routeToHeaders: new Map(),
    urls: { base: '/', trailingSlash: 'ignore', format: 'directory' },
    settings: {
      apiKey: 'sk_test_3f1c9a6b52d84e07',
      html: { sanitize: undefined, scripts: 'allow', strict: false, policy: 'none' },
      exclude: [],
      timeout: 1_000,
    } as never,
    announcements: undefined,
    async onEmbeds() {},
    logger: { info() {}, warn() {} } as never,
  });
  await expect(building).rejects.toThrow('Snippet 1 could not be fetched.');
  expect(Object.keys(await folder.files())).toEqual(['plain.html']);
});
