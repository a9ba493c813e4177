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

/**
 * The spellings in which a key can occur in text: as it is, URL-encoded, JSON-escaped, base64 and base64url (at each
 * of the three offsets that surrounding text can put it at).
 */
export function keySpellings(key: string): string[] {
  const bytes = Buffer.from(key);
  const encoded = [0, 1, 2].flatMap((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    // The first and last characters also encode bits of their neighbours.
    const first = offset === 0 ? 0 : offset + 1;
    const last = Math.floor((shifted.length * 8) / 6);
    return [shifted.toString('base64').slice(first, last), shifted.toString('base64url').slice(first, last)];
  });
  return [...new Set([key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1), ...encoded])];
}

/** Returns a function that tells whether text contains the key in any spelling. */
export function keyDetector(key: string): (text: Buffer | string) => boolean {
  const spellings = keySpellings(key).map((spelling) => Buffer.from(spelling));
  return (text) => {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    return spellings.some((spelling) => bytes.includes(spelling));
  };
}

/** Returns a function that replaces the key in a text, in any spelling. */
export function keyRedactor(key: string): (text: string) => string {
  const spellings = keySpellings(key);
  return (text) => spellings.reduce((clean, spelling) => clean.replaceAll(spelling, '[API key]'), text);
}
