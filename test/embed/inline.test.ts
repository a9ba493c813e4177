import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Content, inline } from '../../src/embed/inline.ts';
import { scan } from '../../src/embed/scan.ts';
import { runs } from '../support/property.ts';

function put(
  html: string | Buffer,
  content: string | undefined | ((id: string) => string | undefined),
): Buffer {
  const page = Buffer.from(html as string);
  return inline(page, scan(page, 'html').embeds, ({ attributes }) => {
    const given = typeof content === 'function' ? content(attributes.id ?? '') : content;
    return given === undefined ? undefined : both(given);
  });
}

/** A content whose text is told from its HTML only by where it goes. */
function both(content: string): Content {
  return { html: content, text: content };
}

const embed = '<snippet-embed id="1"></snippet-embed>';

describe('a content is escaped where only text is possible', () => {
  test.for([
    [`<title>a ${embed}</title>`, '<title>a &lt;b&gt; &amp;amp; "c"</title>'],
    [`<textarea>${embed}</textarea>`, '<textarea>&lt;b&gt; &amp;amp; "c"</textarea>'],
    ['<i><snippet-embed as="text" id="1"/></i>', '<i>&lt;b&gt; &amp;amp; "c"</i>'],
    ['<i><snippet-embed as="html" id="1"/></i>', '<i><b> &amp; "c"</i>'],
    [`<svg><title>${embed}</title></svg>`, '<svg><title><b> &amp; "c"</title></svg>'],
  ] as const)('%s', ([html, expected]) => {
    expect(put(html, '<b> &amp; "c"').toString()).toBe(expected);
  });
});

describe('a paragraph around an embed is replaced if it cannot contain the content', () => {
  test.for([
    ['<div>x</div>', '<div>x</div>'],
    ['text, then <TABLE></TABLE>', 'text, then <TABLE></TABLE>'],
    ['<!-- c --><section>x</section>', '<!-- c --><section>x</section>'],
    ['<p>one</p><p>two</p>', '<p>one</p><p>two</p>'],
    ['<hr>', '<hr>'],
    ['<b>bold</b> text', '<p><b>bold</b> text</p>'],
    ['plain', '<p>plain</p>'],
    ['', '<p></p>'],
    ['<!-- <div> -->', '<p><!-- <div> --></p>'],
    ['<a title="<div>">x</a>', '<p><a title="<div>">x</a></p>'],
  ] as const)('content %j gives %j', ([content, expected]) => {
    expect(put(`a<p>${embed}</p>b`, content).toString()).toBe(`a${expected}b`);
  });

  test('a paragraph with other content stays, and so does one around an embed that is shown as text', () => {
    expect(put(`<p>x ${embed}</p>`, '<div></div>').toString()).toBe('<p>x <div></div></p>');
    expect(put('<p><snippet-embed id="1" as="text"/></p>', '<hr>').toString()).toBe('<p>&lt;hr&gt;</p>');
  });
});

describe('where text is shown, the text of the children is inlined if there is no content', () => {
  test.for([
    ['<title><snippet-embed id="1">a <b>c</b> &amp; ü</snippet-embed></title>', '<title>a c &amp; ü</title>'],
    ['<p><snippet-embed id="1" as="text"><div>a &lt; b</div></snippet-embed></p>', '<p>a &lt; b</p>'],
    [
      '<h1>&lt;snippet-embed id="1"&gt;a &amp;amp; &lt;b&gt;c&lt;/b&gt;&lt;/snippet-embed&gt;</h1>',
      '<h1>a &amp; c</h1>',
    ],
    [
      '<a title="&lt;snippet-embed id=1&gt;&lt;b&gt;a&lt;/b&gt; &amp;quot;b&amp;quot;&lt;/snippet-embed&gt;">x</a>',
      '<a title="a &quot;b&quot;">x</a>',
    ],
    ['<img alt=&lt;snippet-embed/id=1&gt;&lt;/snippet-embed&gt; src=x>', '<img alt="" src=x>'],
  ] as const)('%s', ([html, expected]) => {
    expect(put(html, undefined).toString()).toBe(expected);
  });
});

