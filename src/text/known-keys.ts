const htmlNames: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

/** Matches a character of a key: unless a letter or digit, also escaped for HTML, JSON or a URL. */
function characterPattern(character: string) {
  if (/[A-Za-z0-9]/.test(character)) return character;
  const code = character.charCodeAt(0);
  const hex = code.toString(16);
  const anyCase = hex.replace(/[a-f]/, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const html = [`#0*${code}`, `#[xX]0*${anyCase}`, htmlNames[character] ?? []].flat().join('|');
  return `(?:\\\\?\\x${hex}|&(?:${html});|(?:\\\\u00|%)${anyCase})`;
}

/** A key in hexadecimal, and in base64 at each offset that text before it causes. */
function encodedForms(key: string) {
  const bytes = Buffer.from(key);
  const base64 = [0, 1, 2].flatMap((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes]);
    // The first and last characters also encode bits of their neighbours.
    const whole = [offset === 0 ? 0 : offset + 1, Math.floor((shifted.length * 8) / 6)] as const;
    const standard = shifted.toString('base64').slice(...whole);
    return [standard, encodeURIComponent(standard), shifted.toString('base64url').slice(...whole)];
  });
  const hex = bytes.toString('hex');
  return [...new Set([hex, hex.toUpperCase(), ...base64])];
}

type KeySearch = ReturnType<typeof keySearch>;

/** Finds an API key in every form that encoders give a whole key. */
export function keySearch(key: string) {
  const encoded = encodedForms(key);
  const written = [...key].map(characterPattern).join('\\s*');
  const forms = new RegExp([written, ...encoded.map((form) => form.replaceAll('+', '\\+'))].join('|'), 'g');
  const runs = key.match(/[A-Za-z0-9]+/g) ?? [''];
  const longestRun = runs.reduce((longest, run) => (run.length > longest.length ? run : longest));
  // Each form has one of these, found many times faster than a pattern.
  const signs = [longestRun, ...encoded].map((sign) => Buffer.from(sign));
  return {
    isIn(text: Buffer | string): boolean {
      const bytes = typeof text === 'string' ? Buffer.from(text) : text;
      return signs.some((sign) => bytes.includes(sign)) && bytes.toString('latin1').search(forms) !== -1;
    },
    /** @param isCut whether the text was cut, and may end with the start of a key. */
    hide(text: string, isCut: boolean): string {
      const hidden = text.replace(forms, '[API key]');
      for (let at = Math.max(0, hidden.length - 2 * key.length); isCut && at < hidden.length; at += 1) {
        if (key.startsWith(hidden.slice(at).replace(/\s/g, ''))) return hidden.slice(0, at);
      }
      return hidden;
    },
  };
}

// Kept by the process: components and loaders share no module with the integration. Searches only, no key.
const knownKeysSymbol = Symbol.for('astro-snippets:known-keys');

const keySearches = globalThis as { [knownKeysSymbol]?: KeySearch[] };

const protectedKeys = new Set<string>();

/** Keeps an API key out of all that this process shows, or sends as params. */
export function protectKey(key: string): void {
  if (protectedKeys.has(key)) return;
  protectedKeys.add(key);
  keySearches[knownKeysSymbol] = [...(keySearches[knownKeysSymbol] ?? []), keySearch(key)];
}

export const containsKnownKey = (text: Buffer | string): boolean =>
  keySearches[knownKeysSymbol]?.some((search) => search.isIn(text)) ?? false;

/** Hides the protected keys in clean text: an escape sequence may split a key. */
export const hideKnownKeys = (text: string, isCut = false): string =>
  keySearches[knownKeysSymbol]?.reduce((hidden, search) => search.hide(hidden, isCut), text) ?? text;
