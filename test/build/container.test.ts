import { afterAll, beforeAll, expect, test } from 'vitest';
import { byAstro } from '../support/installation.ts';
import { fetchPage, startServer } from '../support/server.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { temporarySite } from '../support/site.ts';

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ 1: '<b>one</b>' });
});
afterAll(() => service.close());

const renderer = byAstro({
  5: '@astrojs/mdx',
  6: '@astrojs/mdx',
  7: '@astrojs/mdx/container-renderer',
});

const config = (adapter = 'undefined') => `
  import mdx from '@astrojs/mdx';
  import node from '@astrojs/node';
  import { defineConfig } from 'astro/config';
  import snippets from 'astro-snippets';
  export default defineConfig({ adapter: ${adapter}, integrations: [mdx(), snippets()] });`;

/** A feed with the whole text of posts in MDX, which only Astro's Container API renders. */
const files = {
  'astro.config.mjs': config(),
  'src/content.config.ts': `
    import { defineCollection } from 'astro:content';
    import { glob } from 'astro/loaders';
    export const collections = {
      posts: defineCollection({ loader: glob({ pattern: '*.mdx', base: 'src/posts' }) }),
    };`,
  'src/posts/first.mdx': `---
title: First
---
import { Snippet } from 'astro-snippets/components';

Now <Snippet id={1}>children</Snippet> only.
`,
  'src/feed.js': `
    import { experimental_AstroContainer as AstroContainer } from 'astro/container';
    import { loadRenderers } from 'astro:container';
    import { getCollection, render } from 'astro:content';
    import { getContainerRenderer } from '${renderer}';
    import rss from '@astrojs/rss';
    export async function feed(change = (content) => content) {
      const container = await AstroContainer.create({ renderers: await loadRenderers([getContainerRenderer()]) });
      const items = [];
      for (const post of await getCollection('posts')) {
        const { Content } = await render(post);
        const content = change(await container.renderToString(Content));
        items.push({ title: post.data.title, link: '/' + post.id, content });
      }
      return rss({ title: 'Posts', description: 'All', site: 'https://example.com', items });
    }`,
  // A page with the path that a container has, and without the snippet.
  'src/pages/index.astro': '<html><body><p>home</p></body></html>',
  'src/pages/rss.xml.js': `
    import { feed } from '../feed.js';
    export const GET = () => feed();`,
};
const content = 'Now &lt;b&gt;one&lt;/b&gt; only.';

test('<Snippet> in MDX that the Container API renders is inlined in a static feed', async () => {
  const site = await temporarySite(files);
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode, output).toBe(0);
  expect(await site.read('rss.xml')).toContain(content);
});

test('<Snippet> that the Container API rendered, and that is in no file, fails the build', async () => {
  const site = await temporarySite({
    ...files,
    'src/pages/rss.xml.js': `
      import { feed } from '../feed.js';
      export const GET = () => feed((content) => content.replace(/<.*?>/g, ''));`,
  });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).not.toBe(0);
  expect(output).toContain(
    "a page of Astro's container\n    Snippet 1 was rendered here, but is not in the output. [embed-lost]",
  );
  expect(output).toContain('allow the element `snippet-embed`');
});

test('<Snippet> that the Container API rendered, and that is invalid where it is, is not called lost', async () => {
  const site = await temporarySite({
    ...files,
    'src/pages/rss.xml.js': `
      import { feed } from '../feed.js';
      export async function GET() {
        let raw = '';
        await feed((content) => (raw = content));
        return new Response('<?xml version="1.0"?><rss><item>' + raw + '</item></rss>');
      }`,
  });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode).not.toBe(0);
  expect(output).toContain('[embed-in-xml]');
  expect(output).not.toContain('embed-lost');
});

test('astro dev: a feed of the Container API shows snippets, and on demand it is an error', async () => {
  const site = await temporarySite({
    ...files,
    'astro.config.mjs': config(`node({ mode: 'standalone' })`),
    'src/pages/live.xml.js': `
      import { feed } from '../feed.js';
      export const prerender = false;
      export const GET = () => feed();`,
  });
  const dev = await startServer(site, 'dev', service.environment);
  try {
    expect((await fetchPage(`${dev.url}/rss.xml`)).html).toContain(content);
    const live = await fetchPage(`${dev.url}/live.xml`);
    expect(live.status).toBe(500);
    expect(live.html).toContain('/live.xml');
    expect(dev.output()).toContain('is rendered on demand, and contains an embed');
  } finally {
    await dev.stop();
  }
});
