import { describe, expect, test } from 'vitest';
import { mayContainEmbed } from '../../src/embed/element.ts';
import type { FileKind } from '../../src/embed/found-embed.ts';
import { nestings } from '../../src/embed/nesting.ts';
import { scan } from '../../src/embed/scan.ts';
import { lineFinder } from '../../src/files/lines.ts';

const found = (html: string) => scan(Buffer.from(html), 'html');
const attributes = (html: string) => found(html).embeds.map((embed) => embed.attributes);
const slices = (html: string) =>
  found(html).embeds.map(({ start, end }) => Buffer.from(html).subarray(start, end).toString());

test.for([
  ['at its end tag', 'Ü ', ['<snippet-embed id="1">ä</snippet-embed>'], '!'],
  ['at an end tag with white space in it', 'a', ['<snippet-embed id="1"></snippet-embed\n >'], 'b'],
  ['at />', 'a', ['<snippet-embed id="1"/>'], 'b</p>'],
  ['at /> of each of two', '', ['<snippet-embed id="1" />', '<snippet-embed id="2" />'], ''],
  ['after its children', '', ['<snippet-embed id="1"><p>a</p><b>c</snippet-embed>'], 'd'],
] as const)('the end of an embed is found: %s', ([, before, embeds, after]) => {
  const html = before + embeds.join(' ') + after;
  expect(slices(html)).toEqual(embeds);
  expect(found(html).faults).toEqual([]);
});

const embed = '<snippet-embed id="1"></snippet-embed>';
const escaped = '&lt;snippet-embed id=&quot;1&quot;&gt;&lt;/snippet-embed&gt;';
const otherEscaped = escaped.replace('1', '2');
const encoded = encodeURIComponent(embed);
const byNumbers = '&#x3c;snippet-embed id="1"&#x3E;&#60;/snippet-embed&#62;';
const whole = '&lt;snippet-embed/id=1&gt;&lt;/snippet-embed&gt;';

/** The forms of the embeds that were found, with their layers. */
function forms(text: string, kind: FileKind = 'html'): string[] {
  return scan(Buffer.from(text), kind).embeds.map(({ format: { as, layers } }) =>
    layers.length === 0 ? as : `${as} in ${layers.join(', ')}`,
  );
}

test.for([
  ['text with only its name', '<p class="snippet-embed">&lt;snippet-embedded&gt; snippet-embed</p>'],
  ['a similar element', '<snippet-embedded id="1"></snippet-embedded><x-snippet-embed></x-snippet-embed>'],
  ['an end tag without a start tag', '</snippet-embed><p></snippet-embed></p>'],
] as const)('an embed in %s is not found', ([, html]) => {
  expect(found(html)).toEqual({ embeds: [], faults: [], warnings: [] });
});

test.for([
  ['noscript', `<noscript>${embed}</noscript>`, false],
  ['template', `<template>${embed}</template>`, false],
  ['an svg title', `<svg><title>${embed}</title></svg>`, true],
  ['title', `<title>a ${embed} b</title>`, true],
  ['TITLE', `<TITLE>${embed}</TITLE>`, true],
  ['textarea', `<textarea>\n${embed}</textarea>`, true],
  ['a title without an end tag', `<title>${embed}`, true],
] as const)('an embed in %s is found once', ([, html, isText]) => {
  expect(forms(html)).toEqual([isText ? 'text in html-text' : 'html']);
  expect(slices(html)).toEqual([embed]);
});

test.for([
  ['unclosed', `a\nb <snippet-embed id="1">`, [['unclosed', 2]]],
  ['unclosed in a paragraph', `<p>\n\n<snippet-embed id="1"></p>${embed}`, [['unclosed', 3]]],
  ['unclosed in a title', `<title>\n<snippet-embed id="1"></title>`, [['unclosed', 2]]],
  [
    'nested',
    `<snippet-embed id="1">\n<snippet-embed id="2"></snippet-embed></snippet-embed>`,
    [['nested', 2]],
  ],
  [
    'nested in text, an attribute and data of the children',
    `<snippet-embed id="1"><p>\n${escaped}\n<a href="/"><img alt='${embed}'></a>\n<code>${escaped}</code><script type="application/json">\n["${escaped}"]</script></snippet-embed>`,
    [
      ['nested', 2],
      ['nested', 3],
      ['nested', 5],
    ],
  ],
] as const)('an invalid embed is reported with its line: %s', ([, html, expected]) => {
  const page = Buffer.from(html);
  expect(scan(page, 'html').faults.map(({ flaw, start }) => [flaw, lineFinder(page)(start)])).toEqual(
    expected,
  );
});

