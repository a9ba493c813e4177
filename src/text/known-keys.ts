/** A search for one API key, as it is or encoded as a whole (escaped, in UTF-16, hexadecimal or base64). */
export interface KeySearch {
  /** Whether the key occurs in a text or file. */
  isIn(text: Buffer | string): boolean;
  /** Replaces the key with `[API key]`, and removes the start of a key at the end of text that was cut. */
  hide(text: string, isCut: boolean): string;
}

// A global holds the searches, since components and loaders load this module apart from the integration. Only
// functions are global: the key itself stays in this module.
const knownKeysSymbol = Symbol.for('astro-snippets:known-keys');
const keySearches = globalThis as { [knownKeysSymbol]?: KeySearch[] };
const protectedKeys = new Set<string>();

/** From now on, this process hides the API key in text that it shows, and sends no params with it. */
export function protectKey(key: string): void {
  if (protectedKeys.has(key)) return;
  protectedKeys.add(key);
  keySearches[knownKeysSymbol] = [...(keySearches[knownKeysSymbol] ?? []), keySearch(key)];
}

/** Whether a protected key occurs in a text or file. */
export const containsKnownKey = (text: Buffer | string): boolean =>
  keySearches[knownKeysSymbol]?.some((search) => search.isIn(text)) ?? false;

/** Hides the protected keys in text from which escape sequences were removed: a sequence may split a key. */
export const hideKnownKeys = (text: string, isCut = false): string =>
  keySearches[knownKeysSymbol]?.reduce((hidden, search) => search.hide(hidden, isCut), text) ?? text;

/** Creates a search for an API key: plain, escaped for HTML, JSON or a URL, in hexadecimal and in base64. */
export function keySearch(key: string): KeySearch {
  const encodedForms = encodedFormsOf(key);
  const escapedForm = [...key].map(characterPattern).join('\\s*');
  const encodedPatterns = encodedForms.map((form) =>
    [...form].map((character) => (character === '+' ? '\\+' : character)).join(lineBreaks),
  );
  const anyForm = new RegExp([escapedForm, ...encodedPatterns].join('|'), 'g');

  // Each form contains one of these strings, which are found many times faster than a pattern.
  // A capital or a digit is rarer in text than a small letter, so a search that starts with it is faster.
  const needles = [longestRunOf(key), ...encodedForms.flatMap(piecesOfLines)].map((needle) =>
    needle.replace(/^[a-z]{1,4}(?=[A-Z\d]\w{4})/, ''),
  );
  // Made only for files: workers have no `Buffer`.
  let byteNeedles: Buffer[] | undefined;
  let wideNeedles: Buffer[] | undefined;

  return {
    isIn(text) {
      if (typeof text === 'string') {
        return needles.some((needle) => text.includes(needle)) && text.search(anyForm) !== -1;
      }
      byteNeedles ??= needles.map((needle) => Buffer.from(needle));
      const hasNeedle = byteNeedles.some((needle) => text.includes(needle));
      if (hasNeedle && text.toString('latin1').search(anyForm) !== -1) return true;

      // UTF-16 of either byte order has a zero between two characters of ASCII. Most text has none.
      if (!text.includes(0)) return false;
      wideNeedles ??= needles.map((needle) => Buffer.from([...needle].join('\0')));
      if (!wideNeedles.some((needle) => text.includes(needle))) return false;
      return text.toString('latin1').replaceAll('\0', '').search(anyForm) !== -1;
    },

    hide(text, isCut) {
      const hidden = text.replace(anyForm, '[API key]');
      if (!isCut) return hidden;

      // Searches the last characters, twice the key's length: white space may separate its characters.
      for (let index = Math.max(0, hidden.length - 2 * key.length); index < hidden.length; index += 1) {
        const ending = hidden.slice(index).replace(/\s/g, '');
        if (key.startsWith(ending)) return hidden.slice(0, index);
      }
      return hidden;
    },
  };
}

/** What may divide a key that is encoded: mail and tools break its lines, and JSON escapes the breaks. */
const lineBreaks = '(?:\\s|\\\\[rn])*';

/** Pieces of an encoded key, one of which is whole in text with lines of 60 characters or more. */
function piecesOfLines(form: string): string[] {
  const length = Math.ceil(form.length / (Math.ceil(form.length / 60) + 1));
  return form.match(new RegExp(`.{1,${length}}`, 'g')) ?? [];
}

/** The longest run of letters and digits in a key, which no encoder for HTML, JSON or URLs escapes. */
function longestRunOf(key: string) {
  const runs = key.match(/[A-Za-z0-9]+/g) ?? [''];
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest));
}

/** A key in hexadecimal and base64. Base64 has three forms, by the number of bytes before the key. */
function encodedFormsOf(key: string) {
  // Workers have no `Buffer`, so each byte is a character here.
  const bytes = String.fromCharCode(...new TextEncoder().encode(key));
  const hex = [...bytes].map((byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('');
  const base64 = [0, 1, 2].flatMap((offset) => {
    const shifted = '\0'.repeat(offset) + bytes;
    // The first and last characters of base64 also encode bits of text around the key: cut them off.
    const start = offset === 0 ? 0 : offset + 1;
    const end = Math.floor((shifted.length * 8) / 6);
    const standard = btoa(shifted).slice(start, end);
    const forUrls = standard.replaceAll('+', '-').replaceAll('/', '_');
    return [standard, encodeURIComponent(standard), forUrls];
  });
  return [...new Set([hex, hex.toUpperCase(), ...base64])];
}

/** A pattern for a character of a key. All but letters and digits may be escaped for HTML, JSON or a URL. */
function characterPattern(character: string) {
  if (/[A-Za-z0-9]/.test(character)) return character;
  const code = character.charCodeAt(0);
  const hex = code.toString(16);
  const hexInAnyCase = hex.replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`);
  // Any name counts, such as `plus` or `amp`: the rest of the key tells enough.
  const html = `#0*${code}|#[xX]0*${hexInAnyCase}|[A-Za-z]+`;
  return `(?:\\\\?\\x${hex}|&(?:${html});|(?:\\\\u00|\\\\x|%)${hexInAnyCase})`;
}
