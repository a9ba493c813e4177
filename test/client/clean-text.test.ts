import { expect, test } from 'vitest';
import { cleanText } from '../../src/client/clean-text.ts';

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
] as const)('%j', ([text, clean]) => {
  expect(cleanText(text)).toBe(clean);
});

test('at most 300 characters, of which the last says that there were more', () => {
  expect(cleanText('x'.repeat(300))).toBe('x'.repeat(300));
  expect(cleanText('x'.repeat(301))).toBe(`${'x'.repeat(299)}…`);
  expect(cleanText('💡'.repeat(300))).toBe('💡'.repeat(300));
  expect(cleanText('💡'.repeat(301))).toBe(`${'💡'.repeat(299)}…`);
  expect(Array.from(cleanText('💡'.repeat(5000)))).toHaveLength(300);
});

test('two megabytes of escapes are no work', () => {
  expect(cleanText('\u001b['.repeat(1_000_000))).toMatch(/^.{1,300}$/);
});

test('what was cut off before it was cleaned is said to be missing', () => {
  expect(cleanText(`short${' '.repeat(5000)}`)).toBe('short…');
});