test.for([
  [`<p>${embed}</p>`, true],
  [`<p>\n  ${embed}\t</p>`, true],
  [`<p class="x">${embed}</p >`, true],
  [`<p><snippet-embed id="1">some <b>children</b></snippet-embed></p>`, true],
  [`<p><snippet-embed id="1"/></p>`, true],
  [`<p><snippet-embed id="1"><p>a paragraph</p></snippet-embed></p>`, true],
  [`<p>text ${embed}</p>`, false],
  [`<p>${embed} text</p>`, false],
  [`<p>&nbsp;${embed}</p>`, false],
  [`<p>\u00a0${embed}</p>`, false],
  [`<p>${embed}${embed}</p>`, false],
  [`<p>${embed}<br></p>`, false],
  [`<p><b>${embed}</b></p>`, false],
  [`<p><!-- why -->${embed}</p>`, false],
  [`<p>${embed}<!-- why --></p>`, false],
  [`<p>${embed}<p>next</p>`, false],
  [`<p>${embed}`, false],
  [`<div>${embed}</div>`, false],
  [`<p>text</p>${embed}<p>text</p>`, false],
] as const)('a paragraph that contains only an embed is recognized: %s: %s', ([html, isAlone]) => {
  const [first] = found(html).embeds;
  const { paragraph } = first ?? {};
  const page = Buffer.from(html);
  expect(paragraph && page.subarray(paragraph.start, paragraph.end).toString()).toBe(
    isAlone ? html : undefined,
  );
});

test.for([
  [`<astro-island client="load"><div>${embed}</div></astro-island>`, true],
  [`<astro-island client="load"><div><astro-slot>${embed}</astro-slot></div></astro-island>`, false],
  [`<astro-island><astro-slot></astro-slot>${embed}</astro-island>`, true],
  [`<astro-island><template data-astro-template>${embed}</template></astro-island>`, false],
  [`<astro-island><astro-slot><astro-island>${embed}</astro-island></astro-slot></astro-island>`, true],
  [`<astro-island></astro-island>${embed}`, false],
  [`<template>${embed}</template>`, false],
  [embed, false],
] as const)("%s: the embed is in an island's own markup: %s", ([html, inIsland]) => {
  expect(found(html).embeds).toEqual([expect.objectContaining({ inIsland })]);
});

// The property in layers.test.ts tests combinations of places.
test.for([
  ['upper case', 'html', '<SNIPPET-EMBED ID="1"></SNIPPET-EMBED>', 'html'],
  ['escaped twice', 'html', `<h1>${escaped.replaceAll('&', '&amp;')}</h1>`, 'text in html-text, html-text'],
  ['all of an attribute without quotes', 'html', `<a title=${whole}>x</a>`, 'text in html-unquoted-whole'],
  ['an attribute', 'html', `<a title='<snippet-embed id="1" as="html" />'>x</a>`, 'text in html-attribute'],
  [
    'a URL in a URL',
    'html',
    `<a href="/?t=${encodeURIComponent(encoded)}">`,
    'text in html-attribute, url, url',
  ],
  ['query', 'html', `<a href="/?t=${encoded.replaceAll('%20', '+')}">`, 'text in html-attribute, url-query'],
  ['a URL that is shown', 'html', `<p>/?t=${encoded}</p>`, 'text in html-text, url'],
  ['HTML in XML, escaped by numbers', 'xml', `<a>&#60;p&#62;${byNumbers}</a>`, 'html in xml-text'],
  ['a text of SVG', 'xml', `<svg><g><text>${escaped}</text></g></svg>`, 'text in xml-text'],
  ['an XML title with a prefix', 'xml', `<media:title><![CDATA[${embed}]]></media:title>`, 'text in cdata'],
  ['JSON lines', 'json', `{"a":1}\n{"a":${JSON.stringify(embed)}}\n`, 'html in json'],
  ['Markdown', 'text', `# A\n\nText ${embed}\n`, 'html'],
  ['a link in Markdown', 'text', `[a](https://example.com/?t=${encoded})`, 'text in html-text, url'],
] as const)('an embed is found in %s', ([, kind, text, form]) => {
  expect(forms(text, kind)).toEqual([form]);
  const { embeds, faults, warnings } = scan(Buffer.from(text), kind);
  expect({ faults, warnings }).toEqual({ faults: [], warnings: [] });
  expect(embeds.map(({ attributes }) => attributes.id)).toEqual(['1']);
});

