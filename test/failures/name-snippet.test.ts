import { expect, test } from 'vitest';
import { type NamedRequest, nameSnippet } from '../../src/failures/name-snippet.ts';
import { protectKey } from '../../src/text/known-keys.ts';

const key = 'sk_test_0123456789abcdef';
protectKey(key);

test.for<[snippet: NamedRequest, name: string]>([
  [{ id: 42 }, 'Snippet 42'],
  [{ id: 42, name: 'Free-shipping line' }, 'Snippet 42 (Free-shipping line)'],
  [{ id: 42, name: '  Free\n\tshipping  ' }, 'Snippet 42 (Free shipping)'],
  [{ id: 42, name: 'Offer', params: '{"plan":"pro"}' }, 'Snippet 42 (Offer) {"plan":"pro"}'],
  [{ id: 42, params: '{"plan":"pro"}' }, 'Snippet 42 {"plan":"pro"}'],
  // A name that says no more than the id.
  [{ id: 42, name: 'Snippet 42' }, 'Snippet 42'],
  [{ id: 42, name: ' \u200b ' }, 'Snippet 42'],
  // Text from outside.
  [{ id: 42, name: `Key ${key}` }, 'Snippet 42 (Key [API key])'],
  [{ id: 42, name: '\u001b[31mred\u001b[0m' }, 'Snippet 42 (red)'],
  [{ id: 42, name: '::error::x' }, 'Snippet 42 (: :error::x)'],
  [{ id: 42, name: '##[group]x' }, 'Snippet 42 (# #[group]x)'],
  [{ id: 42, name: 'x'.repeat(300) }, `Snippet 42 (${'x'.repeat(59)}…)`],
  [{ id: 42, params: 'x'.repeat(300) }, `Snippet 42 ${'x'.repeat(79)}…`],
])('the snippet %j is named %s', ([snippet, name]) => {
  expect(nameSnippet(snippet)).toBe(name);
});
