import fc from 'fast-check';
import { type DefaultTreeAdapterMap, parseFragment } from 'parse5';
import { describe, expect, test } from 'vitest';
import { textOf } from '../../src/markup/text-of.ts';
import { oneOf, runs } from '../support/tools/property.ts';

describe('the text of HTML', () => {
  test.for([
    ['Tom &amp; Jerry&nbsp;&mdash; <b>now</b>', 'Tom & Jerry\u00a0— now'],
    ['', ''],
    [' a\n\t b\r\n', 'a b'],
    ['\u00a0a\u00a0', '\u00a0a\u00a0'],
    ['a<br>b<br/>c', 'a b c'],
    ['<table><tr><td>a<td>b</table>', 'a b'],
    ['a<script>b</script><style>c</style><template>d</template>e', 'ae'],
    ['a<script><!-- <script>b</script> c --></script>d', 'ad'],
    ['a<iframe>b</iframe>c', 'ac'],
    ['1 < 2 & 3 > 2', '1 < 2 & 3 > 2'],
    ['&lt;b&gt; &amp;lt;', '<b> &lt;'],
    ['&#13;&#10;a', 'a'],
    ['a <b', 'a'],
    ['a<noembed>b</noembed><noframes>c</noframes>d', 'ad'],
    ['<title>a &amp; b</title>', 'a & b'],
  ] as const)('%j is %j', ([html, expected]) => {
    expect(textOf(html)).toBe(expected);
  });

  test.for(
    `address article aside blockquote br caption center colgroup dd details dialog dir div dl dt fieldset figcaption
    figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li listing main menu nav ol optgroup option p plaintext
    pre search section summary table tbody td tfoot th thead tr ul xmp`.split(/\s+/),
  )('has a space where <%s> separates words', (name) => {
    expect(textOf(`a<${name}>b`)).toBe('a b');
  });

  test.for(`a abbr b button code em i ins label mark small span strong sub sup u my-card`.split(' '))(
    'has no space where <%s> stands in a word',
    (name) => {
      expect(textOf(`a<${name}>b</${name}>c`)).toBe('abc');
    },
  );
});

const apart = new Set(['p', 'div', 'li', 'ul', 'br', 'h1', 'section']);

function theirs(html: string): string {
  let text = '';
  const visit = (node: DefaultTreeAdapterMap['node']) => {
    if (node.nodeName === 'script' || node.nodeName === 'style') return;
    if (apart.has(node.nodeName)) text += ' ';
    if ('value' in node) text += node.value;
    if ('childNodes' in node) node.childNodes.forEach(visit);
    if (apart.has(node.nodeName)) text += ' ';
  };
  visit(parseFragment(html));
  return text.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, '');
}

// Without tables and lists of options, where parse5 moves text, stray end tags, which it turns into elements, and NUL,
// which it drops. (A `<` before a letter would swallow a start tag and leave a stray end tag.)
const part = fc.oneof(
  oneOf(
    `<p> <p>a</p> <div> <li> <ul> <ul>a</ul> <br> <b>b</b> <h1>h</h1> <script>x</script> <style>x</style> <section>
    <template>x</template> &amp; &lt &nbsp; &#x1f4a1; &eacute &notit; a > & "`,
    ...['<!-- x -->', '<a title=">">x</a>', ' ', '\n', '\u00a0', '< '],
  ),
  fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[<\0]/g, '')),
);

test("is the text of parse5's tree", () => {
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
      const html = parts.join('');
      expect(textOf(html)).toBe(theirs(html));
    }),
    { numRuns: runs(2_000) },
  );
});
