/**
 * Side products for the config of a test site, as on real sites: compressed files, a service worker's
 * precache list, and a copy of the output where Vercel's adapter puts it.
 */
export const sideProductIntegrations = `
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import zlib from 'node:zlib';

const pagesOf = (folder) =>
  readdirSync(folder, { recursive: true }).filter((name) => /\\.(html|xml|json)$/.test(name));

/** Like astro-compressor: in \`astro:build:done\` by default. */
export const compress = (hook = 'astro:build:done') => ({ name: 'compress', hooks: { [hook]({ dir }) {
  const folder = fileURLToPath(dir);
  for (const name of pagesOf(folder)) {
    const bytes = readFileSync(join(folder, name));
    writeFileSync(join(folder, name + '.gz'), zlib.gzipSync(bytes));
    writeFileSync(join(folder, name + '.br'), zlib.brotliCompressSync(bytes));
    writeFileSync(join(folder, name + '.zst'), zlib.zstdCompressSync(bytes));
  }
} } });

/** Writes what workbox-build writes: an entry with the MD5 of each page. */
export function writePrecache(folder) {
  const entries = pagesOf(folder).filter((name) => name.endsWith('.html')).sort().map((name) => {
    const revision = createHash('md5').update(readFileSync(join(folder, name))).digest('hex');
    return \`{url:"\${name}",revision:"\${revision}"}\`;
  });
  writeFileSync(join(folder, 'sw.js'), \`self.define(["./workbox-33d6cbb8"],function(e){e.precacheAndRoute([\${entries}],{})});\`);
}

/** Copies the output like @astrojs/vercel, which adds an integration after all others. */
export const copy = () => ({ name: 'copies', hooks: {
  'astro:config:setup'({ updateConfig, config }) {
    const target = fileURLToPath(new URL('./.vercel/output/static/', config.root));
    updateConfig({ integrations: [{ name: 'copy', hooks: { 'astro:build:done'({ dir }) {
      rmSync(target, { recursive: true, force: true });
      cpSync(fileURLToPath(dir), target, { recursive: true });
    } } }] });
  },
} });
`;
