import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBrowser } from '../support/browser.ts';
import { startServer } from '../support/server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type BuildResult, createSite, type Site } from '../support/site.ts';

const embed = '<snippet-embed id="1"></snippet-embed>';
const written = (file: string) =>
  new RegExp(`${file.replace(/[.[\]]/g, '\\$&')}\\n +writes <snippet-embed> in the browser`);
const onDemand = (file: string) =>
  new RegExp(
    `${file.replace(/[.[\]]/g, '\\$&')}\\n +is built for pages or server islands that are rendered on demand`,
  );

const sites: Site[] = [];
let service: TestService;
let browser: Browser;
const site = async (files: Record<string, string>) => {
  const created = await createSite(files);
  sites.push(created);
  return created;
};
const inDev = async (served: Site, look: (url: string, output: () => string) => Promise<void>) => {
  const dev = await startServer(served, 'dev', service.environment);
  try {
    await look(dev.url, dev.output);
  } finally {
    await dev.stop();
  }
};

const overlayOf = async (url: string) => {
  const page = await browser.newPage();
  await page.goto(url);
  const overlay = page.locator('vite-error-overlay');
  await overlay.waitFor({ state: 'attached', timeout: 60_000 });
  const text = await overlay.evaluate((element) => element.shadowRoot?.textContent);
  await page.close();
  return text;
};

beforeAll(async () => {
  service = await startTestService({ 1: '<b>content</b>' });
  browser = await startBrowser();
});
afterAll(async () => {
  await Promise.all(sites.map((one) => one.remove()));
  await browser.close();
  await service.close();
});

describe('in the browser', () => {
  let failing: Site;
  let built: BuildResult;
  beforeAll(async () => {
    failing = await site({
      'astro.config.mjs': `
        import preact from '@astrojs/preact';
        import react from '@astrojs/react';
        import vue from '@astrojs/vue';
        import { defineConfig } from 'astro/config';
        import snippets from 'astro-snippets';
        export default defineConfig({
          integrations: [snippets(), react({ include: '**/react/*' }), preact({ include: '**/preact/*' }), vue()],
        });`,
      'src/react/Only.jsx': `export default function Only() {\n  return <p>\n    ${embed}\n  </p>;\n}`,
      'src/react/Upper.jsx': `export default function Upper() {\n  return <p dangerouslySetInnerHTML={{ __html: '<SNIPPET-EMBED id="1"></SNIPPET-EMBED>' }} />;\n}`,
      'src/preact/Only.jsx': `export default function Only() {\n  return <p>${embed}</p>;\n}`,
      'src/Only.vue': `<script setup>\nconst id = 1;\n</script>\n<template><p><snippet-embed :id="id" /></p></template>`,
      'src/compiled.js': `import * as $ from './runtime.js';\nconst root = $.from_html('<p>${embed}</p>');\nexport const mount = () => $.append(root());`,
      'src/runtime.js':
        'export const from_html = (html) => () => html;\nexport const append = (html) => document.body.append(html);',
      'src/react/Harmless.jsx': `import { unused } from '../unused.js';
// ${embed} in a comment
export default function Harmless() {
  return <p onClick={() => document.querySelector('snippet-embed')}><code>{'${embed}'}</code></p>;
}`,
      'src/react/Server.jsx': `export default function Server() {\n  return <p>{import.meta.env.SSR ? '' : 'browser'}{import.meta.env.SSR ? ${embed} : ''}</p>;\n}`,
      'src/unused.js': `export const unused = '${embed}';`,
      'node_modules/dependency/package.json':
        '{ "name": "dependency", "type": "module", "exports": "./index.js" }',
      'node_modules/dependency/index.js': `export const show = () => { document.body.innerHTML = '${embed}'; };`,
      'src/pages/index.astro': `---
import React from '../react/Only.jsx';
import Upper from '../react/Upper.jsx';
import Harmless from '../react/Harmless.jsx';
import Server from '../react/Server.jsx';
import Preact from '../preact/Only.jsx';
import Vue from '../Only.vue';
---
<html><body><React client:only="react" /><Upper client:only="react" /><Harmless client:only="react" />
<Server client:only="react" /><Preact client:load /><Vue client:only="vue" />
<script>
  import { mount } from '../compiled.js';
  import { show } from 'dependency';
  show(mount());
</script>
<script>
  document.title = '${embed}';
</script></body></html>`,
      'src/pages/only.astro': `---
import React from '../react/Only.jsx';
---
<html><body><React client:only="react" /></body></html>`,
    });
    built = await failing.build(service.environment);
  });

  test('the build fails and says what to do', () => {
    expect(built.exitCode).toBe(1);
    expect(built.output).toMatch(/\[astro-snippets\/embed-in-browser\] .*6 files contain embeds/);
    expect(built.output).toContain('pass it to an island as children');
  });

  test.each([
    ['a React island that is client:only', 'src/react/Only.jsx:3'],
    ['upper case', 'src/react/Upper.jsx:2'],
    ['a hydrated Preact island', 'src/preact/Only.jsx:2'],
    ['a Vue island', 'src/Only.vue:4'],
    ['a compiled template', 'src/compiled.js:2'],
    ['a script of a page', 'src/pages/index.astro:17'],
  ])('%s is named with its line', (_what, file) => {
    expect(built.output).toMatch(written(file));
  });

  test('a mention is one warning, and what the bundle leaves out is none', () => {
    expect(built.output.match(/WARN.*src\/react\/Harmless\.jsx mentions snippet-embed/g)).toHaveLength(1);
    expect(built.output).not.toContain('Server.jsx');
    expect(built.output).not.toContain('unused.js');
  });

  test('a dependency that writes the element is a warning', () => {
    expect(
      built.output.match(/WARN.*node_modules\/dependency\/index\.js mentions snippet-embed/g),
    ).toHaveLength(1);
  });

  test('astro dev shows the file and the line in the overlay', async () => {
    await inDev(failing, async (url, output) => {
      expect(await overlayOf(`${url}/only`)).toContain(
        'src/react/Only.jsx:3 writes <snippet-embed> in the browser',
      );
      expect(output()).toContain('pass it to an island as children');
    });
  });
});

