import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startBrowser } from '../../support/browser.ts';
import { byAstro } from '../../support/installation.ts';
import { startServer } from '../../support/server.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { createSite, type Site } from '../../support/site.ts';

let service: TestService;
let browser: Browser;
const sites: Site[] = [];

beforeAll(async () => {
  service = await startTestService({
    1: '<b>one</b> & only',
    2: '<section>block</section>',
    3: 'findable heffalump',
  });
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  for (const site of sites) await site.remove();
  await service.close();
});

async function built(files: Record<string, string>): Promise<Site> {
  const site = await createSite(files);
  sites.push(site);
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode, output).toBe(0);
  return site;
}

/** A page of the output, without scripts and without names that differ from build to build. */
async function pageOf(site: Site, name: string): Promise<string> {
  return (await site.read(name))
    .replaceAll(/<script\b[\s\S]*?<\/script>/g, '')
    .replaceAll(/<style\b[\s\S]*?<\/style>/g, '')
    .replaceAll(
      /(uid|component-url|renderer-url|component-export|opts|ssr|await-children|data-astro-cid-\w+)="[^"]*"/g,
      '$1',
    )
    .replaceAll(/ prefix="[^"]*"/g, ' prefix');
}

const config = (integrations: string, imports: string, more = '') => `
import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
${imports}
export default defineConfig({ integrations: [${integrations}snippets()], ${more} });`;

const frameworks = {
  React: {
    config: config('react(), ', `import react from '@astrojs/react';`),
    'src/components/Box.jsx': `
      import { useState } from 'react';
      export default function Box({ children }) {
        const [count, setCount] = useState(0);
        return <div className="box"><button onClick={() => setCount(count + 1)}>{count}</button>{children}</div>;
      }`,
    'src/components/Own.jsx': `export default function Own() { return <div><snippet-embed id="1"></snippet-embed></div>; }`,
    extension: 'jsx',
  },
  Vue: {
    // Vue needs to know which elements are not its components.
    config: config(
      `vue({ template: { compilerOptions: { isCustomElement: (tag) => tag === 'snippet-embed' } } }), `,
      `import vue from '@astrojs/vue';`,
    ),
    'src/components/Box.vue': `
<script setup>
import { ref } from 'vue';
const count = ref(0);
</script>
<template><div class="box"><button @click="count++">{{ count }}</button><slot /></div></template>`,
    'src/components/Own.vue': '<template><div><snippet-embed id="1"></snippet-embed></div></template>',
    extension: 'vue',
  },
} as const;

describe.for(['React', 'Vue'] as const)('%s', (name) => {
  const { config: configuration, extension, ...components } = frameworks[name];
  const files = { 'astro.config.mjs': configuration, ...components };

  test('snippets are inlined in the children of an island and in components without hydration', async () => {
    const site = await built({
      ...files,
      'src/pages/index.astro': `---
import { Snippet } from 'astro-snippets/components';
import Box from '../components/Box.${extension}';
import Own from '../components/Own.${extension}';
---
<html><head><link rel="icon" href="data:,"></head><body><Box client:load><p><Snippet id={1} /></p></Box><Box><Snippet id={2} /></Box><Own /></body></html>`,
    });
    expect(await pageOf(site, 'index.html')).toMatchSnapshot();

    const preview = await startServer(site, 'preview');
    try {
      const page = await browser.newPage();
      const problems: string[] = [];
      page.on('console', (message) => void problems.push(`${message.type()}: ${message.text()}`));
      page.on('pageerror', (error) => void problems.push(error.message));
      await page.goto(preview.url);
      await page.locator('astro-island:not([ssr])').waitFor({ state: 'attached' });
      await page.locator('.box button').first().click();
      expect(await page.locator('.box').first().innerText()).toMatch(/^1\s+one & only$/);
      expect(await page.locator('.box b').first().textContent()).toBe('one');
      expect(problems).toEqual([]);
      await page.close();
    } finally {
      await preview.stop();
    }
  });

  test("an embed in a hydrated island's own markup fails the build with a hint", async () => {
    const site = await createSite({
      ...files,
      'src/pages/lost.astro': `---
import Own from '../components/Own.${extension}';
---
<html><body><Own client:idle /></body></html>`,
    });
    sites.push(site);
    const { exitCode, output } = await site.build(service.environment);
    expect(exitCode).toBe(1);
    expect(output).toMatch(/src\/components\/Own\.\w+:\d+\n +writes <snippet-embed> in the browser/);
    expect(output).toContain('pass it to an island as children');
  });
});

