import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../support/service.ts';
import { createSite, type Site } from '../support/site.ts';

// What `npm create astro` writes, cut down to what matters here: every kind of page, collection and integration. Code has
// no language, since its highlighter gives up within a line on a busy machine.

const html = 'Ask <b>Ann</b>';
const text = 'Ask Ann';

interface Words {
  /** In HTML, and in Markdown. */
  html: string;
  /** In a text of frontmatter or of a script. */
  text: string;
}

const literal: Words = { html, text };
const embedded: Words = {
  html: '<snippet-embed id="1"></snippet-embed>',
  // In the description of a feed, too.
  text: '<snippet-embed id="1" as="text"></snippet-embed>',
};

const config = (imports: string, integrations: string, snippets: boolean) => `
import { defineConfig } from 'astro/config';
${imports}
${snippets ? "import snippets from 'astro-snippets';" : ''}
export default defineConfig({
  site: 'https://example.com',
  integrations: [${[integrations, snippets ? 'snippets()' : ''].filter(Boolean).join(', ')}],
});`;

const posts = (folder: string, pattern: string) => `
import { defineCollection } from 'astro:content';
import { glob } from 'astro/loaders';
import { z } from 'astro/zod';
export const collections = {
  ${folder}: defineCollection({
    loader: glob({ base: './src/content/${folder}', pattern: '${pattern}' }),
    schema: z.object({ title: z.string(), description: z.string(), pubDate: z.coerce.date() }),
  }),
};`;

const post = (words: Words) => `---
title: 'First ${words.text}'
description: 'About ${words.text}'
pubDate: 'Jul 08 2022'
---

Lorem ${words.html} ipsum.

## Second

- one ${words.html}
`;

const slugPage = (folder: string) => `---
import { getCollection, render } from 'astro:content';
import Layout from '../../layouts/Layout.astro';
export async function getStaticPaths() {
  return (await getCollection('${folder}')).map((entry) => ({ params: { slug: entry.id }, props: entry }));
}
const { Content } = await render(Astro.props);
---
<Layout title={Astro.props.data.title} description={Astro.props.data.description}><Content /></Layout>`;

const layout = `---
import '../styles/global.css';
const { title, description } = Astro.props;
---
<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <title>{title}</title>
    <meta name="description" content={description} />
    <meta property="og:title" content={title} />
  </head>
  <body><h1>{title}</h1><main><slot /></main></body>
</html>
<style>h1 { color: darkblue }</style>`;

const templates: Record<string, (words: Words, snippets: boolean) => Record<string, string>> = {
  minimal: (words, snippets) => ({
    'astro.config.mjs': config('', '', snippets),
    'src/pages/index.astro': `---
---
<html lang="en"><head><title>Astro</title></head><body><h1>Astro</h1><p>${words.html}</p></body></html>`,
  }),
  blog: (words, snippets) => ({
    'astro.config.mjs': config(
      `import mdx from '@astrojs/mdx';\nimport sitemap from '@astrojs/sitemap';`,
      'mdx(), sitemap()',
      snippets,
    ),
    'src/content.config.ts': posts('blog', '**/*.{md,mdx}'),
    'src/content/blog/first-post.md': post(words),
    'src/content/blog/using-mdx.mdx': `${post(words)}\n{1 + 1}\n`,
    'src/layouts/Layout.astro': layout,
    'src/styles/global.css': 'body { margin: 0 }',
    'src/pages/blog/[...slug].astro': slugPage('blog'),
    'src/pages/index.astro': `---
import { getCollection } from 'astro:content';
import Layout from '../layouts/Layout.astro';
const posts = await getCollection('blog');
---
<Layout title="Blog" description="All"><ul>{posts.map(({ id, data }) => <li><a href={id}>{data.title}</a></li>)}</ul></Layout>`,
    'src/pages/rss.xml.js': `
import rss from '@astrojs/rss';
import { getCollection } from 'astro:content';
export const GET = async (context) =>
  rss({
    title: 'Blog',
    description: 'All',
    site: context.site,
    items: (await getCollection('blog')).map(({ id, data }) => ({ ...data, link: '/blog/' + id + '/' })),
  });`,
  }),
  portfolio: (words, snippets) => ({
    'astro.config.mjs': config('', '', snippets),
    'src/content.config.ts': posts('work', '**/*.md'),
    'src/content/work/nested/bloom-box.md': post(words),
    'src/layouts/Layout.astro': layout,
    'src/styles/global.css': ':root { --gap: 1rem }',
    'src/components/CallToAction.astro':
      '<a {...Astro.props}><slot /></a><style>a { border: 1px solid }</style>',
    'src/pages/work/[...slug].astro': slugPage('work'),
    'src/pages/index.astro': `---
import CallToAction from '../components/CallToAction.astro';
import Layout from '../layouts/Layout.astro';
---
<Layout title="Home" description="Me"><CallToAction href="/work">${words.html}</CallToAction></Layout>
<script>document.body.dataset.ready = 'yes';</script>`,
    'src/pages/404.astro': `---
import Layout from '../layouts/Layout.astro';
---
<Layout title="Not found" description="404"><p>${words.html}</p></Layout>`,
  }),
  Starlight: (words, snippets) => ({
    'astro.config.mjs': config(
      `import starlight from '@astrojs/starlight';`,
      `starlight({ title: 'Docs', sidebar: [{ label: 'Guides', items: [{ label: 'Guide', slug: 'guides/example' }] }] })`,
      snippets,
    ),
    'src/content.config.ts': `
import { defineCollection } from 'astro:content';
import { docsLoader } from '@astrojs/starlight/loaders';
import { docsSchema } from '@astrojs/starlight/schema';
export const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) };`,
    'src/content/docs/index.mdx': `---
title: Welcome
description: Get started
template: splash
---
import { Card, CardGrid } from '@astrojs/starlight/components';

<CardGrid><Card title="One">${words.html}</Card></CardGrid>
`,
    'src/content/docs/guides/example.md': `---
title: Guide
description: 'About ${words.text}'
---

Lorem ${words.html} ipsum.

\`\`\`text
const one = 1;
\`\`\`
`,
  }),
};

let service: TestService;
const sites: Site[] = [];
beforeAll(async () => {
  service = await startTestService({ 1: html });
});
afterAll(async () => {
  for (const site of sites) await site.remove();
  await service.close();
});

test.each(Object.keys(templates))(
  'a site from the template %s differs from the one without snippets in its embeds alone',
  async (name) => {
    const files = templates[name] as (typeof templates)[string];
    const site = await createSite(files(literal, false));
    sites.push(site);
    const before = await site.build();
    expect(before.exitCode, before.output).toBe(0);
    const expected = await contentsOf(site);
    await site.write(files(embedded, true));
    const { exitCode, output } = await site.build(service.environment);
    expect(exitCode, output).toBe(0);
    const found = await contentsOf(site);
    expect([...found.keys()]).toEqual([...expected.keys()]);
    for (const [file, content] of expected) expect(found.get(file), file).toBe(content);
    expect([...found.values()].join()).toContain(html);
  },
);

/** The files of the output. A search index has names and bytes of its own in each build. */
async function contentsOf(site: Site): Promise<Map<string, string>> {
  const names = (await site.list()).filter((name) => !name.startsWith('pagefind/'));
  const entries = names.map(
    async (name) => [name, await readFile(join(site.directory, 'dist', name), 'latin1')] as const,
  );
  return new Map(await Promise.all(entries));
}
