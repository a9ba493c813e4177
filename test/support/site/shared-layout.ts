import { configWith } from './site.ts';

const component = `import { Snippet } from 'astro-snippets/components';`;

/** A page with the shared layout. @param head the first lines of its frontmatter */
const page = (head: string, body: string) => `---
${head}
import Layout from '../Layout.astro';
---
<Layout>${body}</Layout>`;

/**
 * A site with prerendered pages and pages on demand, which share a layout. Its header shows snippet 1 in several
 * ways, each behind `Astro.isPrerendered`.
 *
 * @param output the option of the Astro config
 */
export const sharedLayoutFiles = (output: 'static' | 'server'): Record<string, string> => ({
  'astro.config.mjs': configWith('', {
    imports: `import mdx from '@astrojs/mdx';\nimport node from '@astrojs/node';`,
    settings: `output: '${output}', adapter: node({ mode: 'standalone' }),`,
    integrations: 'mdx(), ',
  }),
  'src/Layout.astro': `---
import Header from './Header.astro';
import Late from './Late.astro';
---
<html><head><title>page</title></head><body><Header /><slot /><Late server:defer><i slot="fallback">wait</i></Late></body></html>`,
  'src/Header.astro': `---
${component}
import Banner from './Banner.astro';
import Live from './Live.astro';
import Promo from './promo.mdx';
const { isPrerendered } = Astro;
---
<header>
  {Astro.isPrerendered && <Snippet id={1} />}
  {isPrerendered ? <b><Snippet id={1}>children</Snippet></b> : <Live />}
  {Astro.isPrerendered && <Banner />}
  {Astro.isPrerendered && <Promo />}
  {Astro.isPrerendered && <p><snippet-embed id="1"></snippet-embed></p>}
</header>`,
  'src/Banner.astro': `---\n${component}\n---\n<div><Snippet id={1} /></div>`,
  'src/promo.mdx': `${component}\n\nPromo <Snippet id={1} />`,
  'src/Live.astro': '<u>live</u>',
  'src/Late.astro': `---\n${component}\n---\n<em>late {Astro.isPrerendered && <Snippet id={1} />}</em>`,
  'src/pages/index.astro': page('export const prerender = true;', 'still <Fragment />'),
  'src/pages/live.astro': page('export const prerender = false;', 'on demand'),
});
