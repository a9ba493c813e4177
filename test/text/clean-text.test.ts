import { expect, test } from 'vitest';
import { cleanText, quote } from '../../src/text/clean-text.ts';

test.for([
  ['plain', 'plain'],
  ['  a \t b\r\n c ', 'a b c'],
  ['\u001b[31mred\u001b[0m', 'red'],
  ['\u001b]8;;https://evil.test\u0007link\u001b]8;;\u0007', 'link'],
  ['a\u0000b\u0007c\u009bd', 'a b c d'],
  ['done\n::stop-commands::x', 'done ::stop-commands::x'],
  ['a\u2028b\u2029c', 'a b c'],
  ['user\u202egnp.exe', 'user gnp.exe'],
  ['zero\u200bwidth\ufeff', 'zero width'],
  ['Zoë 💡 日本語', 'Zoë 💡 日本語'],
] as const)('cleaned text of %j is %j', ([text, clean]) => {
  expect(cleanText(text)).toBe(clean);
});

test.for([
  ['plain', '"plain"'],
  [' 42 ', '" 42 "'],
  ['42\n', '"42\\n"'],
  ['42\u00a0', '"42\\u00a0"'],
  ['\u300042', '"\\u300042"'],
  ['42\u200b', '"42\\u200b"'],
  ['\u202e24', '"\\u202e24"'],
  ['\u001b[31mred', '"\\u001b[31mred"'],
  ['\ud800', '"\\ud800"'],
  ['a"b\\', '"a\\"b\\\\"'],
  ['##[group]', '"#\\u0023[group]"'],
  ['Zoë 💡 日本語', '"Zoë 💡 日本語"'],
  ['é'.repeat(301), `"${'é'.repeat(300)}…"`],
] as const)('%j is quoted with all of its characters to be seen', ([text, quoted]) => {
  expect(quote(text)).toBe(quoted);
});

test('cleaned text is cut to 300 characters, with an ellipsis', () => {
  expect(cleanText('x'.repeat(300))).toBe('x'.repeat(300));
  expect(cleanText('x'.repeat(301))).toBe(`${'x'.repeat(299)}…`);
  expect(cleanText('💡'.repeat(300))).toBe('💡'.repeat(300));
  expect(cleanText('💡'.repeat(301))).toBe(`${'💡'.repeat(299)}…`);
  expect(Array.from(cleanText('💡'.repeat(5000)))).toHaveLength(300);
});

test('two megabytes of escape codes are cleaned in linear time', () => {
  expect(cleanText('\u001b['.repeat(1_000_000))).toMatch(/^.{1,300}$/);
});

test('text that was cut before cleaning ends with an ellipsis', () => {
  // No key starts with "é": a last letter that could start a key would be removed.
  expect(cleanText(`shorté${' '.repeat(5000)}`)).toBe('shorté…');
});