describe('the children of an embed are inlined unchanged if there is no content', () => {
  test.for([
    ['<i><snippet-embed id="1">a <b>c</b> &amp; ü</snippet-embed></i>', '<i>a <b>c</b> &amp; ü</i>'],
    ['<title><snippet-embed id="1">a &amp; b</snippet-embed></title>', '<title>a &amp; b</title>'],
    ['<p><snippet-embed id="1"><div>x</div></snippet-embed></p>', '<div>x</div>'],
    [`<i>${embed}</i>`, '<i></i>'],
  ] as const)('%s', ([html, expected]) => {
    expect(put(html, undefined).toString()).toBe(expected);
  });
});

test('a paragraph with another embed in an attribute stays, whatever its own embed shows', () => {
  const page = `<p title='a ${embed}'><snippet-embed id="2"></snippet-embed></p><i>rest</i>`;
  expect(put(page, (id) => (id === '1' ? 'title' : '<div>block</div>')).toString()).toBe(
    "<p title='a title'><div>block</div></p><i>rest</i>",
  );
});

test('bytes outside an embed stay, even if they are not UTF-8', () => {
  const bytes = Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x80]);
  const page = Buffer.concat([bytes, Buffer.from(embed), bytes]);
  expect(put(page, 'ü')).toEqual(Buffer.concat([bytes, Buffer.from('ü'), bytes]));
});

test('a page without an embed is unchanged', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
      expect(put(Buffer.from(bytes), 'x')).toEqual(Buffer.from(bytes));
    }),
  );
});

test('any content is inlined unchanged into any text', () => {
  const around = fc.stringMatching(/^[^<&]*$/);
  const special = [
    ...["$& $1 $` $' $$", '</script><!-- <title> "', 'a\0b', 'a\r\nb\rc\n', 'Zoë 💡 日本語 \u2028', embed],
    ...['&amp; &lt; &nbsp;', '\ufeffwith a byte order mark'],
  ];
  const content = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom(...special));
  fc.assert(
    fc.property(fc.array(fc.tuple(around, content)), around, (pairs, end) => {
      const html = pairs
        .map(([before], index) => `${before}<snippet-embed id="${index}">x</snippet-embed>`)
        .join('');
      const expected = pairs.map(([before, content]) => before + content).join('');
      expect(put(html + end, (id) => pairs[Number(id)]?.[1]).toString()).toBe(
        Buffer.from(expected + end).toString(),
      );
    }),
    { numRuns: runs(500) },
  );
});

describe('content ends nothing that is around it', () => {
  const cdata = '<![CDATA[';
  test.for([
    ['xml', `<a>${cdata}]]${embed}>]]></a>`, '', `<a>${cdata}]]]]>${cdata}>]]></a>`],
    ['xml', `<a>${cdata}${embed}]]></a>`, 'a]]>b', `<a>${cdata}a]]]]>${cdata}>b]]></a>`],
    [
      'html',
      `<script type="application/json">["<snippet-embed id=1 />"]</script>`,
      '</script <!-- <script ',
      '<script type="application/json">["\\u003c/script \\u003c!-- \\u003cscript "]</script>',
    ],
    ['html', '<a title=&lt;snippet-embed/id=1&gt;&lt;/snippet-embed&gt; b>', '', '<a title="" b>'],
    // Some readers of XML decode its five named references and no numeric ones.
    ['xml', `<a t="&lt;snippet-embed id='1'/>"/>`, `it's "b"`, '<a t="it&apos;s &quot;b&quot;"/>'],
  ] as const)('%s: %s with %j', ([kind, text, content, expected]) => {
    const file = Buffer.from(text);
    expect(inline(file, scan(file, kind).embeds, () => both(content)).toString()).toBe(expected);
  });
});