describe('examples stay', () => {
  test.for([
    ['code', 'html', `<code>${embed} ${escaped}</code>`],
    ['pre', 'html', `<pre title='${embed}'><b>${embed}</b></pre>`],
    ['kbd and samp', 'html', `<kbd>${embed}</kbd><samp>${embed}</samp>`],
    ['the text of a copy button', 'html', `<button data-code='${embed}' data-clipboard-text='${embed}'>`],
    ['an ignored element', 'html', `<div DATA-snippets-ignore title='${embed}'><p>${embed}</p></div>`],
    ['an ignored element without end tags', 'html', `<li data-snippets-ignore>${embed}<p>${escaped}`],
    ['code in XML', 'xml', `<div><code>${escaped}</code></div>`],
    ['code in HTML in JSON', 'json', JSON.stringify([`<code>${embed}</code>`])],
    ['code in HTML in XML', 'xml', `<a>&lt;code&gt;${escaped}&lt;/code&gt;</a>`],
    ['code in HTML in a data attribute', 'html', `<a data-x='<code>${embed}</code>'>`],
    [
      'links to a heading with this code, before and after it',
      'html',
      `<a href="#a%C3%A4"><b>${escaped}</b></a><h2 id="a&auml;"><i>The</i> <code>${escaped}</code></h2><a href="#aä">“${escaped}”</a>`,
    ],
    [
      'links to a heading with the start of an embed as code',
      'html',
      `<a href=#a>&#x3C;snippet-embed id="42"></a><h3 id=a><code>&lt;snippet-embed id="42"&gt;</code></h3>`,
    ],
    ['backticks', 'text', `Write \`${embed}\` or \`\` \`${embed}\`\`.`],
    ['backticks, cut', 'text', `Write \`<snippet-embed\`, \`<snippet-embed id="\` or \`${embed}\`.`],
    ['backticks in JSON', 'json', JSON.stringify([`Write \`${embed}\``])],
    ['a fence', 'text', `a\n\`\`\`html\n${embed}\n\`\`\`\nb`],
    ['a fence of tildes', 'text', `~~~~\n${embed}\n~~~\n${embed}\n~~~~`],
  ] as const)('in %s', ([, kind, text]) => {
    expect(scan(Buffer.from(text), kind)).toEqual({ embeds: [], faults: [], warnings: [] });
  });

  test.for([
    ['code ends', 'html', `<code>x</code>${embed}`],
    ['an ignored element ends', 'html', `<p data-snippets-ignore>x<p>${embed}`],
    ['an element around code ends', 'html', `<div><kbd>x</div>${embed}`],
    ['an ignored cell ends', 'html', `<table><tr><td data-snippets-ignore>x<td>${embed}</table>`],
    ['a void element is ignored', 'html', `<br data-snippets-ignore>${embed}`],
    ['a fence ends', 'text', `\`\`\`\nx\n\`\`\`\n${embed}`],
    ['a single backtick stands in another paragraph', 'text', `a \` b\n\n${embed}\n\n a \` b`],
    ['attributes of an embed have backticks', 'text', 'a <snippet-embed id=1 params=\'{"a":"`b`"}\' /> b'],
    ['a page has backticks', 'html', `<p>\`${embed}\`</p>`],
    ['there is markup in code', 'text', `Write \`<title>\` and \`<!--\`. ${embed}`],
  ] as const)('but are embeds if %s', ([, kind, text]) => {
    expect(forms(text, kind)).toEqual(['html']);
  });

  const heading = (id: string, code: string) => `<h2 id="${id}"><code>${code}</code></h2>`;
  test.for([
    ['a link leads to another heading', `<a href="#b">${escaped}</a>${heading('a', escaped)}`],
    ['a link leads to another page', `<a href="/b#a">${escaped}</a>${heading('a', escaped)}`],
    ['the code in the heading differs', `<a href="#a">${escaped}</a>${heading('a', otherEscaped)}`],
    ['the text is outside of a link', `<p>${escaped}</p>${heading('a', escaped)}`],
    ['the link has ended', `<a href="#a">x</a>${escaped}${heading('a', escaped)}`],
  ] as const)('but are embeds if %s', ([, text]) => {
    expect(forms(text, 'html')).toEqual(['text in html-text']);
  });
});

