import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { contentOf } from './contents.ts';

export interface SiteSize {
  pages: number;
  /** On each page. */
  embeds: number;
  /** Different snippets. */
  distinct: number;
  /** Of each page besides its embeds, in bytes. */
  pageSize: number;
}

/** How a site has its snippets: the source of a component that shows one, and what else it takes. */
export interface Approach {
  component: string;
  config?: string;
  files?: Record<string, string>;
}

const plainConfig = `import { defineConfig } from 'astro/config';
export default defineConfig({});`;

const oursConfig = `import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
export default defineConfig({ integrations: [snippets()] });`;

const request = `const get = async (id) => {
  const response = await fetch(process.env.SNIPPETS_RENDER_BASE_URL + '/snippets/' + id + '/render', {
    headers: { authorization: 'Bearer ' + process.env.SNIPPETS_API_KEY },
  });
  if (!response.ok) throw new Error('Snippet ' + id + ': ' + response.status);
  return (await response.json()).content;
};`;

/** The approaches, by their names: the limit, ours, and what people do today. */
export function approachesFor({ distinct }: SiteSize): Record<string, Approach> {
  const ids = Array.from({ length: distinct }, (_, index) => index + 1);
  const contents = JSON.stringify(Object.fromEntries(ids.map((id) => [id, contentOf(id)])));
  return {
    typed: {
      component: `---
import { contents } from '../contents.js';
---
<Fragment set:html={contents[Astro.props.id]} />`,
      files: { 'src/contents.js': `export const contents = ${contents};` },
    },
    ours: {
      component: `---
import { Snippet } from 'astro-snippets/components';
---
<Snippet id={Astro.props.id} />`,
      config: oursConfig,
    },
    fetch: {
      component: `---
import { get } from '../get.js';
---
<Fragment set:html={await get(Astro.props.id)} />`,
      files: { 'src/get.js': `export ${request}` },
    },
    memo: {
      component: `---
import { get } from '../get.js';
---
<Fragment set:html={await get(Astro.props.id)} />`,
      files: {
        'src/get.js': `${request.replace('get', 'ask')}
const asked = new Map();
export const get = (id) => {
  if (!asked.has(id)) asked.set(id, ask(id));
  return asked.get(id);
};`,
      },
    },
    collection: {
      component: `---
import { getEntry } from 'astro:content';
const entry = await getEntry('snippets', String(Astro.props.id));
---
<Fragment set:html={entry.data.content} />`,
      files: {
        'src/content.config.js': `import { defineCollection } from 'astro:content';
import { z } from 'astro/zod';
${request}
const snippets = defineCollection({
  loader: async () =>
    Promise.all(${JSON.stringify(ids)}.map(async (id) => ({ id: String(id), content: await get(id) }))),
  schema: z.object({ id: z.string(), content: z.string() }),
});
export const collections = { snippets };`,
      },
    },
    eleventy: {
      component: `---
import Fetch from '@11ty/eleventy-fetch';
const { content } = await Fetch(process.env.SNIPPETS_RENDER_BASE_URL + '/snippets/' + Astro.props.id + '/render', {
  duration: '1d',
  type: 'json',
  directory: process.env.BENCH_CACHE,
  fetchOptions: { headers: { authorization: 'Bearer ' + process.env.SNIPPETS_API_KEY } },
});
---
<Fragment set:html={content} />`,
    },
  };
}

/** Writes a site of that size, which shows its snippets in that way. */
export async function generateSite(
  folder: string,
  { pages, embeds, distinct, pageSize }: SiteSize,
  { component, config = plainConfig, files = {} }: Approach,
): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const all: Record<string, string> = {
    'astro.config.mjs': config,
    'src/components/Shown.astro': component,
    'src/pages/[page].astro': `---
import Shown from '../components/Shown.astro';
export function getStaticPaths() {
  return Array.from({ length: ${pages} }, (_, page) => ({ params: { page: String(page) } }));
}
const page = Number(Astro.params.page);
const ids = Array.from({ length: ${embeds} }, (_, index) => ((page * ${embeds} + index) % ${distinct}) + 1);
const filler = 'Lorem ipsum dolor sit amet, consectetur. '.repeat(${Math.ceil(pageSize / 41 / Math.max(1, embeds))});
---
<html lang="en"><head><title>Page {page}</title></head><body>
{ids.map((id) => <section><div><Shown id={id} /></div><p>{filler}</p></section>)}
</body></html>`,
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}
