import { describe, expect, test } from 'vitest';
import { compose, replaceEmbeds, type SnippetContent } from '../../src/embed/replace-embeds.ts';
import { scan } from '../../src/embed/scan.ts';

function put(
  html: string | Buffer,
  content: string | undefined | ((id: string) => string | undefined),
): Buffer {
  const page = Buffer.from(html as string);
  return replaceEmbeds(page, scan(page, 'html').embeds, ({ attributes, format }) => {
    const given = typeof content === 'function' ? content(attributes.id ?? '') : content;
    return given === undefined ? undefined : compose(both(given), format);
  });
}

/** A content with the same HTML and text. */
function both(content: string): SnippetContent {
  return { html: content, text: content };
}

const embed = '<snippet-embed id="1"></snippet-embed>';

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

  test('a paragraph with other content stays, as does one around an embed shown as text', () => {
    expect(put(`<p>x ${embed}</p>`, '<div></div>').toString()).toBe('<p>x <div></div></p>');
    expect(put('<p><snippet-embed id="1" as="text"/></p>', '<hr>').toString()).toBe('<p>&lt;hr&gt;</p>');
  });
});

test.for([
  // Their text, where text is shown.
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
  // Unchanged, where HTML is shown.
  ['<i><snippet-embed id="1">a <b>c</b> &amp; ü</snippet-embed></i>', '<i>a <b>c</b> &amp; ü</i>'],
  ['<title><snippet-embed id="1">a &amp; b</snippet-embed></title>', '<title>a &amp; b</title>'],
  ['<p><snippet-embed id="1"><div>x</div></snippet-embed></p>', '<div>x</div>'],
  [`<i>${embed}</i>`, '<i></i>'],
] as const)('the children of an embed are inlined if there is no content: %s', ([html, expected]) => {
  expect(put(html, undefined).toString()).toBe(expected);
});

test('a paragraph with another embed in an attribute stays, whatever its own embed shows', () => {
  const page = `<p title='a ${embed}'><snippet-embed id="2"></snippet-embed></p><i>rest</i>`;
  expect(put(page, (id) => (id === '1' ? 'title' : '<div>block</div>')).toString()).toBe(
    "<p title='a title'><div>block</div></p><i>rest</i>",
  );
});

// Some XML parsers decode only the five named references. layers.test.ts tests other characters.
test('quotes in an attribute of XML are named references', () => {
  const file = Buffer.from(`<a t="&lt;snippet-embed id='1'/>"/>`);
  const inlined = replaceEmbeds(file, scan(file, 'xml').embeds, ({ format }) =>
    compose(both(`it's "b"`), format),
  );
  expect(inlined.toString()).toBe('<a t="it&apos;s &quot;b&quot;"/>');
});
