import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryService } from '../../support/service/service.ts';
import { folderWith } from '../../support/site/folder.ts';
import { temporarySite } from '../../support/site/site.ts';
import { networkSettings } from '../../support/tools/environment.ts';
import { packPackage, startRegistry } from '../../support/tools/registry.ts';

test('npx astro add astro-snippets installs only the published files and adds the package to the config, and the site builds', async () => {
  const { directory: folder } = await folderWith({});
  const registry = await startRegistry(await packPackage(folder));
  onTestFinished(() => registry.close());
  const service = await temporaryService({ 1: '<b>one</b>' });
  const site = await temporarySite({
    'package.json': JSON.stringify({
      name: 'site',
      private: true,
      type: 'module',
      packageManager: 'npm@11.0.0',
    }),
    'astro.config.mjs': `// @ts-check
import { defineConfig } from 'astro/config';

export default defineConfig({ site: 'https://example.com' });
`,
    'src/pages/index.astro': '<p><snippet-embed id="1"></snippet-embed></p>',
  });

  const added = await site.start(['add', 'astro-snippets', '--yes'], {
    ...networkSettings(),
    npm_config_registry: registry.url,
    npm_config_replace_registry_host: 'always',
    npm_config_cache: join(folder, 'cache'),
  }).ended;
  expect(added.exitCode, added.output).toBe(0);
  expect(registry.asked).toContain('/astro-snippets/latest');

  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../../package.json'), 'utf8'));
  const manifest = JSON.parse(await readFile(join(site.directory, 'package.json'), 'utf8'));
  expect(manifest.dependencies).toEqual({ 'astro-snippets': `^${version}` });
  const packed = await site.list('node_modules/astro-snippets');
  expect(packed).toEqual(
    expect.arrayContaining([
      'dist/index.js',
      'README.md',
      'LICENSE',
      'CHANGELOG.md',
      'llms.txt',
      'docs/README.md',
    ]),
  );
  const published =
    /^(dist\/.+\.(js|d\.ts|astro|eta|css)|dist\/components\/index\.ts|[A-Z]+(\.md)?|docs\/[\w-]+\.md|llms\.txt|docs\/performance\/[a-z-]+\.svg|docs\/images\/playground\.png|package\.json)$/;
  expect(packed.filter((name) => !published.test(name))).toEqual([]);
  // npm installs no second Astro.
  expect(await site.list('node_modules/astro')).toEqual([]);
  const config = await readFile(join(site.directory, 'astro.config.mjs'), 'utf8');
  expect(config).toMatch(/^import \w+ from 'astro-snippets';$/m);
  expect(config).toMatch(/integrations: \[\w+\(\)\]/);

  const built = await site.build(service.environment);
  expect(built.exitCode, built.output).toBe(0);
  expect(await site.read('index.html')).toBe('<!DOCTYPE html><p><b>one</b></p>');
});
