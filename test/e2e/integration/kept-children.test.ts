import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { serveFolder } from '../../support/http/folder-server.ts';
import { builtSite } from '../../support/site/built-site.ts';
import { startServer } from '../../support/site/server.ts';
import { configWith } from '../../support/site/site.ts';
import { sharedBrowser } from '../../support/tools/browser.ts';

const imports = `---
import { Snippet } from 'astro-snippets/components';
import Count from '../components/Count.jsx';
import Toggle from '../components/Toggle.vue';
import Card from '../components/Card.astro';
---
`;
const components = `<Count client:load /><Toggle client:own /><Card /><script is:inline>window.own = true</script>`;

const { service, site } = await builtSite(
  { 1: '<b>one</b>', 2: '<section>block</section>' },
  {
    'astro.config.mjs': configWith('{ editLinks: false }', {
      imports: `import react from '@astrojs/react'; import vue from '@astrojs/vue';
const own = { name: 'own', hooks: { 'astro:config:setup': ({ addClientDirective, injectScript }) => {
  addClientDirective({ name: 'own', entrypoint: './own-directive.js' });
  injectScript('head-inline', 'window.injected = true;');
} } };`,
      integrations: 'react(), vue(), own, ',
      // Vite serves node_modules also where it is a link.
      settings: 'vite: { server: { fs: { strict: false } } },',
    }),
    'own-directive.js': 'export default async (load) => { await (await load())(); };',
    'src/components/Count.jsx': `import { useState } from 'react';
export default function Count() { const [n, set] = useState(0); return <button onClick={() => set(n + 1)}>{n}</button>; }`,
    'src/components/Toggle.vue': `<script setup>import { ref } from 'vue'; const on = ref(false);</script>
<template><button @click="on = !on">{{ on ? 'on' : 'off' }}</button></template>`,
    'src/components/Card.astro': `<p class="card">card</p>
<style>.card { color: rgb(1, 2, 3); }</style>
<script>for (const card of document.querySelectorAll('.card')) card.classList.add('ready');</script>`,
    // Everything that Astro writes once for the page is among the children.
    'src/pages/index.astro': `${imports}<html><head><title>x</title></head><body>
<Snippet id={1}>${components}</Snippet>
<main><Count client:load /><Toggle client:own /><Card /></main></body></html>`,
    // Without a <head>, also the styles, and the scripts of integrations.
    'src/pages/headless.astro': `${imports}<Snippet id={2}>${components}</Snippet>
<main><Count client:load /><Toggle client:own /><Card /></main>`,
    'src/pages/missing.astro': `${imports}<html><head><title>x</title></head><body>
<Snippet id={9} optional as="text">${components}</Snippet>
<main><Count client:load /><Toggle client:own /><Card /></main></body></html>`,
  },
);

const browser = await sharedBrowser();
const context = await browser.newContext();
afterEach(async () => {
  for (const page of context.pages()) await page.close();
});

/** Opens a page, and uses the components outside of the embed. */
async function expectAlive(url: string, isHeadless = false): Promise<void> {
  const page = await context.newPage();
  await page.goto(url);
  const [count, toggle] = [page.locator('main button').first(), page.locator('main button').last()];
  // Islands lose the attribute `ssr` when they hydrate.
  await expect.poll(() => page.locator('main astro-island:not([ssr])').count()).toBe(2);
  await count.click();
  await expect.poll(() => count.textContent()).toBe('1');
  await toggle.click();
  await expect.poll(() => toggle.textContent()).toBe('on');
  const card = page.locator('main .card');
  await expect.poll(() => card.getAttribute('class')).toContain('ready');
  expect(await card.evaluate((element) => getComputedStyle(element).color)).toBe('rgb(1, 2, 3)');
  expect(await page.evaluate('window.injected')).toBe(true);
  // On a page without a <head>, a script of the author's looks like one of an integration.
  expect(await page.evaluate('window.own')).toBe(isHeadless ? true : undefined);
  if (isHeadless) expect(await page.locator('body > section').textContent()).toBe('block');
  // The children are gone.
  expect(await page.locator('astro-island').count()).toBe(2);
}

test('islands and components elsewhere on a page live on when content replaces children with their scripts', async () => {
  const server = await serveFolder(join(site.directory, 'dist'));
  try {
    await expectAlive(`${server.url}/`);
    await expectAlive(`${server.url}/headless/`, true);
    await expectAlive(`${server.url}/missing/`);

    service.put(1, '<i>new</i>');
    expect(await site.run('refresh')).toMatchObject({ exitCode: 0 });
    expect(await site.read('index.html')).toContain('<i>new</i>');
    await expectAlive(`${server.url}/`);
  } finally {
    await server.close();
  }
});

test('in astro dev, they live on, too', async () => {
  const dev = await startServer(site, 'dev', service.environment);
  try {
    await expectAlive(`${dev.url}/`);
    await expectAlive(`${dev.url}/headless`, true);
  } finally {
    await dev.stop();
  }
});
