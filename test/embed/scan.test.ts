import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lineAt, scan } from '../../src/embed/scan.ts';

const found = (html: string) => scan(Buffer.from(html));
const attributes = (html: string) => found(html).embeds.map((embed) => embed.attributes);
const slices = (html: string) =>
  found(html).embeds.map(({ start, end }) => Buffer.from(html).subarray(start, end).toString());

describe('the attributes of an embed are parsed', () => {
  test.for([
    [`<snippet-embed id="42"></snippet-embed>`, { id: '42' }],
    [`<snippet-embed id='42'></snippet-embed>`, { id: '42' }],
    [`<snippet-embed id=42></snippet-embed>`, { id: '42' }],
    [`<snippet-embed\n\tid = "42"\n></snippet-embed\n>`, { id: '42' }],
    [
      `<snippet-embed as=text params='{"a":"b"}' id=42></snippet-embed>`,
      { id: '42', params: '{"a":"b"}', as: 'text' },
    ],
    [`<snippet-embed ID="42" class="x" data-id="7"></snippet-embed>`, { id: '42' }],
    [`<snippet-embed id="1" id="2"></snippet-embed>`, { id: '1' }],
    [
      `<snippet-embed params="{&quot;a&quot;:&#34;&eacute;é&amp;lt;&quot;}" id="1"></snippet-embed>`,
      { id: '1', params: '{"a":"éé&lt;"}' },
    ],
    [
      `<snippet-embed params='{"a":"日本 💡 >"}' id="1"></snippet-embed>`,
      { id: '1', params: '{"a":"日本 💡 >"}' },
    ],
    [`<snippet-embed params="{&quot;a&quot;:1}" id="1"></snippet-embed>`, { id: '1', params: '{"a":1}' }],
    [`<snippet-embed></snippet-embed>`, {}],
    [`<snippet-embed id></snippet-embed>`, { id: '' }],
  ] as const)('%s', ([html, expected]) => {
    expect(attributes(html)).toEqual([{ id: undefined, params: undefined, as: undefined, ...expected }]);
  });
});

describe('the end of an embed is found', () => {
  test.for([
    [
      'at its end tag',
      'Ü <snippet-embed id="1">ä</snippet-embed>!',
      ['<snippet-embed id="1">ä</snippet-embed>'],
    ],
    [
      'at an end tag with white space in it',
      'a<snippet-embed id="1"></snippet-embed\n >b',
      ['<snippet-embed id="1"></snippet-embed\n >'],
    ],
    ['at />', 'a<snippet-embed id="1"/>b</p>', ['<snippet-embed id="1"/>']],
    [
      'at /> of each of two',
      '<snippet-embed id="1" /> <snippet-embed id="2" />',
      ['<snippet-embed id="1" />', '<snippet-embed id="2" />'],
    ],
    [
      'after its children',
      '<snippet-embed id="1"><p>a</p><b>c</snippet-embed>d',
      ['<snippet-embed id="1"><p>a</p><b>c</snippet-embed>'],
    ],
  ] as const)('%s', ([, html, expected]) => {
    expect(slices(html)).toEqual(expected);
    expect(found(html).faults).toEqual([]);
  });
});

const embed = '<snippet-embed id="1"></snippet-embed>';

test.for([
  ['a comment', `<!-- ${embed} -->`],
  ['a script', `<script>const a = '${embed}';</script>`],
  ['a style', `<style>/* ${embed} */</style>`],
  [
    'raw text elements',
    `<xmp>${embed}</xmp><iframe>${embed}</iframe><noembed>${embed}</noembed><noframes>${embed}</noframes>`,
  ],
  ['an attribute', `<a title='${embed}'>x</a>`],
  ['escaped code', `<code>&lt;snippet-embed id="1"&gt;&lt;/snippet-embed&gt;</code>`],
  ['escaped code in a title', `<title>&lt;snippet-embed id="1"&gt;</title>`],
  [
    'an element with a similar name',
    '<snippet-embedded id="1"></snippet-embedded><x-snippet-embed></x-snippet-embed>',
  ],
  ['text after <plaintext>', `<plaintext>${embed}`],
  ['an end tag without a start tag', '</snippet-embed><p></snippet-embed></p>'],
] as const)('an embed in %s is not found', ([, html]) => {
  expect(found(html)).toEqual({ embeds: [], faults: [] });
});

