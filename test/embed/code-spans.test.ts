import { createMarkdownProcessor } from '@astrojs/markdown-remark';
import { escapeText } from 'entities/escape';
import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { describe, expect, test } from 'vitest';
import { withoutCodeSpans } from '../../src/embed/code-spans.ts';
import type { FileKind, ScanResults } from '../../src/embed/found-embed.ts';
import { scan } from '../../src/embed/scan.ts';
import { oneOf, runs } from '../support/tools/property.ts';

const embed = '<snippet-embed id="1"></snippet-embed>';

/** The ways to write HTML into files that are not pages. */
const files: readonly [name: string, kind: FileKind, write: (html: string) => string][] = [
  ['escaped XML', 'xml', (html) => `<rss><description>${escapeText(html)}</description></rss>`],
  ['CDATA', 'xml', (html) => `<rss><description><![CDATA[${html}]]></description></rss>`],
  ['JSON', 'json', (html) => JSON.stringify({ items: [{ content_html: html }] })],
];

function scanned(text: string, kind: FileKind): ScanResults & { ids: (string | undefined)[] } {
  const found = scan(Buffer.from(text), kind);
  return { ...found, ids: found.embeds.map(({ attributes }) => attributes.id) };
}

const markdownIt = new MarkdownIt({ html: true });
const processors: readonly (readonly [name: string, render: (markdown: string) => Promise<string>])[] = [
  ['markdown-it', async (markdown) => markdownIt.render(markdown)],
  ...(['shiki', 'prism', false] as const).map((syntaxHighlight) => {
    const processor = createMarkdownProcessor({ syntaxHighlight });
    const render = async (markdown: string) => (await (await processor).render(markdown)).code;
    return [`remark with ${syntaxHighlight || 'no highlighting'}`, render] as const;
  }),
];

/** The output of other processors. */
const written: readonly [name: string, html: string][] = [
  [
    'Hugo, with line numbers',
    '<div class="highlight"><div class="chroma">\n<table class="lntable"><tr><td class="lntd">\n<pre tabindex="0" class="chroma"><code><span class="lnt">1\n</span></code></pre></td>\n<td class="lntd">\n<pre tabindex="0" class="chroma"><code class="language-md" data-lang="md"><span class="line"><span class="cl">```js\n</span></span>\n```\n\n```\n</code></pre></td></tr></table>\n</div>\n</div>',
  ],
  [
    'Jekyll',
    '<div class="language-md highlighter-rouge"><div class="highlight"><pre class="highlight"><code><span class="p">```</span><span class="nl">js\n</span>code\n<span class="p">```</span>\n\n</code></pre></div></div>\n',
  ],
];

const examples = [
  'Four backticks:',
  '````md\n```js\ncode\n```\n````',
  'A \\` and:',
  '````\n```\n````',
  '- In a list:\n\n  ````md\n  text\n\n  ```\n  ````',
  '> In a quote, with ``a ` b``:\n>\n> ~~~~\n> ~~~\n> ~~~~',
];

describe('after code examples that contain fences, an embed is found', () => {
  describe.for(files)('in %s', ([, kind, write]) => {
    test.for(processors)('of %s', async ([, render]) => {
      for (const example of [...examples, examples.join('\n\n')]) {
        const html = await render(`${example}\n\nBuy now: ${embed}\n`);
        expect(html).toContain('<p>Buy now:');
        expect(scanned(write(html), kind), html).toMatchObject({ ids: ['1'], faults: [], warnings: [] });
      }
    });

    test.for(written)('of %s', ([, html]) => {
      const text = write(`${html}<p>Buy now: ${embed}</p>\n`);
      expect(scanned(text, kind)).toMatchObject({ ids: ['1'], faults: [], warnings: [] });
    });
  });

  const line = oneOf('``` ```` `````js ~~~ ` `` it`s code', '~~~~ md', '', '  ```');
  const lines = fc.array(line, { maxLength: 6 }).map((all) => escapeText(all.join('\n')));
  const example = fc.oneof(
    lines.map((code) => `<pre><code>${code}</code></pre>`),
    lines.map((code) => `<pre class="shiki"><code>${code.replaceAll('\n', '</span>\n<span>')}</code></pre>`),
    lines.map((code) => `<ul>\n<li>\n<pre>${code}\n</pre>\n</li>\n</ul>`),
    lines.map((code) => `<p>Write <code>${code}</code> or <kbd>${code}</kbd>.</p>`),
    lines.map((code) => `<dl><dt>a<dd><code>${code}</code>\n</dl><code>a</code><b>it\`s</b>`),
    lines.map((code) => `<p title="${code}">${code}</p>`.replace(/\n{2,}/g, '\n')),
  );
  const between = fc.constantFrom('', '\n', '\n\n');

  test('in any file, with any fences and backticks in the examples', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(example, between), { minLength: 1, maxLength: 4 }),
        example,
        fc.constantFrom(...files),
        fc.boolean(),
        (before, after, [, kind, write], isAlone) => {
          const html = `${before.flat().join('')}${isAlone ? embed : `<p>${embed}</p>`}\n${after}`;
          expect(scanned(write(html), kind)).toMatchObject({ ids: ['1'], warnings: [] });
        },
      ),
      { numRuns: runs(2_000) },
    );
  });
});

