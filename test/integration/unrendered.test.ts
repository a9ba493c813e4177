import { describe, expect, test } from 'vitest';
import { configWith, temporarySite } from '../support/site/site.ts';
import { exits } from '../support/tools/exits.ts';

const examples = `
\`<Snippet id={8} />\` and \`<snippet-embed id="8"></snippet-embed>\`

\`\`\`html
<Snippet id={8} />
<snippet-embed id="8"></snippet-embed>
\`\`\`
`;

test('a <Snippet> left in a page fails the build, with its line in the page and in the source', async () => {
  const site = await temporarySite({
    'src/pages/post.md': `# Post\n\nSee <Snippet id={42} /> here.\n\n<Snippet id={43} params={{ plan: 'pro' }} />\n${examples}`,
    'src/pages/title.astro': `<html><head><title set:html={'<Snippet id={5} />'}></title></head><body>
<Fragment set:html={'<!-- <Snippet id={6} /> --><kbd><Snippet id={6} /></kbd><p data-snippets-ignore><Snippet id={6} /></p>'} />
<Fragment set:html={'<snippet>of its own</snippet>'} />
</body></html>`,
    'src/pages/plain.md': examples,
    // No page is made from this file.
    'src/notes/draft.md': '<Snippet id={42} />',
  });
  const output = await exits(1, site.build());
  expect(output).toMatch(
    /post\/index\.html:2\n +<Snippet> was not rendered: .*\[unrendered-component\]\n +written in src\/pages\/post\.md:3\n/,
  );
  expect(output).toContain('write <snippet-embed id="42"></snippet-embed>, or rename it to .mdx');
  expect(output).not.toContain('missing-key');
  expect(output).toMatch(/title\/index\.html:1\n +<Snippet> was not rendered/);
  // Markdown escapes the second one. Code, comments, data-snippets-ignore and another <snippet> are fine.
  expect(output).toContain('2 embeds are invalid');
  expect(output).toMatch(
    /WARN.*post\/index\.html:3: shows the text of a <Snippet> .* It is written in src\/pages\/post\.md:5 or elsewhere\./,
  );
  expect((await site.list()).filter((name) => name.endsWith('.html'))).toEqual(['plain/index.html']);
});

describe('in the text of an image in MDX,', () => {
  const mdxSite = (pages: Record<string, string>) =>
    temporarySite({
      'astro.config.mjs': configWith('', {
        imports: `import mdx from '@astrojs/mdx';`,
        integrations: 'mdx(), ',
      }),
      'src/pages/fine.mdx': `import { Snippet } from 'astro-snippets/components';

\`![Team of <Snippet id={42} />](/a.png)\` <img src="/a.png" alt="Team" />

{/* ![Team of <Snippet id={42} />](/a.png) */}

\\![no image <b>of</b> ours](/a.png) ![Team of <b>ours</b>](/a.png) <i>more</i>`,
      ...pages,
    });
  const imported = `import { Snippet } from 'astro-snippets/components';\n`;

  test.for<[string, string, string]>([
    ['Snippet', imported, '![Team of\n<Snippet id={42} />](/a.png)'],
    ['snippet-embed', '', '![Team of\n<snippet-embed id="42"></snippet-embed>](/a.png)'],
    ['snippet-embed', '', '![See [1]:\n<snippet-embed id="42"></snippet-embed>](/a.png)'],
    ['Snippet', imported, '![Team of\n<Snippet id={42} />][team]\n\n[team]: /a.png'],
    ['Snippet', imported, '[![of\n<Snippet id={42} />](/a.png)](/team) and <Snippet id={42} />'],
    [
      'S',
      "import { Snippet as S } from 'astro-snippets/components';\n",
      '![*Team* of\n<S id={42} />](/a.png)',
    ],
    [
      'all.Snippet',
      "import * as all from 'astro-snippets/components';\n",
      '- ![of\n  <all.Snippet id={42} />](/a.png)',
    ],
    ['Text', `${imported}export const X = Snippet, Text = X;\n`, '![Team of\n<Text id={42} />](/a.png)'],
  ])('<%s> fails the build, with its line: %j%j', async ([name, imports, markdown]) => {
    const site = await mdxSite({ 'src/pages/team.mdx': `${imports}\n${markdown}\n` });
    const line = imports.split('\n').length + 2;
    expect(await exits(1, site.build())).toContain(
      `src/pages/team.mdx:${line} contains <${name}> in the text of an image, which is plain text in MDX.`,
    );
  });

  test('a component that the page passes is a warning, as it may show a snippet', async () => {
    const site = await mdxSite({
      'src/team.mdx': 'Team:\n\n![Team of <Team />](/a.png) and <i>more</i>\n',
      'src/pages/team.astro': `---
import { Content } from '../team.mdx';
import { Snippet } from 'astro-snippets/components';
---
<Content components={{ Team: Snippet }} />`,
    });
    const output = await site.builds();
    expect(output).toMatch(
      /WARN.*src\/team\.mdx:3 contains <Team> in the text of an image, which is plain text/,
    );
    expect(output.match(/contains </g)).toHaveLength(1);
  });

  test('each such component of a file has its own warning, once', async () => {
    const site = await mdxSite({
      'src/team.mdx': '![Team of <Team />](/a.png)\n\n![Role of <Role />](/b.png)\n',
      'src/pages/team.astro': `---
import { Content } from '../team.mdx';
import { Snippet } from 'astro-snippets/components';
---
<Content components={{ Team: Snippet, Role: Snippet }} />`,
    });
    const output = await site.builds();
    expect(output).toMatch(/WARN.*src\/team\.mdx:1 contains <Team> in the text of an image/);
    expect(output).toMatch(/WARN.*src\/team\.mdx:3 contains <Role> in the text of an image/);
    expect(output.match(/contains </g)).toHaveLength(2);
  });
});

test('snippets() twice in the config fails and says so', async () => {
  const site = await temporarySite({
    'astro.config.mjs': `
      import snippets from 'astro-snippets';
      export default { integrations: [snippets(), snippets({ concurrency: 2 })] };`,
    'src/pages/index.md': 'text',
  });
  expect(await exits(1, site.build())).toContain(
    '[astro-snippets/duplicate-integration] The Astro config contains snippets() 2 times.',
  );
});
