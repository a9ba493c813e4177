import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { builtSite } from '../../support/site/built-site.ts';
import { contents, siteWithOtherTools } from '../../support/site/other-tools.ts';

const { site } = await builtSite(contents, siteWithOtherTools);

/** A page of the output, without scripts and values that differ from build to build. */
async function pageOf(name: string): Promise<string> {
  return (await site.read(`${name}/index.html`))
    .replaceAll(/<(script|style)\b[\s\S]*?<\/\1>/g, '')
    .replaceAll(/<astro-island [^>]*>/g, '<astro-island>')
    .replaceAll(/(data-astro-(?:cid|transition)-\w+)="[^"]*"/g, '$1');
}

const one = '<b>one</b> & only';

test.for([
  ['React', 'react', (children: string) => children],
  ['Vue', 'vue', (children: string) => `<!--[-->${children}<!--]-->`],
] as const)(
  '%s: snippets are inlined in the children of an island and in components without hydration',
  async ([, name, slot]) => {
    const box = (children: string) => `<div class="box"><button>0</button>${slot(children)}</div>`;
    const island = `<astro-island>${box(`<astro-slot><p>${one}</p></astro-slot>`)}<!--astro:end--></astro-island>`;
    expect(await pageOf(name)).toContain(
      `<body>${island}${box('<section>block</section>')}<div>${one}</div></body>`,
    );
  },
);

test('snippets are inlined in Markdown processed by Remark', async () => {
  expect(await pageOf('remark')).toContain(`<h1 id="post">Post</h1>
<section>block</section>
<p>Text ${one}.</p>
<p><code>&#x3C;snippet-embed id="9"></code></p>`);
});

test('snippets are inlined in pages with view transitions', async () => {
  expect(await pageOf('transitions')).toContain(`<body><p data-astro-transition-persist>${one}</p></body>`);
});

test('a sitemap, an HTML minifier and Pagefind see pages with inlined snippets', async () => {
  expect(await site.read('search/index.html')).toBe(
    '<!DOCTYPE html><html lang="en"><head><title>x</title></head><body><p>findable heffalump</p></body></html>',
  );
  expect(await site.read('sitemap-0.xml')).toContain('<loc>https://example.test/search/</loc>');
  const fragments = await readFile(join(site.directory, 'dist/fragments.bin'));
  expect(gunzipSync(fragments).toString()).toContain('findable heffalump');
});