test.for<[what: string, html: string, flaw: string, holder?: string]>([
  ['in a script', `<script>const a = '${embed}';</script>`, 'in-script'],
  ['in a JS string', `<script>"\\u003Csnippet-embed id=\\"1\\"><\\/snippet-embed>"</script>`, 'in-script'],
  ['in a module', `<script type="module">'${embed}'</script>`, 'in-script'],
  ['in a style', `<style>/* ${embed} */</style>`, 'in-style'],
  ...['onclick', 'style', 'x-data', 'v-text', ':title', '@click', 'ONCLICK'].map(
    (name): [string, string, string, string] => [
      `in ${name}`,
      `<a ${name}='${embed}'>`,
      'in-attribute',
      name.toLowerCase(),
    ],
  ),
  ...[
    ' javascript:',
    'java\nscript:',
    'java\tscript\r\n:',
    '\u0001\u001f javascript:',
    'JavaScript&colon;',
    'java&NewLine;&Tab;script&#58;',
    '&#1;javascript:',
    'javascript://x?%0a',
  ].map((url): [string, string, string, string] => [
    `in ${JSON.stringify(url)}`,
    `<a href="${url}a('${escaped}')">`,
    'in-attribute',
    'href',
  ]),
  ['where a page ends inside its tag', 'ab<snippet-embed id="1></snippet-embed>', 'unclosed'],
])('an embed is a fault %s', ([, html, flaw, holder]) => {
  const start = html.search(/(?:<|&lt;)snippet-embed|\\u003Csnippet/);
  const faults = [{ flaw, start, ...(holder && { holder }) }];
  expect(found(html)).toEqual({ embeds: [], faults, warnings: [] });
});

test.for([
  'java script:',
  'xjavascript:',
  '#javascript:',
  'javascript',
  '\u00a0javascript:',
  'https://javascript:',
])('an embed behind %j, which runs nothing, shows its text', (url) => {
  expect(forms(`<a title="${url}${escaped}">`, 'html')).toHaveLength(1);
});

test('as an element in XML, an embed shows text, with a warning', () => {
  const { embeds, faults, warnings } = scan(Buffer.from(`<a>${embed}</a>`), 'xml');
  expect(embeds.map(({ format }) => format)).toEqual([{ as: 'text', layers: ['xml-text'] }]);
  expect([faults, warnings]).toEqual([[], [{ flaw: 'in-xml', start: 3 }]]);
});

