import { describe, expect, test } from 'vitest';
import { createRequest } from '../../src/client/snippet-request.ts';
import { leftOpen } from '../../src/html/left-open.ts';
import { applyRules } from '../../src/html/rules.ts';
import { findScripts } from '../../src/html/scripts.ts';
import type { HtmlRules } from '../../src/settings/options.ts';
import { readEmbeds, type SnippetUses } from '../../src/snippets/file-embeds.ts';

const rules: HtmlRules = { sanitize: undefined, scripts: 'error', strict: true, policy: 'none' };
const embed = '<snippet-embed id="1"></snippet-embed>';

/** Applies rules to content as it is shown in a page, where `@` is. */
function applyIn(page: string, content: string, changed: Partial<HtmlRules> = {}) {
  const uses: SnippetUses = new Map();
  readEmbeds({ name: 'index.html', bytes: Buffer.from(page.replaceAll('@', embed)), kind: 'html' }, uses);
  const [use] = uses.values();
  return applyRules({ content }, use ?? { request: createRequest(1), asHtml: false }, {
    ...rules,
    ...changed,
  });
}

describe('a script that runs only in its surroundings is found', () => {
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
  ] as const)('%s %s', async ([page, content, stripped]) => {
    expect(findScripts(content)).toEqual([]);
    await expect(applyIn(page, content)).rejects.toMatchObject({ code: 'script-refused' });
    expect((await applyIn(page, content, { scripts: 'strip', strict: false })).html).toBe(stripped);
    // The same content is fine where it is usual HTML.
    expect((await applyIn('<p>@</p>', content, { strict: false })).html).toBe(content);
  });

  test('even if the same snippet is shown in other places too', async () => {
    const page = `<p>@</p><svg>@</svg><table><tr><td>@</td></tr></table>`;
    await expect(applyIn(page, `<style>${image}</style>`)).rejects.toMatchObject({ code: 'script-refused' });
  });

  test.for(['<title>@</title>', '<textarea>@</textarea>', '<p title="@">'])(
    'in %s, where content is shown as text, there is none',
    async (page) => {
      const content = `</textarea></title>"><script>x</script>${image}`;
      expect((await applyIn(page, content)).text).toBe('">');
    },
  );
});

describe('what swallows the rest of a page only in its surroundings is refused by strict', () => {
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
  ] as const)('what belongs there is not: %s %s', async ([page, content]) => {
    const { html, warnings } = await applyIn(page, content);
    expect([html, warnings]).toEqual([content, []]);
  });
});

describe('the surroundings of an embed are', () => {
  const raw = '<style><img src=x onerror=alert(1)></style>';
  test.for([
    ['an <svg> that is closed before it', '<svg></svg><math></math>@', false],
    ['an element of SVG outside of <svg>', '<desc>@', false],
    ['a <foreignObject>, where HTML is', '<svg><foreignObject><div>@</div>', false],
    ['an <svg> in an <svg>', '<svg><svg><svg>@', true],
    ['<svg> around a table', '<svg><table><tr><th>@', false],
  ] as const)('%s', async ([, page, isRefused]) => {
    const applied = applyIn(page, raw, { strict: false });
    if (isRefused) await expect(applied).rejects.toMatchObject({ code: 'script-refused' });
    else expect((await applied).html).toBe(raw);
  });

  test('<noscript> around a table', async () => {
    const content = '<style></noscript><script>x</script></style>';
    await expect(applyIn('<noscript><table><tr><td>@', content)).rejects.toMatchObject({
      code: 'script-refused',
    });
  });
});

describe('sanitize', () => {
  test('may return a promise, which is awaited before scripts are looked for', async () => {
    const sanitize = async (html: string) => `${html}<script>x</script>`;
    expect((await applyIn('<p>@</p>', 'a', { sanitize, scripts: 'allow' })).html).toBe('a<script>x</script>');
    await expect(applyIn('<p>@</p>', 'a', { sanitize })).rejects.toMatchObject({ code: 'script-refused' });
  });
});
