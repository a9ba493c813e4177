import { expect, test } from 'vitest';
import { builtSite } from '../support/site/built-site.ts';
import { byAstro } from '../support/site/installation.ts';
import { configWith, pageWith } from '../support/site/site.ts';

const embed = (id: number, more = '') => `<snippet-embed id="${id}"${more}></snippet-embed>`;

const { site, output } = await builtSite(
  {
    1: 'Ann',
    2: 'Ben',
    3: 'Cleo',
    4: 'Dora',
    11: '<p>One</p><p>Two</p>',
    12: '<b>words</b>',
    13: '<div>A block</div>',
    14: '{{ plan }}<ul><li>A list</li></ul>',
    15: 'Free. <a href="/terms/">Terms</a>',
  },
  {
    'astro.config.mjs': configWith("{ exclude: ['/post/**', 'nothing'] }", {
      imports: `import mdx from '@astrojs/mdx';`,
      integrations: 'mdx(), ',
    }),
    'src/posts/sale.md': `---\ntitle: Sale\n---\n\n## Sale by ${embed(1)} now\n\nText by ${embed(3)}.\n`,
    'src/pages/post.astro': `---
import * as post from '../posts/sale.md';
const headings = post.getHeadings();
---
<nav>{headings.map(({ slug, text }) => <a href={'#' + slug}>{text}</a>)}</nav><post.Content />`,
    'src/posts/own.md': `## ${embed(1)}

## By <snippet-embed id="1">our team</snippet-embed>

<h2 id="raw">Written by ${embed(1)}</h2>
`,
    'src/pages/own.astro': `---
import * as post from '../posts/own.md';
---
<pre>{JSON.stringify(post.getHeadings().map(({ slug, text }) => [slug, text]))}</pre><post.Content />`,
    'src/pages/written.md': `---
title: ${embed(1)}
---
Sale by ${embed(1)}
====

> ## ${embed(1)} and ${embed(2)}

1. ## ${embed(1)}

#sale ${embed(1)}

Sale by ${embed(1)}

---

\`\`\`
## ${embed(1)}
\`\`\`

## The element snippet-embed, and \`${embed(1)}\`
`,
    'src/pages/page.mdx': `import { Snippet } from 'astro-snippets/components';

## By <Snippet id={2} />

<h2 id="own">By <Snippet id={3} /></h2>
`,
    'src/pages/component.astro': pageWith('<h2 id="dora">By <Snippet id={4} /></h2>'),
    // In headings of sources that no page shows.
    'src/posts/draft.md': `## ${embed(999)}\n`,
    'src/posts/example.md': `## \`${embed(1)}\`\n`,
    'src/pages/first.md': `# First\n\nSee ${embed(11)} and ${embed(12)} here.\n\nAgain: ${embed(11)}\n`,
    'src/pages/cards.astro': pageWith(
      '<a href="/"><div><Snippet id={15} /></div></a><p><Snippet id={15} /></p>',
    ),
    'src/pages/second.md': `Once more ${embed(11)}\n`,
    'src/pages/params.astro': `<p>
Plan ${embed(14, ` params='{"plan":"pro"}'`)} or
${embed(14, ` params='{"plan":"free"}'`)}</p>`,
    // The content stands alone, or is shown as text.
    'src/pages/alone.md': `${embed(13)}\n\n<div>Text ${embed(13)}</div>\n\nText ${embed(13, ' as="text"')}\n`,
    'src/pages/title.astro': `<html><head><title>Text ${embed(13)}</title></head><body><p title={'${embed(13)}'}>Text {'${embed(13)}'}</p></body></html>`,
    'src/pages/og/[title].png.ts': `export const getStaticPaths = () => [{ params: { title: 'a' } }];
export const GET = () => new Response('an image');`,
    'src/pages/posts/[slug].astro': `---
export const getStaticPaths = () => [{ params: { slug: '${embed(1)}'.replace(/[<>"=/]/g, '').replaceAll(' ', '-') } }];
---
<p>Prices</p>`,
    // As Astro writes an asset imported with ?url.
    'public/_astro/note.B1x2Y3_z.html': `<p>${embed(1)}</p>`,
    'src/pages/search.js.ts': `export const GET = () => new Response('const index = ' + JSON.stringify('${embed(13)}'));`,
    'public/labels.css': `a::before { content: '${embed(13)}' }`,
    'public/titles.js': `const titles = ['&lt;snippet-embed id=&quot;13&quot;&gt;'];`,
    'public/writes.js': `const create = () => document.createElement('snippet-embed');`,
    'public/markup.mjs': 'document.body.innerHTML = `<p><snippet-embed id="` + 1 + `"></snippet-embed></p>`;',
    'public/broken.js': `const name = 'snippet-embed' const other;`,
    'public/script.html': `<p>A page</p>\n<script>\nconst embed = document.createElement('snippet-embed');\n</script>`,
    'public/reads.html': `<script>document.querySelector('snippet-embed');</script>`,
    'public/named.js': `document.querySelector('snippet-embed[id]'); // <snippet-embed>`,
    'src/pages/feed.xml.ts': `export const GET = () => new Response('<rss><item>&lt;p&gt;Text ${embed(13).replaceAll('<', '&lt;').replaceAll('>', '&gt;')}&lt;/p&gt;</item></rss>');`,
  },
);