test.for([
  ['noscript', `<noscript>${embed}</noscript>`, false],
  ['template', `<template>${embed}</template>`, false],
  ['unescaped code', `<pre><code>${embed}</code></pre>`, false],
  ['an svg title', `<svg><title>${embed}</title></svg>`, false],
  ['title', `<title>a ${embed} b</title>`, true],
  ['TITLE', `<TITLE>${embed}</TITLE>`, true],
  ['textarea', `<textarea>\n${embed}</textarea>`, true],
  ['a title without an end tag', `<title>${embed}`, true],
] as const)('an embed in %s is found once', ([, html, inText]) => {
  expect(found(html).embeds).toEqual([expect.objectContaining({ inText })]);
  expect(slices(html)).toEqual([embed]);
});

test('embeds are found in the order of the page', () => {
  const html =
    '<title><snippet-embed id=1 /></title><snippet-embed id=2 /><textarea><snippet-embed id=3 /></textarea><snippet-embed id=4 />';
  expect(attributes(html).map(({ id }) => id)).toEqual(['1', '2', '3', '4']);
});

describe('an invalid embed is reported with its line', () => {
  test.for([
    ['unclosed', `a\nb <snippet-embed id="1">`, [['unclosed', 2]]],
    ['unclosed in a paragraph', `<p>\n\n<snippet-embed id="1"></p>${embed}`, [['unclosed', 3]]],
    ['unclosed in a title', `<title>\n<snippet-embed id="1"></title>`, [['unclosed', 2]]],
    [
      'nested',
      `<snippet-embed id="1">\n<snippet-embed id="2"></snippet-embed></snippet-embed>`,
      [['nested', 2]],
    ],
  ] as const)('%s', ([, html, expected]) => {
    const page = Buffer.from(html);
    expect(scan(page).faults.map(({ flaw, start }) => [flaw, lineAt(page, start)])).toEqual(expected);
  });
});

describe('a paragraph that contains only an embed is recognized', () => {
  test.for([
    [`<p>${embed}</p>`, true],
    [`<p>\n  ${embed}\t</p>`, true],
    [`<p class="x">${embed}</p >`, true],
    [`<p><snippet-embed id="1">some <b>children</b></snippet-embed></p>`, true],
    [`<p><snippet-embed id="1"><!-- why --></snippet-embed></p>`, true],
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
  ] as const)('%s: %s', ([html, isAlone]) => {
    const [first] = found(html).embeds;
    const { paragraph } = first ?? {};
    const page = Buffer.from(html);
    expect(paragraph && page.subarray(paragraph.start, paragraph.end).toString()).toBe(
      isAlone ? html : undefined,
    );
  });
});

test.for([
  [`<astro-island client="load"><div>${embed}</div></astro-island>`, true],
  [`<astro-island client="load"><div><astro-slot>${embed}</astro-slot></div></astro-island>`, false],
  [`<astro-island><astro-slot></astro-slot>${embed}</astro-island>`, true],
  [`<astro-island><template data-astro-template>${embed}</template></astro-island>`, false],
  [`<astro-island><astro-slot><astro-island>${embed}</astro-island></astro-slot></astro-island>`, true],
  [`<astro-island><astro-static-slot>${embed}</astro-static-slot></astro-island>`, false],
  [`<astro-island></astro-island>${embed}`, false],
  [`<template>${embed}</template>`, false],
  [embed, false],
] as const)("%s: the embed is in an island's own markup: %s", ([html, inIsland]) => {
  expect(found(html).embeds).toEqual([expect.objectContaining({ inIsland })]);
});

const pieces = fc.constantFrom(
  ...[
    '<p>',
    '</p>',
    '<title>',
    '</title>',
    '<!--',
    '-->',
    '<script>',
    '</script>',
    '<snippet-embed',
    '<snippet-embed id="1">',
  ],
  ...[
    '</snippet-embed>',
    ' id="',
    "'",
    '"',
    '>',
    '/>',
    '<',
    '&lt;',
    '&',
    '\0',
    '\r\n',
    'ü',
    '💡',
    '<svg>',
    '</svg>',
    '<textarea>',
  ],
);

test('scanning random HTML never fails, and the embeds found are in order and do not overlap', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 40 }), (parts) => {
      const page = Buffer.from(parts.join(''));
      let done = 0;
      for (const { start, end, fallback } of scan(page).embeds) {
        expect(start).toBeGreaterThanOrEqual(done);
        expect(page.subarray(start).toString()).toMatch(/^<snippet-embed/);
        expect(fallback.start).toBeGreaterThan(start);
        expect(fallback.end).toBeGreaterThanOrEqual(fallback.start);
        expect(end).toBeGreaterThanOrEqual(fallback.end);
        done = end;
      }
      expect(done).toBeLessThanOrEqual(page.length);
    }),
    { numRuns: 2000 },
  );
});