const adapter = `
  import mdx from '@astrojs/mdx';
  import node from '@astrojs/node';
  import { defineConfig } from 'astro/config';
  import snippets from 'astro-snippets';
  export default defineConfig({ base: '/docs', adapter: node({ mode: 'standalone' }), integrations: [snippets(), mdx()] });`;
const shared = {
  'astro.config.mjs': adapter,
  'src/content.config.ts': `
    import { defineCollection } from 'astro:content';
    import { glob } from 'astro/loaders';
    export const collections = { posts: defineCollection({ loader: glob({ pattern: '*', base: './src/posts' }) }) };`,
  'src/example.md': `\`${embed}\`\n\n\`\`\`html\n${embed}\n\`\`\`\n`,
  'src/posts/a.md': `text ${embed}`,
  'src/posts/b.mdx': `import { Snippet } from 'astro-snippets/components';\n\n<Snippet id={1} />`,
  'src/pages/still.astro': `---
import Still from '../Still.astro';
import { Snippet } from 'astro-snippets/components';
---
<html><body><Still /><Snippet id={1} /></body></html>`,
  'src/Still.astro': `<p>${embed}</p>`,
  'src/pages/list.astro': `---
import { getCollection, render } from 'astro:content';
import { SnippetClient } from 'astro-snippets/client';
export const prerender = false;
import { Content } from '../example.md';
import raw from '../example.md?raw';
const posts = await getCollection('posts');
const { Content: Post } = await render(posts[0]);
---
<html><body><Content /><Post />{raw.length} {posts.length} {String(SnippetClient).length} <code>{'${embed}'}</code></body></html>`,
  'src/middleware.ts': `
    export const onRequest = async (context, next) => {
      const response = await next();
      if (!context.isPrerendered) return response;
      return new Response((await response.text()).replace('</body>', '<i>${embed}</i></body>'), response);
    };`,
};

