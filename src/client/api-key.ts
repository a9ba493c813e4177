import { SnippetError } from './snippet-error.ts';

const visibleAscii = /^[\x21-\x7e]+$/;
const shortest = 8;

/**
 * Checks a key before it comes near a header: an HTTP library quotes a header it refuses, so a malformed key
 * would be printed. The messages say what is wrong with the key and never show it.
 *
 * @param name what the user knows the key by.
 * @throws SnippetError `invalid-options`
 */
export function checkApiKey(key: unknown, name = 'The API key'): string {
  const wrong = flawOf(key);
  if (wrong !== undefined) {
    throw new SnippetError('invalid-options', `${name} ${wrong}. It is not shown here on purpose.`);
  }
  return key as string;
}

function flawOf(key: unknown): string | undefined {
  if (typeof key !== 'string') return 'is not a string';
  if (key === '') return 'is empty';
  if (key.trim() !== key) return 'has white space or a line break at its start or end';
  if (!visibleAscii.test(key)) return 'holds a space, a control character or a character outside ASCII';
  // A few characters would be found in any page, so the search for a leaked key could not mean anything.
  if (key.length < shortest) return `has fewer than ${shortest} characters`;
  return undefined;
}

/**
 * The forms in which a key could turn up in a text: as it is, URL-encoded, base64 and base64url (at each of
 * the three offsets a longer text may put it), and as JSON escapes it.
 */
export function disguisesOf(key: string): string[] {
  const bytes = Buffer.from(key);
  const encoded = [0, 1, 2].flatMap((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    // The characters at either end also hold bits of their neighbours; only the ones between are the key's.
    const first = offset === 0 ? 0 : offset + 1;
    const last = Math.floor((shifted.length * 8) / 6);
    return [shifted.toString('base64').slice(first, last), shifted.toString('base64url').slice(first, last)];
  });
  return [...new Set([key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1), ...encoded])];
}

/** Returns a function that says whether a text holds the key, whatever its form. */
export function keyDetector(key: string): (text: Buffer | string) => boolean {
  const disguises = disguisesOf(key).map((disguise) => Buffer.from(disguise));
  return (text) => {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    return disguises.some((disguise) => bytes.includes(disguise));
  };
}

/** Returns a function that takes the key out of a text, whatever its form. */
export function redactorOf(key: string): (text: string) => string {
  const disguises = disguisesOf(key);
  return (text) => disguises.reduce((clean, disguise) => clean.replaceAll(disguise, '[API key]'), text);
}