test.for<[where: string, html: string, only?: FileKind]>([
  ['in a paragraph', `<p>Write \`${embed}\`.</p>`],
  ['in two elements', `<b>it\`s</b> ${embed} <i>it\`s</i>`],
  ['in two blocks around one', `it\`s <p>${embed}</p> it\`s`],
  ['in a block without a blank line', `<div>\n\`\`\`html\n${embed}\n\`\`\`\n</div>`],
  ['in comments', `<!-- \` -->${embed}<!-- \` -->`],
  ['in scripts', `<script>\`</script>${embed}<script>\`</script>`],
  [
    'in elements that are not code',
    `<my-code>\`\`\`js\nx\n\`\`\`\n</my-code>\n<p>${embed}</p>\n<my-code>\`\`\`js\nx\n\`\`\`\n</my-code>`,
  ],
  // Only in a feed, which contains HTML.
  ['in a paragraph without <p>', `Buy \`${embed}\` now`, 'xml'],
  ['in a fence', `\`\`\`\n${embed}\n\`\`\``, 'xml'],
  ['in a fence that never ends', `~~~\n${embed}`, 'xml'],
])('in HTML, backticks mean nothing: %s', ([, html, only]) => {
  for (const [, kind, write] of files.filter(([, kind]) => kind === (only ?? kind))) {
    expect(scanned(write(html), kind)).toMatchObject({ ids: ['1'], faults: [], warnings: [] });
  }
});

test.for([
  ['between backticks', `# A\n\n<b>Write</b> \`${embed}\`.`],
  ['between backticks, with a tag', `See [a](b).<br>Write \`<p>\` and \`<p>${embed}\`.`],
  ['in a fence', `<b>x</b>\n\n\`\`\`html\n<pre>\n${embed}\n\`\`\`\n`],
  ['in a fence in HTML', `<details>\n<summary>x</summary>\n\n\`\`\`html\n${embed}\n\`\`\`\n\n</details>`],
  ['in a fence of a component', `<Tabs>\n<TabItem>\n\`\`\`html\n${embed}\n\`\`\`\n</TabItem>\n</Tabs>`],
  ['in a fence of a list', `<b>x</b>\n\n- \`\`\`html\n  ${embed}\n  \`\`\`\n`],
] as const)('in Markdown with HTML, an example stays: %s', ([, text]) => {
  expect(scanned(text, 'text')).toEqual({ embeds: [], ids: [], faults: [], warnings: [] });
});

describe('if text may not be Markdown, or its code may have ended, an embed that stays is a warning:', () => {
  test.for([
    ['between backticks', `<b>Write</b> \`${embed}\`.`],
    ['in a fence that never ends', `<b>x</b>\n\n\`\`\`\n${embed}`],
    ['in a fence that never ends, after one that does', `# A\n\n<b>x</b>\n\n~~~\n~~~\n\n\`\`\`\n${embed}`],
    ['in a fence that never ends, without HTML', `~~~\n${embed}`],
    ['after an item with a fence that never ends', `- \`\`\`\n  a\n\n${embed}`],
    ['after an element with a fence that never ends', `<div>\n\n\`\`\`\na</div>\n<p>${embed}</p>`],
  ] as const)('%s', ([, text]) => {
    const warning = { flaw: 'in-code', start: text.indexOf(embed) };
    expect(scanned(text, 'text')).toEqual({ embeds: [], ids: [], faults: [], warnings: [warning] });
    const json = JSON.stringify([text]);
    expect(scanned(json, 'json').warnings).toEqual([{ flaw: 'in-code', start: json.indexOf('<snippet-') }]);
  });

  test('but text that is no embed gives no warning', () => {
    const text = '<b>Write</b> `<snippet-embed>`, `<snippet-embed id="x"></snippet-embed>` or `<b>`.';
    expect(scanned(text, 'text')).toEqual({ embeds: [], ids: [], faults: [], warnings: [] });
  });
});

describe('Markdown code ends where a Markdown processor ends it:', () => {
  test.for([
    ['a fence that begins an item of a list', `- \`\`\`\n  a\n  \`\`\`\n\n${embed}`],
    ['a backtick in each of two items', `- it\`s\n- ${embed}\n- it\`s`],
    ['a backtick in each of two rows', `| a |\n|---|\n| it\`s |\n| ${embed} |\n| it\`s |`],
    ['a backtick above a heading', `it\`s\n# ${embed}\nit\`s`],
    ['escaped backticks', `a \\\` ${embed} \\\` b`],
  ] as const)('%s', ([, text]) => {
    expect(scanned(text, 'text')).toMatchObject({ ids: ['1'], faults: [], warnings: [] });
    expect(markdownIt.render(text)).toContain(embed);
  });

  test.for([
    ['an escaped backslash', `a \\\\\`${embed}\``],
    ['a longer fence', `\`\`\`\`\n\`\`\`\n${embed}\n\`\`\`\`\``],
    ['a fence with another one in it', `~~~\n\`\`\`\n${embed}\n~~~`],
    ['a fence in a quote in a list', `- > \`\`\`\n  > ${embed}\n  > \`\`\``],
    ['backticks in two lines', `a \`b\n${embed}\`\n`],
  ] as const)('but not before: %s', ([, text]) => {
    expect(scanned(text, 'text')).toMatchObject({ ids: [], faults: [], warnings: [] });
    expect(markdownIt.render(text)).not.toContain(embed);
  });
});

test('code is replaced with spaces of the same length', () => {
  expect(withoutCodeSpans('a `b` c\n```\nd\n```\ne')).toBe(`a     c\n${' '.repeat(9)}\ne`);
});
