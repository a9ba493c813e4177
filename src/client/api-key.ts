/** The names of the references to characters that encoders of HTML escape. */
const references: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
};

/** A pattern for a character of a key: as it is, and escaped for HTML, JSON or a URL if it is no letter or digit. */
function characterPattern(character: string): string {
  if (/[A-Za-z0-9]/.test(character)) return character;
  const code = character.charCodeAt(0);
  const hex = code.toString(16);
  const anyCase = hex.replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const html = [`#0*${code}`, `#[xX]0*${anyCase}`, references[character] ?? []].flat().join('|');
  return `(?:\\x${hex}|&(?:${html});|\\\\\\x${hex}|\\\\u00${anyCase}|%${anyCase})`;
}

/**
 * A key in encodings that leave no character as it is: as hexadecimal digits, and as base64 and base64url (at each of the
 * three offsets that surrounding text can put it at).
 */
function encodings(key: string): string[] {
  const bytes = Buffer.from(key);
  const base64 = [0, 1, 2].flatMap((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    // The first and last characters also encode bits of their neighbours.
    const first = offset === 0 ? 0 : offset + 1;
    const last = Math.floor((shifted.length * 8) / 6);
    const standard = shifted.toString('base64').slice(first, last);
    return [standard, encodeURIComponent(standard), shifted.toString('base64url').slice(first, last)];
  });
  const hex = bytes.toString('hex');
  return [...new Set([hex, hex.toUpperCase(), ...base64])];
}

/**
 * Returns a function that tells whether text contains the key, as it is or as encoders of HTML, JSON, URLs, hexadecimal
 * and base64 write it.
 */
export function keyDetector(key: string): (text: Buffer | string) => boolean {
  const encoded = encodings(key).map((spelling) => Buffer.from(spelling));
  // No encoder escapes letters and digits. A search for them is many times faster than one by a pattern.
  const runs = key.match(/[A-Za-z0-9]+/g) ?? [''];
  const longest = Buffer.from(runs.reduce((best, run) => (run.length > best.length ? run : best)));
  const pattern = new RegExp([...key].map(characterPattern).join(''));
  return (text) => {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    if (encoded.some((spelling) => bytes.includes(spelling))) return true;
    return bytes.includes(longest) && pattern.test(bytes.toString('latin1'));
  };
}

/** What hides one API key in text that is shown. */
export interface KeyCover {
  /** Whether the key is in a text. */
  isIn(text: string): boolean;
  /** Replaces the key. It is found even with white space between its characters. */
  hide(text: string): string;
  /** Returns a text without the beginning of a key at its end, where the text was cut. */
  withoutEnd(text: string): string;
}

export function keyCover(key: string): KeyCover {
  const pattern = new RegExp([...key].map(characterPattern).join('\\s*'), 'g');
  const encoded = encodings(key);
  return {
    isIn: keyDetector(key),
    hide: (text) =>
      encoded.reduce(
        (hidden, spelling) => hidden.replaceAll(spelling, '[API key]'),
        text.replace(pattern, '[API key]'),
      ),
    withoutEnd(text) {
      const places = [...text.matchAll(/\S/g)].map(({ index }) => index);
      const compact = text.replace(/\s/g, '');
      for (let length = Math.min(key.length, compact.length); length > 0; length -= 1) {
        if (compact.endsWith(key.slice(0, length))) return text.slice(0, places[compact.length - length]);
      }
      return text;
    },
  };
}
