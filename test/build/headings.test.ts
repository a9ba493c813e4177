import { describe, expect, test } from 'vitest';
import { embeddingHeadings } from '../../src/source/heading-warnings.ts';
import { builtSite } from '../support/built-site.ts';
import { startTestService } from '../support/service.ts';
import { createSite } from '../support/site.ts';

const embed = (id: number) => `<snippet-embed id="${id}"></snippet-embed>`;

describe('in a Markdown source, the headings with embeds are found with their lines', () => {
  test.for([
    ['an ATX heading', `\n## Sale by ${embed(7)} now\n`, [[2, 7]]],
    [
      'a setext heading',
      `Sale ${embed(7)}\n====\n\nOther ${embed(8)}\r\n--\r\n`,
      [
        [1, 7],
        [4, 8],
      ],
    ],
    [
      'a quote and a list',
      `> ## ${embed(7)}\n\n1. ## ${embed(8)}\n- # ${embed(9)}`,
      [
        [1, 7],
        [3, 8],
        [4, 9],
      ],
    ],
    ['two embeds', `### ${embed(7)} and ${embed(8)}`, [[1, 7, 8]]],
    [
      'a component',
      '## By <Snippet id={7} />\n\n## <Snippet params={{ a: 1 }} id="8" />',
      [
        [1, 7],
        [3, 8],
      ],
    ],
    ['a component without an id', '## By <Snippet of={hello} />', [[1, undefined]]],
    ['upper case', '# <SNIPPET-EMBED ID=7 />', [[1, 7]]],
    ['after a fence and frontmatter', `---\ntitle: a\n---\n\`\`\`\nx\n\`\`\`\n# ${embed(7)}`, [[7, 7]]],
  ] as const)('%s', ([, markdown, expected]) => {
    expect(embeddingHeadings(markdown).map(({ line, ids }) => [line, ...ids])).toEqual(expected);
  });

  test.for([
    ['a paragraph', `Sale by ${embed(7)}\n\n---\n`],
    ['an element', `<h2 id="own">Sale by ${embed(7)}</h2>`],
    ['code', `## \`${embed(7)}\`\n\n\`\`\`\n## ${embed(7)}\n\`\`\``],
    ['frontmatter', `---\n# ${embed(7)}\ntitle: ${embed(7)}\n---\n# Title`],
    ['a hashtag', `#sale ${embed(7)}`],
    ['a heading that names the element', '## The element snippet-embed, and <snippet-embedded id="7" />'],
  ] as const)('none in %s', ([, markdown]) => {
    expect(embeddingHeadings(markdown)).toEqual([]);
  });
});

describe('in a build', async () => {
  const { site, output } = await builtSite(
    { 1: 'Ann', 2: 'Ben', 3: 'Cleo', 4: 'Dora' },
    {
      'astro.config.mjs': `
        import { defineConfig } from 'astro/config';
        import mdx from '@astrojs/mdx';
        import snippets from 'astro-snippets';
        export default defineConfig({ integrations: [mdx(), snippets()] });`,
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
      'src/pages/page.mdx': `import { Snippet } from 'astro-snippets/components';

## By <Snippet id={2} />

<h2 id="own">By <Snippet id={3} /></h2>
`,
      'src/pages/component.astro': `---
import { Snippet } from 'astro-snippets/components';
---
<h2 id="dora">By <Snippet id={4} /></h2>`,
      // Named in headings of sources that no page shows.
      'src/posts/draft.md': `## ${embed(999)}\n`,
      'src/posts/example.md': `## \`${embed(1)}\`\n`,
    },
  );

  test('an embed in a Markdown heading is a warning with file and line that names what to do', () => {
    expect(output).toContain(
      '[WARN] [astro-snippets] src/posts/sale.md:5 has an embed in a heading. Its slug and its entry in the table of contents are without the snippet: Astro writes them before snippets are fetched. Put the embed into the frontmatter title or below the heading, or write the heading as <h2 id="…">, which has no entry there.',
    );
    expect(output).toContain('[WARN] [astro-snippets] src/pages/page.mdx:3 has an embed in a heading.');
  });

  test('headings that are elements, and sources that no page shows, are no warnings', () => {
    expect(output.match(/has an embed in a heading/g)).toHaveLength(4);
  });

  test('what the warning says is true: the slug and the table of contents are without the snippet', async () => {
    const page = await site.read('post/index.html');
    expect(page).toContain('<a href="#sale-by--now">Sale by  now</a>');
    expect(page).toContain('<h2 id="sale-by--now">Sale by Ann now</h2>');
    expect(await site.read('page/index.html')).toContain('<h2 id="own">By Cleo</h2>');
  });

  test('slugs are made of children, an embed alone has none, and an element has no entry', async () => {
    const page = await site.read('own/index.html');
    expect(page).toContain(
      '<pre>[[&quot;&quot;,&quot;&quot;],[&quot;by-our-team&quot;,&quot;By our team&quot;]]</pre>',
    );
    for (const heading of ['"">Ann', '"by-our-team">By Ann', '"raw">Written by Ann']) {
      expect(page).toContain(`<h2 id=${heading}</h2>`);
    }
  });
});

test('no source is searched for a site whose headings hold no embed', async () => {
  const service = await startTestService({ 1: 'Ann' });
  const site = await createSite({
    'src/pages/index.astro': `<h1 id="a">Title</h1><h2>${embed(1)}</h2><p>${embed(1)}</p>`,
    'src/posts/draft.md': `## ${embed(1)}\n`,
  });
  const { exitCode, output } = await site.build(service.environment);
  expect(exitCode, output).toBe(0);
  expect(output).not.toContain('[WARN] [astro-snippets]');
  await site.remove();
  await service.close();
});
