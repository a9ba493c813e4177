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

/** How a site has its snippets: how a page shows the one of an `id`, and what that takes. */
export interface Approach {
  /** In the frontmatter of the page. */
  imports: string;
  /** In its markup. */
  shown: string;
  config?: string;
  files?: Record<string, string>;
}

const lorem = 'Lorem ipsum dolor sit amet, consectetur. ';

const plainConfig = `import { defineConfig } from 'astro/config';
export default defineConfig({});`;

const oursConfig = `import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
export default defineConfig({ integrations: [snippets()] });`;

// Only what has to be done to get snippets into pages that are written already, with the same transport: nothing is checked,
// retried, escaped, recorded or reported. What an integration of this kind cannot be faster than, but for what it does
// while Astro renders.
const floorConfig = `import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { defineConfig } from 'astro/config';
import { Agent, request } from 'undici';
const embed = /<snippet-embed id="(\\d+)"><\\/snippet-embed>/g;
const floor = {
  name: 'floor',
  hooks: {
    async 'astro:build:generated'({ dir }) {
      const dispatcher = new Agent({ allowH2: true, pipelining: 100, connections: 1 });
      const headers = { authorization: 'Bearer ' + process.env.SNIPPETS_API_KEY };
      const contents = new Map();
      const ask = async (id) => {
        const url = process.env.SNIPPETS_RENDER_BASE_URL + '/snippets/' + id + '/render';
        const { body } = await request(url, { dispatcher, headers });
        return (await body.json()).content;
      };
      const pages = readdirSync(dir, { recursive: true }).filter((name) => name.endsWith('.html'));
      const found = pages.map((name) => {
        const html = readFileSync(new URL(name, dir), 'utf8');
        for (const [, id] of html.matchAll(embed)) if (!contents.has(id)) contents.set(id, ask(id));
        return html;
      });
      for (const [id, content] of contents) contents.set(id, await content);
      for (const [index, name] of pages.entries()) {
        writeFileSync(new URL(name, dir), found[index].replace(embed, (_, id) => contents.get(id)));
      }
      await dispatcher.close();
    },
  },
};
export default defineConfig({ integrations: [floor] });`;

const emptyConfig = `import { defineConfig } from 'astro/config';
const hooks = ['config:setup', 'config:done', 'build:start', 'build:generated', 'build:done'];
const empty = { name: 'empty', hooks: Object.fromEntries(hooks.map((name) => ['astro:' + name, () => {}])) };
export default defineConfig({ integrations: [empty] });`;

const request = `const get = async (id) => {
  const response = await fetch(process.env.SNIPPETS_RENDER_BASE_URL + '/snippets/' + id + '/render', {
    headers: { authorization: 'Bearer ' + process.env.SNIPPETS_API_KEY },
  });
  if (!response.ok) throw new Error('Snippet ' + id + ': ' + response.status);
  return (await response.json()).content;
};`;

const asking = `---
import { get } from '../get.js';
---
<Fragment set:html={await get(Astro.props.id)} />`;

/** The approaches, by their names: the limit, ours, and what people do today. */
export function approachesFor({ distinct }: SiteSize): Record<string, Approach> {
  const ids = Array.from({ length: distinct }, (_, index) => index + 1);
  const contents = JSON.stringify(Object.fromEntries(ids.map((id) => [id, contentOf(id)])));
  return {
    plain: { imports: '', shown: '' },
    empty: { imports: '', shown: '', config: emptyConfig },
    unused: { imports: '', shown: '', config: oursConfig },
    typed: {
      imports: "import { contents } from '../contents.js';",
      shown: '<Fragment set:html={contents[id]} />',
      files: { 'src/contents.js': `export const contents = ${contents};` },
    },
    ours: {
      imports: "import { Snippet } from 'astro-snippets/components';",
      shown: '<Snippet id={id} />',
      config: oursConfig,
    },
    floor: { imports: '', shown: '<snippet-embed id={id}></snippet-embed>', config: floorConfig },
    fetch: inComponent(asking, { 'src/get.js': `export ${request}` }),
    memo: inComponent(asking, {
      'src/get.js': `${request.replace('get', 'ask')}
const asked = new Map();
export const get = (id) => {
  if (!asked.has(id)) asked.set(id, ask(id));
  return asked.get(id);
};`,
    }),
    collection: inComponent(
      `---
import { getEntry } from 'astro:content';
const entry = await getEntry('snippets', String(Astro.props.id));
---
<Fragment set:html={entry.data.content} />`,
      {
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
    ),
    eleventy: inComponent(`---
import Fetch from '@11ty/eleventy-fetch';
const { content } = await Fetch(process.env.SNIPPETS_RENDER_BASE_URL + '/snippets/' + Astro.props.id + '/render', {
  duration: '1d',
  type: 'json',
  directory: process.env.BENCH_CACHE,
  fetchOptions: { headers: { authorization: 'Bearer ' + process.env.SNIPPETS_API_KEY } },
});
---
<Fragment set:html={content} />`),
  };
}

/** What waits for something does so in a component of its own, as people write it. */
function inComponent(component: string, files: Record<string, string> = {}): Approach {
  return {
    imports: "import Shown from '../components/Shown.astro';",
    shown: '<Shown id={id} />',
    files: { 'src/components/Shown.astro': component, ...files },
  };
}

/** A page as Astro generates it, with its embeds still in it. */
export function pageOf({ embeds, distinct, pageSize }: SiteSize, page: number): string {
  const sections = Array.from({ length: embeds }, (_, index) => {
    const id = ((page * embeds + index) % distinct) + 1;
    return `<section><div><snippet-embed id="${id}"></snippet-embed></div><p>${fillerOf(pageSize, embeds)}</p></section>`;
  });
  return `<!DOCTYPE html><html lang="en"><head><title>Page ${page}</title></head><body>\n${sections.join('')}\n</body></html>`;
}

function fillerOf(pageSize: number, embeds: number): string {
  return lorem.repeat(Math.ceil(pageSize / lorem.length / Math.max(1, embeds)));
}

/** Writes a site of that size, which shows its snippets in that way. */
export async function generateSite(
  folder: string,
  { pages, embeds, distinct, pageSize }: SiteSize,
  { imports, shown, config = plainConfig, files = {} }: Approach,
): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const all: Record<string, string> = {
    'astro.config.mjs': config,
    'src/pages/[page].astro': `---
${imports}
export function getStaticPaths() {
  return Array.from({ length: ${pages} }, (_, page) => ({ params: { page: String(page) } }));
}
const page = Number(Astro.params.page);
const ids = Array.from({ length: ${Math.max(1, embeds)} }, (_, index) => ((page * ${embeds} + index) % ${distinct}) + 1);
const filler = ${JSON.stringify(fillerOf(pageSize, embeds))};
---
<html lang="en"><head><title>Page {page}</title></head><body>
{ids.map((id) => <section><div>${shown}</div><p>{filler}</p></section>)}
</body></html>`,
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}
