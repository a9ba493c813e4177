/**
 * The spellings of a key that are searched for as they are: the key itself, URL-encoded, JSON-escaped, as hexadecimal
 * digits, and as base64 and base64url (at each of the three offsets that surrounding text can put it at). Spellings that
 * escape single characters are decoded instead: see {@link keyDetector}.
 */
export function keySpellings(key: string): string[] {
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
  const json = JSON.stringify(key).slice(1, -1);
  return [...new Set([key, encodeURIComponent(key), json, hex, hex.toUpperCase(), ...base64])];
}

// The names that HTML has for the visible characters of ASCII.
const namedReferences: Readonly<Record<string, string>> = {
  amp: '&',
  AMP: '&',
  lt: '<',
  LT: '<',
  gt: '>',
  GT: '>',
  quot: '"',
  QUOT: '"',
  apos: "'",
  excl: '!',
  num: '#',
  dollar: '$',
  percnt: '%',
  lpar: '(',
  rpar: ')',
  ast: '*',
  midast: '*',
  plus: '+',
  comma: ',',
  period: '.',
  sol: '/',
  colon: ':',
  semi: ';',
  equals: '=',
  quest: '?',
  commat: '@',
  lsqb: '[',
  lbrack: '[',
  bsol: '\\',
  rsqb: ']',
  rbrack: ']',
  Hat: '^',
  lowbar: '_',
  UnderBar: '_',
  grave: '`',
  lcub: '{',
  lbrace: '{',
  vert: '|',
  verbar: '|',
  VerticalLine: '|',
  rcub: '}',
  rbrace: '}',
};

const reference = `&(?:amp;|#0{0,5}38;|#x0{0,5}26;){0,3}(?:#0{0,5}(\\d{2,3});?|#[xX]0{0,5}([\\da-fA-F]{2});?|(${Object.keys(namedReferences).join('|')});)`;
// Each may be escaped a few times over: `&amp;#38;`, `\\\\u0026`, `%2526`.
const escapes = new RegExp(
  `${reference}|\\\\{1,4}(?:u00|x)([\\da-fA-F]{2})|\\\\{1,4}(["'/\\\\])|%(?:25){0,3}([\\da-fA-F]{2})`,
  'g',
);
type Captures = [
  decimal?: string,
  hexReference?: string,
  name?: string,
  hex?: string,
  quoted?: string,
  percent?: string,
];

function decodeEscape(...[decimal, hexReference, name, hex, quoted, percent]: Captures): string {
  if (decimal !== undefined) return String.fromCharCode(Number(decimal));
  if (name !== undefined) return namedReferences[name] ?? '';
  if (quoted !== undefined) return quoted;
  return String.fromCharCode(Number.parseInt(hexReference ?? hex ?? percent ?? '', 16));
}

function decodeEscapes(text: string): string {
  return text.replace(escapes, (_, ...captures) => decodeEscape(...(captures.slice(0, 6) as Captures)));
}

/** How a key begins if all its characters are escaped. A search for this is many times faster than decoding. */
function escapedStarts(key: string): string[] {
  const code = key.charCodeAt(0);
  const hex = code.toString(16);
  const starts = [hex, hex.toUpperCase()].flatMap((digits) => {
    return [`&#x${digits}`, `\\u00${digits}`, `\\x${digits}`, `%${digits}`];
  });
  return [`&#${code}`, ...starts];
}

/**
 * Returns a function that tells whether text contains the key: in one of its {@link keySpellings}, with the characters
 * escaped that HTML or JSON require to be, or with all of them escaped, for HTML, JSON, JavaScript or a URL.
 */
export function keyDetector(key: string): (text: Buffer | string) => boolean {
  const spellings = keySpellings(key).map((spelling) => Buffer.from(spelling));
  // No encoder escapes some letters and digits and not others: if the key is nothing else, it is found as it is.
  const runs = key.match(/[A-Za-z0-9]+/g) ?? [''];
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best));
  const starts = [...new Set([...(longest.length < key.length ? [longest] : []), ...escapedStarts(key)])];
  const hints = starts.map((start) => Buffer.from(start));
  return (text) => {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    if (spellings.some((spelling) => bytes.includes(spelling))) return true;
    return (
      hints.some((hint) => bytes.includes(hint)) && decodeEscapes(bytes.toString('latin1')).includes(key)
    );
  };
}

/** What hides one API key in text that is shown. */
export interface KeyCover {
  /** Whether the key is in a text, in any spelling. Finds more than {@link keyDetector}, in more time. */
  isIn(text: string): boolean;
  /** Replaces the key. It is found even with white space between its characters. */
  hide(text: string): string;
  /** Returns a text without the beginning of a key at its end, where the text was cut. */
  withoutEnd(text: string): string;
}

export function keyCover(key: string): KeyCover {
  const spellings = keySpellings(key);
  const isIn = (text: string) =>
    spellings.some((spelling) => text.includes(spelling)) || decodeEscapes(text).includes(key);
  return {
    isIn,
    hide(text) {
      let hidden = text;
      if (decodeEscapes(text).replace(/\s+/g, '').includes(key)) {
        const [decoded, origins, ends] = decodeCompactly(text);
        hidden = '';
        let read = 0;
        for (let at = decoded.indexOf(key); at !== -1; at = decoded.indexOf(key, at + key.length)) {
          hidden += `${text.slice(read, origins[at])}[API key]`;
          read = ends[at + key.length - 1] ?? text.length;
        }
        hidden += text.slice(read);
      }
      return spellings.reduce((clean, spelling) => clean.replaceAll(spelling, '[API key]'), hidden);
    },
    withoutEnd(text) {
      const [decoded, origins] = decodeCompactly(text);
      for (let length = Math.min(key.length, decoded.length); length > 0; length -= 1) {
        if (decoded.endsWith(key.slice(0, length))) return text.slice(0, origins[decoded.length - length]);
      }
      return text;
    },
  };
}

/** Decodes escapes and leaves out white space. Returns where each character begins and ends in the text, too. */
function decodeCompactly(text: string): [decoded: string, origins: number[], ends: number[]] {
  let decoded = '';
  const origins: number[] = [];
  const ends: number[] = [];
  const add = (character: string, start: number, end: number) => {
    if (/\s/.test(character)) return;
    decoded += character;
    origins.push(start);
    ends.push(end);
  };
  let read = 0;
  const addPlain = (end: number) => {
    for (; read < end; read += 1) add(text.charAt(read), read, read + 1);
  };
  for (const match of text.matchAll(escapes)) {
    addPlain(match.index);
    read = match.index + match[0].length;
    add(decodeEscape(...(match.slice(1) as Captures)), match.index, read);
  }
  addPlain(text.length);
  return [decoded, origins, ends];
}
