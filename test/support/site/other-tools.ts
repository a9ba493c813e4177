import { byAstro } from './installation.ts';
import { configWith } from './site.ts';

// Astro 5 has no other Markdown processor than Remark.
const processor: [imports: string, setting: string] = [
  "import { unified } from '@astrojs/markdown-remark';",
  'markdown: { processor: unified() },',
];
const remark = byAstro<typeof processor>({ 5: ['', ''], 6: processor, 7: processor });

const page = (component: string) => `---
import { Snippet } from 'astro-snippets/components';
import Box from '../components/Box.${component}';
import Own from '../components/Own.${component}';
---
<html><head><link rel="icon" href="data:,"></head><body><Box client:load><p><Snippet id={1} /></p></Box><Box><Snippet id={2} /></Box><Own /></body></html>`;

/** The snippets of the site. */
export const contents = { 1: '<b>one</b> & only', 2: '<section>block</section>', 3: 'findable heffalump' };

/** A site with popular tools: two frameworks, Remark, view transitions, a sitemap, a minifier, Pagefind. */
export const siteWithOtherTools = {
  'astro.config.mjs': configWith('', {
    imports: `
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import react from '@astrojs/react';
import sitemap from '@astrojs/sitemap';
import vue from '@astrojs/vue';
import { minify as minifyHtml } from 'html-minifier-terser';
import * as pagefind from 'pagefind';
${remark[0]}
// Vue has to know that the element is not a component.
const compilerOptions = { isCustomElement: (tag) => tag === 'snippet-embed' };
const minify = () => ({ name: 'minify', hooks: { 'astro:build:done': async ({ dir }) => {
  const file = new URL('search/index.html', dir);
  await writeFile(file, await minifyHtml(await readFile(file, 'utf8'), { collapseWhitespace: true, removeComments: true }));
} } });
const search = () => ({ name: 'search', hooks: { 'astro:build:done': async ({ dir }) => {
  const { index } = await pagefind.createIndex();
  await index.addDirectory({ path: fileURLToPath(dir) });
  const { files } = await index.getFiles();
  const fragments = files.filter(({ path }) => path.includes('fragment')).map(({ content }) => Buffer.from(content));
  await writeFile(new URL('fragments.bin', dir), Buffer.concat(fragments));
  await pagefind.close();
} } });`,
    settings: `site: 'https://example.test', ${remark[1]}`,
    integrations: 'react(), vue({ template: { compilerOptions } }), sitemap(), minify(), search(), ',
  }),
  'src/components/Box.jsx': `
import { useState } from 'react';
export default function Box({ children }) {
  const [count, setCount] = useState(0);
  return <div className="box"><button onClick={() => setCount(count + 1)}>{count}</button>{children}</div>;
}`,
  'src/components/Own.jsx': `export default function Own() { return <div><snippet-embed id="1"></snippet-embed></div>; }`,
  'src/components/Box.vue': `
<script setup>
import { ref } from 'vue';
const count = ref(0);
</script>
<template><div class="box"><button @click="count++">{{ count }}</button><slot /></div></template>`,
  'src/components/Own.vue': '<template><div><snippet-embed id="1"></snippet-embed></div></template>',
  'src/pages/react.astro': page('jsx'),
  'src/pages/vue.astro': page('vue'),
  'src/pages/remark.md':
    '# Post\n\n<snippet-embed id="2"></snippet-embed>\n\nText <snippet-embed id="1"></snippet-embed>.\n\n`<snippet-embed id="9">`\n',
  'src/pages/transitions.astro': `---
import { ClientRouter } from 'astro:transitions';
import { Snippet } from 'astro-snippets/components';
---
<html><head><ClientRouter /></head><body><p transition:persist><Snippet id={1} /></p></body></html>`,
  'src/pages/search.astro':
    '<html lang="en"><head><title>x</title></head><body>\n\n<!-- gone -->  <p><snippet-embed id="3"></snippet-embed></p>  </body></html>',
};
