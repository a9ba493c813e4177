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

  test.for([
    [`<p id="offer" class="lead">${embed}</p>`, '<div id="offer" class="lead"><hr></div>'],
    [`<P\n class=lead >\n${embed}\n</P\n>`, '<div\n class=lead >\n<hr>\n</div\n>'],
    ['<p hidden><snippet-embed id="1"/></p>', '<div hidden><hr></div>'],
    [`<p id="a">${embed}</p><p id='b'>${embed}</p>`, `<div id="a"><hr></div><div id='b'><hr></div>`],
    [`<p data-astro-cid-x1>${embed}</p>`, '<div data-astro-cid-x1><hr></div>'],
    // The page of `astro dev` says where an element is written. In a build, these have no attributes.
    [`<p data-astro-source-file="a.md" data-astro-source-loc="1:2">${embed}</p>`, '<hr>'],
    [`<p data-astro-source-loc="1:2" id=a>${embed}</p>`, '<div data-astro-source-loc="1:2" id=a><hr></div>'],
    [`<p / >${embed}</p>`, '<hr>'],
  ] as const)('with attributes, it becomes a <div> that keeps them: %s', ([html, expected]) => {
    expect(put(html, '<hr>').toString()).toBe(expected);
    expect(put(html, 'text').toString()).toBe(
      html.replaceAll(/<snippet-embed.*?(?:\/>|><\/snippet-embed>)/g, 'text'),
    );
    const withChildren = html.replaceAll(
      /<snippet-embed id="1"(?:\/>|><\/snippet-embed>)/g,
      '<snippet-embed id="1"><hr></snippet-embed>',
    );
    expect(put(withChildren, undefined).toString()).toBe(expected);
  });

  test('with attributes, it has the marks of edit links inside', () => {
    const page = Buffer.from(`<p id="a">${embed}</p>`);
    const inlined = replaceEmbeds(page, scan(page, 'html').embeds, ({ format }) =>
      compose(both('<hr>'), { ...format, mark: '1' }),
    );
    expect(inlined.toString()).toBe('<div id="a"><!--snippet 1--><hr><!--/snippet 1--></div>');
  });

  test('in JSON, a feed and srcdoc, its encoding stays, too', () => {
    const inFrame = (start: string, end: string) =>
      put(`<iframe srcdoc='${start}${embed}${end}'></iframe>`, '<hr>').toString();
    expect(inFrame('&lt;p class=&quot;a&quot;>', '&lt;/p>')).toBe(
      "<iframe srcdoc='&lt;div class=&quot;a&quot;>&lt;hr&gt;&lt;/div>'></iframe>",
    );
    // A name that is written as an entity has several bytes, and stays.
    expect(inFrame('<&#112; id=a>', '</p>')).toBe("<iframe srcdoc='<&#112; id=a>&lt;hr&gt;</p>'></iframe>");
    expect(inFrame('<p id=a>', '</&#x70;>')).toBe("<iframe srcdoc='<p id=a>&lt;hr&gt;</&#x70;>'></iframe>");

    const html = `<p class="a">${embed}</p>`;
    const json = Buffer.from(JSON.stringify({ html }).replaceAll('<', '\\u003c'));
    const xml = Buffer.from(`<rss><description>${html.replaceAll('<', '&lt;')}</description></rss>`);
    const inlined = ([file, kind]: [Buffer, 'json' | 'xml']) =>
      replaceEmbeds(file, scan(file, kind).embeds, ({ format }) => compose(both('<hr>'), format)).toString();
    expect(JSON.parse(inlined([json, 'json']))).toEqual({ html: '<div class="a"><hr></div>' });
    expect(inlined([xml, 'xml'])).toBe(
      '<rss><description>&lt;div class="a">&lt;hr&gt;&lt;/div></description></rss>',
    );
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