describe('an incomplete embed is a warning if it is escaped', () => {
  test.for([
    ['smart quotes', 'html', '<p>&lt;snippet-embed id=“1”&gt;&lt;/snippet-embed&gt;</p>', 'invalid-id'],
    ['an id that is too large', 'html', '<p>&lt;snippet-embed id=9007199254740993 /&gt;</p>', 'invalid-id'],
    ['no id', 'html', '<p>&lt;snippet-embed&gt;&lt;/snippet-embed&gt;</p>', 'invalid-id'],
    ['dots', 'html', '<a title="&lt;snippet-embed id=&quot;…&quot; /&gt;">', 'invalid-id'],
    ['an excerpt that was cut in the tag', 'html', '<p>&lt;snippet-embed id=&quot;1</p>', 'unclosed'],
    ['an excerpt cut after the tag', 'html', '<p>&lt;snippet-embed id=&quot;1&quot;&gt;…</p>', 'unclosed'],
    ['a name with a hard space', 'html', `<h1>${escaped.replace(' ', '\u00a0')}</h1>`, 'invalid-id'],
    ['the same in a tag', 'html', `<h1>${embed.replace(' ', '\u00a0')}</h1>`, 'invalid-id'],
    [
      'an embed that was split into words',
      'html',
      '<b>&lt;snippet-embed</b> <b>id="1"&gt;</b>',
      'invalid-id',
    ],
    ['a cut excerpt in XML', 'xml', '<a>&lt;p&gt;&lt;snippet-embed id="1</a>', 'unclosed'],
    ['a cut excerpt in JSON', 'json', '["<p><snippet-embed id=1>…</p>"]', 'unclosed'],
    [
      'part of one in a script',
      'html',
      `<script>'<snippet-embed id="' + id + '"></snippet-embed>'</script>`,
      'invalid-id',
    ],
  ] as const)('%s', ([, kind, text, flaw]) => {
    const start = text.search(/(?:<|&lt;)snippet-embed/);
    expect(scan(Buffer.from(text), kind)).toEqual({ embeds: [], faults: [], warnings: [{ start, flaw }] });
  });

  test('an id made from the tag is a warning', () => {
    const start = 7;
    for (const id of ['about-snippet-embed-id7childrensnippet-embed', 'snippet-embed-id7-snippet-embed']) {
      const { warnings } = scan(Buffer.from(`<main> <h2 id="${id}">About</h2></main>`), 'html');
      expect(warnings).toEqual([{ start, flaw: 'in-id' }]);
    }
    for (const usual of [
      '<h2 id="the-snippet-embed-element">How to</h2>',
      '<h2 id="snippet-embed-id42"><code>&lt;snippet-embed id="42"&gt;</code></h2>',
    ]) {
      expect(scan(Buffer.from(usual), 'html').warnings).toEqual([]);
    }
  });

  test('but an element in a page is found with its attributes', () => {
    expect(attributes('<snippet-embed id="“1”"></snippet-embed>')).toEqual([
      { id: '“1”', params: undefined, as: undefined },
    ]);
  });

  test('and does not hide a complete one after it', () => {
    const html = `<p>&lt;snippet-embed id="&gt; and ${escaped}</p>`;
    expect(forms(html)).toEqual(['text in html-text']);
    expect(found(html).warnings).toEqual([{ start: 3, flaw: 'unclosed' }]);
  });
});

test.for([
  [`parms='{}'`, 'parms'],
  ['OPTINAL', 'optinal'],
  ['ids="1"', 'ids'],
  ['lang="de" slot="a" is="b" dir="rtl" key="1" class="c" x-cloak data-hk="1" v-if="d" hidden', undefined],
] as const)('in the attributes %s of an embed, the misspelled one is %s', ([attributes, misspelled]) => {
  const { embeds } = found(`<snippet-embed id="1" ${attributes}></snippet-embed>`);
  expect(embeds[0]?.misspelled).toBe(misspelled);
});

test.for([
  ['html', 'text', '<p>Buy &lt;Snippet id={1} /&gt;</p>'],
  ['html', 'a title', '<title>Buy &lt;Snippet id={1} /&gt;</title>'],
  ['html', 'an attribute', '<img alt="Buy <Snippet id={1} />">'],
  ['html', 'data', '<a data-title="Buy &lt;Snippet of={offer} />">'],
  ['html', 'JSON of a page', '<script type="application/ld+json">{"a":"\\u003cSnippet id={1} />"}</script>'],
  ['json', 'JSON', '{"a":"<b>Buy</b> <Snippet id={1} />"}'],
  ['text', 'plain text', 'Buy <Snippet id={1} /> `code`'],
  ['xml', 'a feed', '<rss><description>&lt;p&gt;Buy &lt;Snippet id={1} /&gt;</description></rss>'],
  ['xml', 'a CDATA section', '<rss><description><![CDATA[<Snippet id={1} />]]></description></rss>'],
] as const)('a component that was not rendered is a warning, in %s: %s', ([kind, , text]) => {
  const start = text.search(/(?:<|&lt;|\\u003c)snippet /i);
  expect(scan(Buffer.from(text), kind)).toEqual({
    embeds: [],
    faults: [],
    warnings: [{ start, flaw: 'unrendered' }],
  });
});

test.for([
  ['html', '<pre>&lt;Snippet id={1} /&gt;</pre><p data-snippets-ignore title="<Snippet id={1} />">'],
  ['html', '<button data-code="<Snippet id={1} />"></button><!-- <Snippet id={1} /> -->'],
  ['html', '<h2 id="a"><code>&lt;Snippet id={1} /></code></h2><a href="#a">&lt;Snippet id={1} /></a>'],
  ['text', 'See `<Snippet id={1} />` and <Snippets id="1">, <Snippet>.'],
  ['xml', '<rss><description>&lt;code&gt;&lt;Snippet id={1} /&gt;&lt;/code&gt;</description></rss>'],
] as const)('an example of a component is no warning, in %s: %s', ([kind, text]) => {
  expect(scan(Buffer.from(text), kind)).toEqual({ embeds: [], faults: [], warnings: [] });
});

