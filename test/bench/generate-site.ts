import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { contentOf } from './contents.ts';

export interface SiteSize {
  pages: number;
  /** The number of embeds on each page. */
  embeds: number;
  /** The number of different snippets. */
  distinct: number;
  /** The size of a page without its embeds, in bytes. */
  pageSize: number;
  /** The size of a snippet's content, in bytes, if nothing is fetched. */
  contentSize: number;
  /**
   * The pages: sections from one template, articles with a layout and twelve paragraphs, or those articles in
   * Markdown.
   */
  kind: 'sections' | 'articles' | 'markdown';
}

/** How a site gets its snippets: what a page writes to show snippet `id`, and the files that this needs. */
export interface Approach {
  /** The lines for the frontmatter of the page. */
  imports: string;
  /** The embed in the markup of the page. */
  shown: string;
  /** The embed in Markdown. */
  written?: (id: number) => string;
  config?: string;
  files?: Record<string, string>;
}

const lorem = 'Lorem ipsum dolor sit amet, consectetur. ';

const plainConfig = `import { defineConfig } from 'astro/config';
export default defineConfig({});`;

const oursConfig = `import { defineConfig } from 'astro/config';
import snippets from 'astro-snippets';
export default defineConfig({ integrations: [snippets()] });`;

// The least work that gets snippets into finished pages, with the same transport: nothing is checked,
// retried, escaped, recorded or reported. An integration of this kind can only be faster by working while
// Astro renders.
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

/** The approaches by name: the lower limit, ours, and what people do today. */
export function approachesFor({ distinct }: SiteSize): Record<string, Approach> {
  const ids = Array.from({ length: distinct }, (_, index) => index + 1);
  const contents = JSON.stringify(Object.fromEntries(ids.map((id) => [id, contentOf(id)])));
  return {
    plain: { imports: '', shown: '' },
    unused: { imports: '', shown: '', config: oursConfig },
    typed: {
      imports: "import { contents } from '../contents.js';",
      shown: '<Fragment set:html={contents[id]} />',
      written: (id) => contentOf(id),
      files: { 'src/contents.js': `export const contents = ${contents};` },
    },
    ours: {
      imports: "import { Snippet } from 'astro-snippets/components';",
      shown: '<Snippet id={id} />',
      written: (id) => `<snippet-embed id="${id}"></snippet-embed>`,
      config: oursConfig,
    },
    floor: { imports: '', shown: '<snippet-embed id={id}></snippet-embed>', config: floorConfig },
    memo: inComponent(asking, {
      'src/get.js': `${request.replace('get', 'ask')}
const asked = new Map();
export const get = (id) => {
  if (!asked.has(id)) asked.set(id, ask(id));
  return asked.get(id);
};`,
    }),
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

/** An approach that awaits something, in a component, as people write it. */
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

/** Writes a site of that size with that approach. */
export async function generateSite(folder: string, size: SiteSize, approach: Approach): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  const all: Record<string, string> = {
    'astro.config.mjs': approach.config ?? plainConfig,
    ...pagesOf[size.kind](size, approach),
    ...approach.files,
  };
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

const paragraphs = 12;

const layout = `---
const { title } = Astro.props;
---
<html lang="en">
  <head><meta charset="utf-8"><title>{title}</title><meta name="description" content={\`About \${title}\`}></head>
  <body>
    <header><nav><a href="/">Home</a> <a href="/about/">About</a> <a href="/contact/">Contact</a></nav></header>
    <main><h1>{title}</h1><slot /></main>
    <footer><p>Published with care.</p></footer>
  </body>
</html>`;

/** The page files for each kind of site. */
const pagesOf: Record<SiteSize['kind'], (size: SiteSize, approach: Approach) => Record<string, string>> = {
  sections: (size, { imports, shown }) => ({
    'src/pages/[page].astro': `---
${imports}
${pathsOf(size)}
const ids = Array.from({ length: ${Math.max(1, size.embeds)} }, (_, index) => ((page * ${size.embeds} + index) % ${size.distinct}) + 1);
const filler = ${JSON.stringify(fillerOf(size.pageSize, size.embeds))};
---
<html lang="en"><head><title>Page {page}</title></head><body>
{ids.map((id) => <section><div>${shown}</div><p>{filler}</p></section>)}
</body></html>`,
  }),
  articles: (size, { imports, shown }) => ({
    'src/layouts/Article.astro': layout,
    'src/pages/[page].astro': `---
import Article from '../layouts/Article.astro';
${imports}
${pathsOf(size)}
const parts = Array.from({ length: ${paragraphs} }, (_, index) => ({
  id: index < ${size.embeds} ? ((page * ${size.embeds} + index) % ${size.distinct}) + 1 : undefined,
}));
const filler = ${JSON.stringify(fillerOf(size.pageSize, paragraphs))};
---
<Article title={\`Article \${page}\`}>
  {parts.map(({ id }) => <Fragment><p>{filler}</p>{id !== undefined && <div>${shown}</div>}</Fragment>)}
</Article>`,
  }),
  markdown: (size, { written = () => '' }) => ({
    'src/layouts/Article.astro': layout,
    'src/content.config.js': `import { defineCollection } from 'astro:content';
import { glob } from 'astro/loaders';
export const collections = { articles: defineCollection({ loader: glob({ pattern: '*.md', base: 'src/articles' }) }) };`,
    'src/pages/[page].astro': `---
import { getCollection, render } from 'astro:content';
import Article from '../layouts/Article.astro';
export const getStaticPaths = async () =>
  (await getCollection('articles')).map((entry) => ({ params: { page: entry.id }, props: { entry } }));
const { Content } = await render(Astro.props.entry);
---
<Article title={Astro.props.entry.data.title}><Content /></Article>`,
    ...Object.fromEntries(
      Array.from({ length: size.pages }, (_, page) => [
        `src/articles/${page}.md`,
        articleOf(size, page, written),
      ]),
    ),
  }),
};

function pathsOf({ pages }: SiteSize): string {
  return `export function getStaticPaths() {
  return Array.from({ length: ${pages} }, (_, page) => ({ params: { page: String(page) } }));
}
const page = Number(Astro.params.page);`;
}

function articleOf({ embeds, distinct, pageSize }: SiteSize, page: number, written: (id: number) => string) {
  const blocks = Array.from({ length: paragraphs }, (_, index) => {
    const shown = index < embeds ? `\n\n<div>${written(((page * embeds + index) % distinct) + 1)}</div>` : '';
    return `${fillerOf(pageSize, paragraphs)}${shown}`;
  });
  return `---\ntitle: Article ${page}\n---\n\n${blocks.join('\n\n')}\n`;
}
