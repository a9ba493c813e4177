import { describe, expect, test } from 'vitest';
import type { FileKind } from '../../src/embed/found-embed.ts';
import { compose, replaceEmbeds } from '../../src/embed/replace-embeds.ts';
import { scan } from '../../src/embed/scan.ts';
import { readEmbeds } from '../../src/snippets/read-embeds.ts';

const embed = '<snippet-embed id="1"></snippet-embed>';
const html = '<p title="é">ü 💡</p><style>b{content:"é"}</style><script>a="é💡"</script>';

/** A file with content in place of `@`. */
function inlined(file: string, kind: FileKind): string {
  const bytes = Buffer.from(file.replace('@', embed), 'latin1');
  return replaceEmbeds(bytes, scan(bytes, kind).embeds, ({ format }) =>
    compose({ html, text: 'ü 💡' }, format),
  ).toString('latin1');
}

describe('a file that declares another encoding than UTF-8 gets only ASCII', () => {
  const asHtml =
    '<p title="&#233;">&#252; &#128161;</p><style>b{content:"\\e9 "}</style><script>a="\\u00e9\\ud83d\\udca1"</script>';
  test.for<[name: string, kind: FileKind, file: string, shown: string]>([
    ['charset', 'html', '<meta charset=windows-1252>\xe9 @', asHtml],
    ['http-equiv', 'html', '<META http-equiv=Content-Type content="text/html; charset=ISO-8859-1">@', asHtml],
    ['text', 'html', '<meta charset="latin1"><title>@</title>', '&#252; &#128161;'],
    ['an attribute', 'html', '<meta charset="latin1"><p title=\'@\'>', '&#252; &#128161;'],
    [
      'data',
      'html',
      `<meta charset="latin1"><script type="application/ld+json">["<snippet-embed id='1'/>"]</script>`,
      '["\\u00fc \\ud83d\\udca1"]',
    ],
    [
      'XML',
      'xml',
      '<?xml version="1.0" encoding="ISO-8859-1"?><title>&lt;snippet-embed id="1"/></title>',
      '&#252; &#128161;',
    ],
    ['HTML with an unknown extension', 'other', '<!doctype html><meta charset="latin1"><p>@', asHtml],
    [
      'CDATA',
      'xml',
      '<?xml version="1.0" encoding="ISO-8859-1"?><title><![CDATA[@]]></title>',
      ']]>&#252;<![CDATA[ ]]>&#128161;<![CDATA[',
    ],
  ])('%s', ([, kind, file, shown]) => {
    expect(inlined(file, kind)).toContain(shown);
  });

  test.for([
    '',
    '<meta charset="utf-8">',
    '<meta charset="UTF8">',
    '\xef\xbb\xbf<meta charset="latin1">',
    '<?xml version="1.0"?>',
  ])('but not with %j', (head) => {
    expect(Buffer.from(inlined(`${head}<p>@</p>`, 'html'), 'latin1').toString()).toContain(html);
  });
});

test.for([
  ['UTF-16', Buffer.from(`\ufeff<p>${embed}</p>`, 'utf16le'), 'is UTF-16'],
  ['XHTML', Buffer.from(`<?xml version="1.0"?>\n<html><p>${embed}</p>${embed}</html>`), 'in XHTML'],
] as const)('an embed in %s is a warning', ([, bytes, what]) => {
  const { warnings } = readEmbeds({ name: 'a.html', bytes, kind: 'html' }, new Map());
  expect(warnings).toEqual([expect.objectContaining({ message: expect.stringContaining(what) })]);
  expect(warnings[0]?.message).toMatch(/^a\.html:[12]: /);
});

test('an embed in UTF-16 is a warning in a file with an unknown extension, too', () => {
  const bytes = Buffer.from(`\ufefftitle\t${embed}`, 'utf16le');
  expect(scan(bytes, 'other').warnings).toEqual([{ flaw: 'utf-16', start: 0 }]);
});