test('snippets are inlined in Markdown that remark processes', async () => {
  // Remark is the only processor of Astro 5.
  const processor: [imports: string, option: string] = [
    "import { unified } from '@astrojs/markdown-remark';",
    'markdown: { processor: unified() }',
  ];
  const site = await built({
    'astro.config.mjs': config('', ...byAstro<typeof processor>({ 5: ['', ''], 6: processor, 7: processor })),
    'src/pages/index.md':
      '# Post\n\n<snippet-embed id="2"></snippet-embed>\n\nText <snippet-embed id="1"></snippet-embed>.\n\n`<snippet-embed id="9">`\n',
  });
  expect(await pageOf(site, 'index.html')).toMatchSnapshot();
});

test('snippets are inlined in pages with view transitions', async () => {
  const site = await built({
    'src/pages/index.astro': `---
import { ClientRouter } from 'astro:transitions';
import { Snippet } from 'astro-snippets/components';
---
<html><head><ClientRouter /></head><body><p transition:persist><Snippet id={1} /></p></body></html>`,
  });
  expect((await pageOf(site, 'index.html')).replaceAll(/="astro-\w+-\d+"/g, '')).toMatchSnapshot();
});

test('a sitemap, an HTML minifier and Pagefind see pages with inlined snippets', async () => {
  const site = await built({
    'astro.config.mjs': config(
      'sitemap(), minify(), search(), ',
      `import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import sitemap from '@astrojs/sitemap';
import { minify as minifyHtml } from 'html-minifier-terser';
import * as pagefind from 'pagefind';
const minify = () => ({ name: 'minify', hooks: { 'astro:build:done': async ({ dir }) => {
  const file = new URL('index.html', dir);
  await writeFile(file, await minifyHtml(await readFile(file, 'utf8'), { collapseWhitespace: true, removeComments: true }));
} } });
const search = () => ({ name: 'search', hooks: { 'astro:build:done': async ({ dir }) => {
  const { index } = await pagefind.createIndex();
  await index.addDirectory({ path: fileURLToPath(dir) });
  const { files } = await index.getFiles();
  await writeFile(new URL('found.txt', dir), files.map(({ path }) => path).join('\\n'));
  await writeFile(new URL('fragments.bin', dir), Buffer.concat(files.filter(({ path }) => path.includes('fragment')).map(({ content }) => Buffer.from(content))));
  await pagefind.close();
} } });`,
      `site: 'https://example.test'`,
    ),
    'src/pages/index.astro':
      '<html lang="en"><head><title>x</title></head><body>\n\n<!-- gone -->  <p><snippet-embed id="3"></snippet-embed></p>  </body></html>',
  });
  expect(await site.read('index.html')).toBe(
    '<!DOCTYPE html><html lang="en"><head><title>x</title></head><body><p>findable heffalump</p></body></html>',
  );
  expect(await site.read('sitemap-0.xml')).toContain('<loc>https://example.test/</loc>');
  const { gunzipSync } = await import('node:zlib');
  expect(gunzipSync(await readFile(join(site.directory, 'dist/fragments.bin'))).toString()).toContain(
    'findable heffalump',
  );
});

test('<Snippet> in a server island is an error with a hint, as it is rendered on demand', async () => {
  const site = await createSite({
    'astro.config.mjs': config(
      '',
      `import node from '@astrojs/node';`,
      `adapter: node({ mode: 'standalone' })`,
    ),
    'src/components/Late.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<p><Snippet id={1} /></p>`,
    'src/pages/index.astro': `---
import Late from '../components/Late.astro';
---
<html><body><Late server:defer><i slot="fallback">soon</i></Late></body></html>`,
  });
  sites.push(site);
  const dev = await startServer(site, 'dev', service.environment);
  try {
    const page = await browser.newPage();
    await page.goto(dev.url);
    await vi.waitFor(() => expect(dev.output()).toContain('which is rendered on demand'), {
      timeout: 60_000,
    });
    expect(dev.output()).toContain('SnippetClient');
    await page.close();
  } finally {
    await dev.stop();
  }
});
