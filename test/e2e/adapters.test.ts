import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { sharedService } from '../support/site/built-site.ts';
import { configWith, type Site, temporarySite } from '../support/site/site.ts';
import { startCommand } from '../support/tools/command.ts';

const run = promisify(execFile);
const service = await sharedService({});

/** Each adapter, and whether it allows on-demand pages beside the prerendered ones. */
const adapters = [
  {
    name: '@astrojs/node',
    call: `adapter({ mode: 'standalone' })`,
    packages: [],
    onDemand: true,
    folders: ['dist'],
    copies: 0,
  },
  {
    name: '@astrojs/vercel',
    call: 'adapter()',
    packages: ['@astrojs/vercel@11'],
    onDemand: false,
    folders: ['dist', '.vercel/output'],
    copies: 1,
  },
  {
    name: '@astrojs/cloudflare',
    call: `adapter({ imageService: 'passthrough' })`,
    packages: ['@astrojs/cloudflare@14', 'wrangler@4'],
    onDemand: true,
    folders: ['dist'],
    copies: 0,
  },
];

test.each(adapters)('a refresh with $name gives the same files as a full build', async (adapter) => {
  const { name, call, packages, onDemand, folders, copies } = adapter;
  const site = await temporarySite({
    'astro.config.mjs': configWith('', {
      imports: `import adapter from '${name}';`,
      settings: `adapter: ${call}, session: false,`,
    }),
    'wrangler.jsonc': JSON.stringify({ name: 'site', compatibility_date: '2026-01-01' }),
    'src/pages/index.astro': '<html><body><p><snippet-embed id="1"></snippet-embed></p></body></html>',
    'src/pages/about.astro': '<html><body><p><snippet-embed id="1"></snippet-embed></p></body></html>',
    'src/pages/rss.xml.js': `export const GET = () => new Response('<rss>&lt;snippet-embed id="1">&lt;/snippet-embed></rss>');`,
    ...(onDemand && {
      'src/pages/time.astro': '---\nexport const prerender = false;\n---\n<p>{Date.now()}</p>',
    }),
  });
  if (packages.length > 0) {
    // The site finds Astro and a package.json in the folders above.
    const flags = ['--no-save', '--legacy-peer-deps', '--no-audit', '--no-fund', '--no-package-lock'];
    await run('npm', ['install', '--prefix', site.directory, ...flags, ...packages], {
      timeout: 250_000,
      shell: process.platform === 'win32',
    });
  }
  // Otherwise each build generates a new key for server islands.
  const environment = {
    ...service.environment,
    ASTRO_KEY: 'eQ4yG3hW1n9mV0s6dLr5bX2cZ8aKtUfPjR7iOqEwYhM=',
    WRANGLER_SEND_METRICS: 'false',
  };
  service.put(1, 'the heffalump');
  await site.builds(environment);
  service.put(1, 'the woozle');
  const refreshed = await startCommand(site.directory, ['refresh'], service.environment).ended;
  expect(refreshed.exitCode, refreshed.output).toBe(0);
  const now = await contents(site, folders);
  const woozles = [...now.values()].filter((text) => text.includes('woozle'));
  expect(woozles).toHaveLength(3 * (1 + copies));
  expect([...now.values()].filter((text) => text.includes('heffalump'))).toEqual([]);
  expect(await startCommand(site.directory, ['check'], service.environment).ended).toMatchObject({
    exitCode: 0,
  });
  await site.builds(environment);
  const fresh = await contents(site, folders);
  expect([...now.keys()]).toEqual([...fresh.keys()]);
  for (const [file, text] of fresh) expect(now.get(file), file).toBe(text);
});

async function contents(site: Site, folders: readonly string[]): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  for (const folder of folders) {
    for (const name of await site.list(folder)) {
      all.set(`${folder}/${name}`, await readFile(join(site.directory, folder, name), 'latin1'));
    }
  }
  return all;
}