describe('on demand', () => {
  let failing: Site;
  let built: BuildResult;
  beforeAll(async () => {
    failing = await site({
      ...shared,
      'src/pages/live.astro': `---
import Hand from '../Hand.astro';
export const prerender = false;
---
<html><body>
<Hand />${embed}</body></html>`,
      'src/Hand.astro': `<p>by\n  hand ${embed}</p>`,
      'src/pages/component.astro': `---
export const prerender = false;
import { Snippet } from 'astro-snippets/components';
---
<Snippet id={1} />`,
      'src/pages/live.json.ts': `export const prerender = false;\nexport const GET = () => Response.json({ html: '${embed}' });`,
      'src/Late.astro': `<p>${embed}</p>`,
      'src/pages/island.astro': `---
import Late from '../Late.astro';
---
<html><body><Late server:defer><i slot="fallback">${embed}</i></Late></body></html>`,
    });
    built = await failing.build(service.environment);
  });

  test('the build fails and says what works there', () => {
    expect(built.exitCode).toBe(1);
    expect(built.output).toMatch(/\[astro-snippets\/on-demand-page\] .*5 files contain embeds/);
    expect(built.output).toContain('fetch the snippet in the frontmatter with `SnippetClient`');
  });

  test.each([
    ['an embed in a page', 'src/pages/live.astro:6'],
    ['an embed in a component of that page', 'src/Hand.astro:2'],
    ['<Snippet> in a page', 'src/pages/component.astro:3'],
    ['an endpoint', 'src/pages/live.json.ts:2'],
    ['a server island', 'src/Late.astro:1'],
  ])('%s is named with its line', (_what, file) => {
    expect(built.output).toMatch(onDemand(file));
  });

  test('astro dev says the same of a page, with its sources', async () => {
    await inDev(failing, async (url) => {
      const live = await fetch(`${url}/docs/live`);
      expect(live.status).toBe(500);
      const text = await live.text();
      expect(text).toContain('/docs/live (route /live) is rendered on demand');
      expect(text).toContain('src/pages/live.astro:6');
      expect(text).toContain('src/Hand.astro:2');
      expect(text).not.toContain('src/Still.astro');
      expect((await fetch(`${url}/docs/still`)).status).toBe(200);
    });
  });

  test('astro dev shows the error of a server island on the page that holds it', async () => {
    await inDev(failing, async (url) => {
      const text = await overlayOf(`${url}/docs/island`);
      expect(text).toContain('The server island Late is rendered on demand');
      expect(text).toContain('src/Late.astro:1');
      expect(text).not.toContain('<br>');
    });
  });
});

test('an embed passed to a server island fails the build: Astro encrypts it', async () => {
  const { exitCode, output } = await (
    await site({
      ...shared,
      'src/Late.astro': '<p><slot /></p>',
      'src/pages/island.astro': `---
import Late from '../Late.astro';
import { Snippet } from 'astro-snippets/components';
---
<html><body><Late server:defer>
  <b>${embed}</b>
</Late></body></html>`,
      'src/pages/component.astro': `---
import Late from '../Late.astro';
import { Snippet } from 'astro-snippets/components';
---
<html><body><Late server:defer>
  <Snippet id={1} />
</Late></body></html>`,
    })
  ).build(service.environment);
  expect(exitCode).toBe(1);
  expect(output).toMatch(/src\/pages\/island\.astro:6\n +passes an embed to a server island/);
  expect(output).toMatch(/src\/pages\/component\.astro:6\n +passes an embed to a server island/);
});

test('a site with on-demand pages builds; what only collections and the middleware hold is a warning', async () => {
  const mixed = await site(shared);
  const { exitCode, output } = await mixed.build(service.environment);
  expect(output).not.toContain('on-demand-page');
  expect(exitCode).toBe(0);
  expect(await mixed.read('client/still/index.html')).toContain(
    '<p><b>content</b></p><b>content</b><i><b>content</b></i>',
  );
  expect(output).toMatch(/WARN.*Collections contain embeds/);
  expect(output).toMatch(/WARN.*src\/posts\/b\.mdx:1 contains an embed, .*this entry of a collection/);
  expect(output).toMatch(/WARN.*src\/middleware\.ts:5 contains an embed, and the middleware runs/);
  expect(output).toContain('SnippetClient from astro-snippets/client in the frontmatter');
  expect(output).not.toMatch(/WARN.*(?:Still|list)\.astro/);
  expect(output).toMatch(/WARN.*src\/example\.md mentions snippet-embed/);
});
