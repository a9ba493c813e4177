import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileSite } from '../../support/site/built-site.ts';
import { byAstro } from '../../support/site/installation.ts';

const embed = '<snippet-embed id="42"></snippet-embed>';

const autogenerate = `autogenerate: { directory: '.' }`;
// Starlight for Astro 5 asks for a label.
const sidebar = byAstro({ 5: `label: 'Docs', ${autogenerate}`, 6: autogenerate, 7: autogenerate });

const config = (integrations: string) => `
import { defineConfig } from 'astro/config';
import starlight from '@astrojs/starlight';
import snippets from 'astro-snippets';
// Without its search, which may still write files when the build ends.
const docs = starlight({ title: 'Docs', sidebar: [{ ${sidebar} }], pagefind: false });
export default defineConfig({ integrations: [docs, ${integrations}] });`;

const files = {
  'src/content.config.js': `
    import { defineCollection } from 'astro:content';
    import { docsLoader } from '@astrojs/starlight/loaders';
    import { docsSchema } from '@astrojs/starlight/schema';
    export const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) };`,
  'src/content/docs/index.md': `---
title: How to embed
description: What the element snippet-embed does.
---
The element snippet-embed says where a snippet belongs.

## In Markdown

Write \`${embed}\`, or with params \`\`<snippet-embed id="42" params='{"plan":"pro"}'>\`\`:

\`\`\`html title="page.html" {2}
<p>
  <snippet-embed id="42">children</snippet-embed>
</p>
\`\`\`

    ${embed}

<p data-snippets-ignore>Or escaped: \\${embed.replace('></', '>\\</')} in a paragraph.</p>

<pre>${embed.replaceAll('<', '&lt;')}</pre>

<button data-clipboard-text='${embed}'>Copy</button>

<!-- ${embed} -->
`,
  // Starlight's table of contents shows code in headings as plain text.
  'src/content/docs/headings.md': `---\ntitle: Headings\n---\n## The \`${embed}\` element\n\nText.\n\n## With \`<snippet-embed id="42">\` alone\n\nText.\n`,
  // Only exclude can mark a title as an example.
  'src/content/docs/reference/element.md': `---\ntitle: The element ${embed}\n---\n## \`${embed}\`\n\nA reference.\n`,
  'src/pages/llms.txt.js': `
    export const GET = () => new Response(${JSON.stringify(`# Docs\n\nWrite \`${embed}\`.\n\n\`\`\`html\n${embed}\n\`\`\`\n`)});`,
  'src/pages/search.json.js': `
    export const GET = () => Response.json([{ text: ${JSON.stringify(`Write \`${embed}\`.`)} }]);`,
};

const exclude = `snippets({ exclude: ['reference/**'] })`;
const site = await fileSite({ ...files, 'astro.config.mjs': config(exclude) });
const plain = await fileSite({ ...files, 'astro.config.mjs': config('') });
const output = await site.builds();
await plain.builds();

test('a Starlight site with the element in prose, code, fences and copy buttons builds without a key or a warning', () => {
  expect(output).not.toContain('[astro-snippets]');
});

test('the output is the same as without the integration, to the byte', async () => {
  const names = await plain.list();
  expect(names).toEqual(expect.arrayContaining(['index.html', 'reference/element/index.html', 'llms.txt']));
  // The output does contain the examples.
  expect(await site.read('index.html')).toMatch(
    /<code[^>]*>(?:&lt;|&#x3C;)snippet-embed id="42"[\s\S]*data-code="[^"]*snippet-embed[\s\S]*data-snippets-ignore(?:=""[^>]*)?>Or/,
  );
  expect(await site.read('reference/element/index.html')).toMatch(
    /<title>The element (<|&lt;)snippet-embed id=/,
  );
  expect(await site.list()).toEqual(names);
  for (const name of names) {
    const theirs = await readFile(join(plain.directory, 'dist', name));
    expect((await readFile(join(site.directory, 'dist', name))).equals(theirs), name).toBe(true);
  }
});

test('without exclude and data-snippets-ignore, these two pages have embeds, and are removed when the build fails', async () => {
  await site.write({
    'astro.config.mjs': config('snippets()'),
    'src/content/docs/index.md': files['src/content/docs/index.md'].replace(
      '<p data-snippets-ignore>',
      '<p>',
    ),
  });
  const { exitCode, output } = await site.build();
  expect(exitCode).toBe(1);
  expect(output).toContain(
    'SNIPPETS_API_KEY is not set. No base URL of the service is set. Needed for index.html, reference/element/index.html.\n',
  );
  const pages = (await site.list()).filter((name) => name.endsWith('.html'));
  expect(pages).toEqual(['404.html', 'headings/index.html']);
});