test.for([
  [embed, true],
  [escaped, true],
  [encoded, true],
  ['<SNIPPET-EMBED>', true],
  ['<Snippet id="1" />', true],
  ['<Snippets id="1" />', false],
] as const)('%s may be an embed: %s', ([text, expected]) => {
  expect(mayContainEmbed(Buffer.from(text).toString('latin1'))).toBe(expected);
});

test.for([
  ['<snippet-EMBED>', true],
  ['-snippet-embe', false],
] as const)('%s in a large text file may be an embed: %s', ([text, expected]) => {
  expect(mayContainEmbed(`${'- a '.repeat(300_000)}${text}`)).toBe(expected);
});

test('an embed in a heading with an id is marked, as Markdown makes them', () => {
  const page = `<h2 id="a">x <b>${embed}</b></h2><h2>${embed}</h2><p id="b">${embed}</p><h1 class="c" ID=d>${embed}</h1>`;
  expect(found(page).embeds.map(({ inHeading }) => inHeading)).toEqual([true, false, false, true]);
});

test.for([
  ['in running text', '<p>a @ b</p>', true],
  ['in an element of a paragraph', '<p>a <b>@</b></p>', true],
  ['after code in a paragraph', '<p><code>a</code> @</p>', true],
  ['alone in a paragraph', '<p>@</p>', true],
  ['after a paragraph', '<p>a</p>@', false],
  ['after an open paragraph that a block has closed', '<p>a<ul><li>@</ul>', false],
  ['after a block that closes a paragraph from inside another element', '<p><b>a<div></div>@</b>', false],
  ['in a list, a cell or a heading', '<ul><li>@</ul>', false],
] as const)('whether an embed is in a paragraph: %s', ([, html, expected]) => {
  const page = html.replace('@', '<snippet-embed id="1"></snippet-embed>');
  expect(found(page).embeds.map(({ around }) => around.includes(nestings.blockInParagraph))).toEqual([
    expected,
  ]);
});

test.for<[string, 'html' | 'xml', string, string | undefined]>([
  ['of the page', 'html', `<html lang="de"><p>${embed}</p></html>`, 'de'],
  ['of an inner element', 'html', `<html lang="de"><p lang='fr-CA'>${embed}</p></html>`, 'fr-CA'],
  ['after an inner element', 'html', `<html lang="de"><p lang="fr">x</p>${embed}</html>`, 'de'],
  ['of the embed itself', 'html', '<html lang="de"><snippet-embed lang=it id="1"></snippet-embed>', 'it'],
  ['in an attribute', 'html', `<html lang="de"><a title='${embed}'>x</a></html>`, 'de'],
  ['of the element with the attribute', 'html', `<html lang="de"><a lang="it" title='${embed}'>`, 'it'],
  ['in a title, escaped', 'html', `<html lang="de"><title>${escaped}</title></html>`, 'de'],
  ['in escaped text', 'html', `<html lang="de"><h1>${escaped}</h1></html>`, 'de'],
  [
    'in JSON-LD',
    'html',
    `<html lang="de"><script type="application/ld+json">{"name":"<snippet-embed id='1'><\\/snippet-embed>"}</script>`,
    'de',
  ],
  ['in srcdoc', 'html', `<html lang="de"><iframe srcdoc='<p>${embed}'></iframe>`, 'de'],
  ['of XML', 'xml', `<feed xml:lang="de-AT"><entry>${escaped}</entry></feed>`, 'de-AT'],
  ['in HTML in XML', 'xml', `<feed xml:lang="de"><e><![CDATA[<p lang="fr">${embed}]]></e></feed>`, 'fr'],
  ['with an entity', 'html', `<html lang="&#100;e">${embed}`, 'de'],
  ['that is empty', 'html', `<html lang="de"><p lang="">${embed}</p></html>`, undefined],
  ['of a link', 'html', `<p><a hreflang="it" data-lang="it">${embed}</a></p>`, undefined],
  ['of nothing', 'html', `<p lang>${embed}</p>`, undefined],
])('an embed has the language of the nearest lang: %s', ([, kind, file, lang]) => {
  expect(scan(Buffer.from(file), kind).embeds.map((found) => found.lang)).toEqual([lang]);
});