test('a pattern of `exclude` that matches nothing is a warning with what it was compared with', () => {
  expect(output).toMatch(
    /WARN.* exclude: "\/post\/\*\*" matches no text file of the output\. Patterns are compared with paths in the output folder, such as "post\/index\.html"\. Did you mean "post\/\*\*"\?/,
  );
  expect(output.match(/exclude: "nothing" matches no text file/g)).toHaveLength(1);
});

test('an embed in a Markdown heading is a warning with file, line and what to do', () => {
  expect(output).toContain(
    '[WARN] [astro-snippets] src/posts/sale.md:5 has an embed in a heading. Its slug and its entry in the table of contents are without the snippet: Astro writes them before snippets are fetched. Put the embed into the frontmatter title or below the heading, or write the heading as <h2 id="…">, which has no entry there.',
  );
  // No warning for headings written as elements, for examples, and for sources that no page shows.
  const named = output.matchAll(/(src\/\S+) has an embed in a heading/g);
  expect(Array.from(named, ([, place]) => place).sort()).toEqual([
    'src/pages/page.mdx:3',
    ...['src/pages/written.md:4', 'src/pages/written.md:7', 'src/pages/written.md:9'],
    ...['src/posts/own.md:1', 'src/posts/own.md:3', 'src/posts/sale.md:5'],
  ]);
});

test('what the warning says is true: the slug and the table of contents are without the snippet', async () => {
  const post = await site.read('post/index.html');
  expect(post).toContain('<a href="#sale-by--now">Sale by  now</a>');
  expect(post).toContain('<h2 id="sale-by--now">Sale by Ann now</h2>');
  expect(await site.read('page/index.html')).toContain('<h2 id="own">By Cleo</h2>');
  // A slug is made from children, an embed alone has no slug, and an element has no entry.
  const own = await site.read('own/index.html');
  expect(own).toContain(
    '<pre>[[&quot;&quot;,&quot;&quot;],[&quot;by-our-team&quot;,&quot;By our team&quot;]]</pre>',
  );
  for (const heading of ['"">Ann', '"by-our-team">By Ann', '"raw">Written by Ann']) {
    expect(own).toContain(`<h2 id=${heading}</h2>`);
  }
});

test('an embed in frontmatter is a warning where the site makes images', () => {
  expect(output).toContain(
    '[WARN] [astro-snippets] src/pages/written.md:2: the frontmatter has an embed, and /og/[title].png makes images.',
  );
});

test('an embed in a file named by a hash of its content is a warning', () => {
  expect(output).toContain(
    '[WARN] [astro-snippets] _astro/note.B1x2Y3_z.html: shows a snippet, but its name',
  );
});

test('a path made from an embed is a warning that names it', () => {
  expect(output).toContain(
    '[WARN] [astro-snippets] posts/snippet-embed-id1snippet-embed/index.html: the path was made from an embed',
  );
});

test('an embed in a script or a style sheet of the output is a warning that names the file', () => {
  const named = output.matchAll(
    /\[WARN\] \[astro-snippets\] (\S+): holds an embed, which stays as it is\. /g,
  );
  expect(Array.from(named, ([, name]) => name)).toEqual(['labels.css', 'search.js', 'titles.js']);
});

test('a script that writes an embed in the browser is a warning with its file, or with its page and line', () => {
  const told = output.matchAll(/\[astro-snippets\] (\S+): a script (\w+)/g);
  expect(Array.from(told, ([, place, what]) => [place, what]).sort()).toEqual([
    ['broken.js', 'mentions'],
    ['markup.mjs', 'writes'],
    ['script.html:2', 'writes'],
    ['writes.js', 'writes'],
  ]);
});

test('a block in the middle of a paragraph is one warning per snippet, with page, line and what to do', () => {
  expect(output).toContain(
    '[WARN] [astro-snippets] Snippet 11 is a block, such as <p> or <div>, inside a paragraph with other text. A browser ends the paragraph there. Put the embed into its own paragraph. It is on first/index.html:2, second/index.html:1, written in src/pages/first.md:3, src/pages/first.md:5 and src/pages/second.md:1. [block-in-paragraph]',
  );
  // The same snippet with other params gives no second warning. Astro 7 removes the line break after <p>.
  const line = byAstro({ 5: 2, 6: 2, 7: 1 });
  expect(output).toMatch(
    new RegExp(
      `Snippet 14 is a block, .* It is on params/index\\.html:${line}, written .* \\[block-in-paragraph\\]`,
    ),
  );
  // No warning for a block that stands alone, as text, or in a feed.
  expect(output.match(/is a block/g)).toHaveLength(2);
});

test('a link inside a link is a warning that says what a browser does', () => {
  expect(output).toContain(
    '[WARN] [astro-snippets] Snippet 15 has a link, inside a link. A browser ends the outer link there. Put the embed outside of the link. It is on cards/index.html:1, written in src/pages/cards.astro',
  );
});
