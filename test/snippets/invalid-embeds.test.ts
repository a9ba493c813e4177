import { expect, test } from 'vitest';
import type { ErrorCode } from '../../src/failures/errors.ts';
import { readEmbeds } from '../../src/snippets/file-embeds.ts';

const embed = '<snippet-embed id="1"></snippet-embed>';

const faults: [code: ErrorCode, file: string, text: string, message: string][] = [
  ['embed-unclosed', 'a.html', '<p>\n<snippet-embed id="1">', 'The embed has no end tag.'],
  [
    'embed-nested',
    'a.html',
    `<snippet-embed id="2">\n${embed}</snippet-embed>`,
    'The embed is inside the one of line 1.',
  ],
  [
    'unrendered-component',
    'a.html',
    '<p>\n<Snippet id={1} /></p>',
    '<Snippet> was not rendered: it is in the page as it was written.',
  ],
  [
    'embed-in-script',
    'a.html',
    `<script>\nconst a = '${embed}';</script>`,
    'The embed is in a script that runs.',
  ],
  ['embed-in-script', 'a.html', `<style>\n${embed}</style>`, 'The embed is in a style sheet.'],
  ['embed-in-xml', 'a.xml', `<rss>\n<item>${embed}</item></rss>`, 'The embed is an element of XML.'],
  [
    'embed-in-attribute',
    'a.html',
    `<p>\n<i onclick='${embed}'></i></p>`,
    'The embed is in the attribute onclick, which contains code.',
  ],
  [
    'embed-in-island',
    'a.html',
    `<p>\n<astro-island>${embed}</astro-island></p>`,
    "The embed of snippet 1 is in an island's own markup, and would vanish when the island hydrates.",
  ],
  [
    'invalid-as',
    'a.html',
    `<p>\n${embed.replace('>', ' as="link">')}</p>`,
    'The attribute `as` of an embed must be "html" or "text".',
  ],
  [
    'invalid-optional',
    'a.html',
    `<p>\n${embed.replace('>', ' optional="no">')}</p>`,
    'The attribute `optional` of an embed takes no value.',
  ],
];

test.each(faults)('%s: in %s, %j is named with its line', (code, name, text, message) => {
  const kind = name.endsWith('.xml') ? 'xml' : 'html';
  const { embeds, invalid } = readEmbeds({ name, bytes: Buffer.from(text), kind }, new Map());
  expect(invalid).toEqual([expect.objectContaining({ file: name, line: 2, code, message })]);
  // The outer one of two is an embed all the same.
  expect(embeds).toHaveLength(code === 'embed-nested' ? 1 : 0);
});
