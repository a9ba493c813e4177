import { test } from 'vitest';
import { scan } from '../../src/embed/scan.ts';
import { isBlockLevel } from '../../src/markup/start-tags.ts';
import { textOf } from '../../src/markup/text-of.ts';

// Each takes a fraction of a second. With quadratic time it would take a minute.
const limit = { timeout: 10_000 };
const embed = '<snippet-embed id="1"></snippet-embed>';
const name = 'snippet-embed';

test.for([
  ...'< </ <b> <p> <div> <svg><p> <!-- <code> <title> <script> </i>'.split(' '),
  ...[embed, '<snippet-embed id=1>', '<snippet-embed ', '<snippet-embed a="', '<snippet-embed id=1 />'],
  ...['<a b="', '<a '],
  ...['&lt;snippet-embed id=1&gt;', '&lt;snippet-embed ', '&amp;', '&#', '%3Csnippet-embed', '%25'],
  ...['`', '` `` ', '```\n', '~~~', '\n\n`', ' '],
  ...['"\\', '\\', '["', `"${name}",`, `<a title="${name}">`, '<![CDATA['],
])('100 KB of %j are scanned in linear time', limit, (part) => {
  const repeated = part.repeat(100_000 / part.length);
  const html = [`${repeated}${embed}`, `<b>${repeated}${name}`, `<a b="${repeated} ${name}">`];
  for (const text of html) scan(Buffer.from(text), 'html');
  for (const kind of ['xml', 'json', 'text'] as const) scan(Buffer.from(repeated + embed), kind);
  textOf(repeated);
  isBlockLevel(repeated);
});

test('100,000 attributes are read in linear time', limit, () => {
  const attributes = Array.from({ length: 100_000 }, (_, index) => `a${index}="snippet-embed"`).join(' ');
  scan(Buffer.from(`<a ${attributes}>`), 'html');
  scan(Buffer.from(`<snippet-embed ${attributes}>`), 'html');
});
