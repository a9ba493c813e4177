import { expect, test } from 'vitest';
import { builtSite } from '../support/site/built-site.ts';
import { configWith } from '../support/site/site.ts';

const { site } = await builtSite(
  { 1: '<b>one</b>', 2: 'two' },
  {
    'astro.config.mjs': configWith('', {
      imports: `import mdx from '@astrojs/mdx'; import react from '@astrojs/react'; import vue from '@astrojs/vue';
const compilerOptions = { isCustomElement: (tag) => tag === 'snippet-embed' };`,
      settings: `scopedStyleStrategy: 'class', compressHTML: true,`,
      integrations: 'mdx(), react(), vue({ template: { compilerOptions } }), ',
    }),
    'src/components/Layout.astro':
      '<html><head><title>x</title></head><body><header><slot name="top" /></header><slot /></body></html>',
    'src/components/Prices.vue': `<template><ul><snippet-embed v-for="id in 2" :key="id" :id="id"></snippet-embed></ul></template>
<style scoped>ul { color: red; }</style>`,
    'src/components/Prices.jsx': `export default function Prices() {
  return <ol>{[1, 2].map((id) => <snippet-embed key={id} id={id}></snippet-embed>)}</ol>;
}`,
    'src/components/Box.jsx': `export default function Box({ top, children }) { return <i>{top}{children}</i>; }`,
    'src/pages/index.astro': `---
import { Snippet } from 'astro-snippets/components';
import Box from '../components/Box.jsx';
import Layout from '../components/Layout.astro';
import ReactPrices from '../components/Prices.jsx';
import VuePrices from '../components/Prices.vue';
const color = 'red';
const rest = { class: undefined, hidden: false, title: null };
---
<Layout>
<Snippet id={1} slot="top" />
<snippet-embed id="2" slot="top"></snippet-embed>
<p><Snippet id={1} key="a" {...rest} /><snippet-embed id="2" key="b" lang="de" class={undefined}></snippet-embed></p>
<Box client:load><Snippet id={1} slot="top" /><Snippet id={2} /></Box>
<ReactPrices />
<VuePrices />
</Layout>
<style define:vars={{ color, image: 'url(data:image/png;base64,AA)' }}>p { color: var(--color); }</style>`,
    'src/pages/list.mdx': `import { Snippet } from 'astro-snippets/components';

{[1, 2].map((id) => <Snippet id={id} key={id} />)}
`,
  },
);

test('what Astro, React, Vue and MDX write on an embed is ignored, as are slots of components', async () => {
  const page = (await site.read('index.html')).replaceAll(/ (?:class|style|data-v-\w+)(?:="[^"]*")?/g, '');
  expect(page).toContain('<header><b>one</b>two</header>');
  expect(page).toContain('<p><b>one</b>two</p>');
  expect(page).toContain('<astro-slot name="top"><b>one</b></astro-slot><astro-slot>two</astro-slot>');
  expect(page).toContain('<ol><b>one</b>two</ol>');
  expect(page.replaceAll(/<!--.*?-->/g, '')).toContain('<ul><b>one</b>two</ul>');
  expect(await site.read('list/index.html')).toContain('<b>one</b>two');
});
