import { SnippetError } from './snippet-error.ts';

const visibleAscii = /^[\x21-\x7e]+$/;
const minLength = 8;

/**
 * Validates a key before it gets near a header: an HTTP library quotes the header it rejects, and would print a
 * malformed key. The messages say what is wrong with the key without showing it.
 *
 * @param name what the user knows the key by.
 * @throws SnippetError `invalid-options`
 */
export function checkApiKey(key: unknown, name = 'The API key'): string {
  const flaw = flawOf(key);
  if (flaw === undefined) return key as string;
  throw new SnippetError('invalid-options', `${name} ${flaw}. Its value is not shown on purpose.`);
}

function flawOf(key: unknown): string | undefined {
  if (typeof key !== 'string') return 'is not a string';
  if (key === '') return 'is empty';
  if (key.trim() !== key) return 'has white space or a line break at its start or end';
  if (!visibleAscii.test(key)) return 'contains a space, a control character or a non-ASCII character';
  // A few characters occur in any page, so searching the output for a leaked key would be meaningless.
  if (key.length < minLength) return `has fewer than ${minLength} characters`;
  return undefined;
}
