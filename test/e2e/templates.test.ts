import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryService } from '../support/service/service.ts';
import { type Site, temporarySite } from '../support/site/site.ts';

// The Starlight template with a page and a feed like a blog's. Code has no language, since the highlighter may time out on
// a busy machine.

interface Words {
  /** In HTML, and in Markdown. */
  html: string;
  /** In frontmatter or a script. */
  text: string;
}

const literal: Words = { html: 'Ask <b>Ann</b>', text: 'Ask Ann' };
const embedded: Words = {
  html: '<snippet-embed id="1"></snippet-embed>',
  // Also in the description of a feed.
  text: '<snippet-embed id="1" as="text"></snippet-embed>',
};

const filesOf = ({ html, text }: Words, integration = '') => ({
  'astro.config.mjs': `
import { defineConfig } from 'astro/config';
import starlight from '@astrojs/starlight';
import snippets from 'astro-snippets';
const sidebar = [{ label: 'Guides', items: [{ label: 'Guide', slug: 'guides/example' }] }];
export default defineConfig({
  site: 'https://example.com',
  integrations: [starlight({ title: 'Docs', sidebar }), ${integration}],
});`,
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

<CardGrid><Card title="One">${html}</Card></CardGrid>
`,
  'src/content/docs/guides/example.md': `---
title: 'Guide ${text}'
description: 'About ${text}'
---

Lorem ${html} ipsum.

## Second

- one ${html}

\`\`\`text
const one = 1;
\`\`\`
`,
  'src/components/CallToAction.astro':
    '<a {...Astro.props}><slot /></a><style>a { border: 1px solid }</style>',
  'src/pages/blog.astro': `---
import { getCollection } from 'astro:content';
import CallToAction from '../components/CallToAction.astro';
const pages = await getCollection('docs');
---
<html lang="en"><head><title>Blog</title></head>
<body><ul>{pages.map(({ id, data }) => <li><a href={id}>{data.title}</a></li>)}</ul>
<CallToAction href="/">${html}</CallToAction></body></html>
<script>document.body.dataset.ready = 'yes';</script>`,
  'src/pages/rss.xml.js': `
import rss from '@astrojs/rss';
import { getCollection } from 'astro:content';
export const GET = async (context) =>
  rss({
    title: 'Blog',
    description: 'All',
    site: context.site,
    items: (await getCollection('docs')).map(({ id, data }) => ({ ...data, link: '/' + id })),
  });`,
});

test('a Starlight site differs from one without snippets only in its embeds', async () => {
  const service = await temporaryService({ 1: literal.html });
  const site = await temporarySite(filesOf(literal));
  expect(await site.build()).toMatchObject({ exitCode: 0 });
  const expected = await contentsOf(site);
  await site.write(filesOf(embedded, 'snippets()'));
  await site.builds(service.environment);
  const found = await contentsOf(site);
  expect([...found.keys()]).toEqual([...expected.keys()]);
  for (const [file, content] of expected) expect(found.get(file), file).toBe(content);
  expect([...found.values()].join()).toContain(literal.html);
});

/** The files of the output, without the search index, which differs from build to build. */
async function contentsOf(site: Site): Promise<Map<string, string>> {
  const names = (await site.list()).filter((name) => !name.startsWith('pagefind/'));
  const entries = names.map(
    async (name) => [name, await readFile(join(site.directory, 'dist', name), 'latin1')] as const,
  );
  return new Map(await Promise.all(entries));
}
