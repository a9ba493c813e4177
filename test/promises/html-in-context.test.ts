import { describe, expect, test } from 'vitest';
import { createRequest } from '../../src/client/snippet-request.ts';
import { leftOpen } from '../../src/content/open-elements.ts';
import { prepareSnippet } from '../../src/content/prepare-snippet.ts';
import type { HtmlRules } from '../../src/settings/options.ts';
import { readEmbeds } from '../../src/snippets/read-embeds.ts';
import type { SnippetUses } from '../../src/snippets/snippet-use.ts';

const rules: HtmlRules = { sanitize: undefined, scripts: 'error', strict: true, policy: 'none' };
// In SVG and MathML, an embed without `as` shows text.
const embed = '<snippet-embed id="1" as="html"></snippet-embed>';

/** Applies rules to content in a page, in place of `@`. */
function applyIn(page: string, content: string, changed: Partial<HtmlRules> = {}) {
  const uses: SnippetUses = new Map();
  readEmbeds({ name: 'index.html', bytes: Buffer.from(page.replaceAll('@', embed)), kind: 'html' }, uses);
  const [use] = uses.values();
  return prepareSnippet({ content }, use ?? { request: createRequest(1), asHtml: false }, {
    ...rules,
    ...changed,
  });
}

describe('a script that runs only inside another element is found', () => {
  const image = '<img src=x onerror=alert(1)>';
  const withoutImage = '<img src=x >';
  test.for([
    ['<noscript>@</noscript>', '<style></noscript><script>x</script></style>', '<style></noscript></style>'],
    ['<noscript>@</noscript>', `<!--</noscript>${image}-->`, `<!--</noscript>${withoutImage}-->`],
    ['<noscript><p>@</p></noscript>', '<b title="</noscript><script>x</script>">', '<b title="</noscript>">'],
    ['<svg>@</svg>', `<style>${image}</style>`, `<style>${withoutImage}</style>`],
    ['<svg><g>@</g></svg>', '<style><script>x</script></style>', '<style></style>'],
    [
      '<svg><foreignObject><p>@</p></foreignObject></svg>',
      `</foreignObject><style>${image}`,
      `</foreignObject><style>${withoutImage}`,
    ],
    [
      '<svg><title>@</title></svg>',
      `</title><style>${image}</style>`,
      `</title><style>${withoutImage}</style>`,
    ],
    ['<math>@</math>', `<style>${image}</style>`, `<style>${withoutImage}</style>`],
    ['<math><mi>@</mi></math>', `</mi><style>${image}</style>`, `</mi><style>${withoutImage}</style>`],
    ['<select>@</select>', '<style><script>x</script></style>', '<style></style>'],
    [
      '<noscript><table><tr><td>@',
      '<style></noscript><script>x</script></style>',
      '<style></noscript></style>',
    ],
  ] as const)('%s %s', async ([page, content, stripped]) => {
    await expect(applyIn(page, content)).rejects.toMatchObject({ code: 'script-refused' });
    expect((await applyIn(page, content, { scripts: 'strip', strict: false })).html).toBe(stripped);
    // It may be shown elsewhere later.
    await expect(applyIn('<p>@</p>', content)).rejects.toMatchObject({ code: 'script-refused' });
  });

  test.for(['<title>@</title>', '<textarea>@</textarea>', '<p title="@">'])(
    'content shown as text has no script: %s',
    async (page) => {
      const content = `</textarea></title>"><script>x</script>${image}`;
      expect((await applyIn(page, content)).text).toBe('">');
    },
  );
});

describe('strict refuses content that swallows the rest of a page only inside another element', () => {
  test.for([
    ['<svg>@</svg>', '<![CDATA[>x', 'a CDATA section'],
    ['<math>@</math>', '<![CDATA[>x', 'a CDATA section'],
    ['<noscript>@</noscript>', '<style></noscript><!--</style>', 'a comment'],
    ['<noscript>@</noscript>', '<style></noscript><textarea></style>', '<textarea>'],
    ['<select>@</select>', '<style><!--</style>', 'a comment'],
  ] as const)('%s %s', async ([page, content, what]) => {
    expect(leftOpen(content)).toBeUndefined();
    await expect(applyIn(page, content)).rejects.toMatchObject({
      code: 'left-open',
      message: `Snippet 1 leaves ${what} open, which swallows the rest of the page.`,
    });
  });

  test.for([
    ['<svg>@</svg>', '<g><path d="M0 0"/></g><title>x</title><![CDATA[x]]>'],
    ['<math>@</math>', '<mi>x</mi><mo>=</mo>'],
    ['<noscript>@</noscript>', '<img src="x"><style>b{}</style><textarea>x</textarea>'],
    ['<select>@</select>', '<option>a<option>b'],
    ['<table>@</table>', '<tr><td>x<td>y'],
    ['<table><tr>@</tr></table>', '<td>x</td><td><textarea></textarea></td>'],
    ['<template>@</template>', '<tr><td>x</td></tr>'],
  ] as const)('but not what is allowed there: %s %s', async ([page, content]) => {
    const { html, flaws } = await applyIn(page, content);
    expect([html, flaws]).toEqual([content, []]);
  });

  test('if scripts are allowed, their text is not read as tags', async () => {
    const content = '<script>for (i = 0; i<n; i++) "<!--"</script><svg><style>a</style></svg>';
    expect((await applyIn('<svg>@</svg>', content, { scripts: 'allow' })).html).toBe(content);
  });
});

test('sanitize may return a promise, which is awaited before scripts are looked for', async () => {
  const sanitize = async (html: string) => `${html}<script>x</script>`;
  expect((await applyIn('<p>@</p>', 'a', { sanitize, scripts: 'allow' })).html).toBe('a<script>x</script>');
  await expect(applyIn('<p>@</p>', 'a', { sanitize })).rejects.toMatchObject({ code: 'script-refused' });
});
