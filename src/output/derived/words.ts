import { decodeHTML } from 'entities/decode';

/** How often a text may have been escaped, such as HTML in JSON in an attribute. */
const maxEscapings = 5;

/** Any number of backslashes, as each further layer of JSON doubles them. */
const backslashEscape = /\\+(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2})|[nrtbfv])/gi;
/** Bytes as URLs have them; a further layer writes `%25` for `%`. */
const percentEscapes = /(?:%(?:25)*[0-9a-f]{2})+/gi;

/** Decodes what JSON, JavaScript, URLs and HTML write for characters, through all layers. */
export function withoutEscapes(text: string): string {
  let decoded = text;
  for (let layer = 0; layer < maxEscapings; layer++) {
    const outer = decoded;
    if (decoded.includes('\\')) decoded = decoded.replace(backslashEscape, decodeBackslash);
    if (decoded.includes('%')) decoded = decoded.replace(percentEscapes, decodePercent);
    if (decoded.includes('&')) decoded = decodeHTML(decoded);
    if (decoded === outer) break;
  }
  return decoded;
}

function decodeBackslash(_: string, inBraces?: string, four?: string, two?: string): string {
  const codePoint = Number.parseInt(inBraces ?? four ?? two ?? '20', 16);
  return codePoint > 0x10ffff ? ' ' : String.fromCodePoint(codePoint);
}

function decodePercent(escapes: string): string {
  const bytes = Buffer.from(escapes.replace(/%(?:25(?=\d|[a-f]))*/gi, ''), 'hex');
  const text = bytes.toString();
  return text.includes('\uFFFD') ? bytes.toString('latin1') : text;
}

/** What begins like a tag, up to the next `>`. */
const tagPattern = /<[/!?a-z][^<>]*>/gi;
/** The target of a link or image in Markdown, behind its text, and the number of a list item. */
const markdownMarks = /\]\([^()\s]*(?:\s+["'][^"'\n]*["'])?\)|\]\[[^\]\n]*\]|^[ \t>]*\d+[.)](?=\s)/gm;

/** A text in the form in which its words can be compared: in lower case, without escapes and accents. */
export interface Readings {
  /** Without tags, and without marks of Markdown that contain words. */
  withoutTags: string;
  /** With names and attributes of tags. In scripts and prose, a `<` may also begin no tag. */
  withTags: string;
}

/** Reads a text of any format, such as HTML in JSON, in both ways. */
export function readingsOf(text: string): Readings {
  const decoded = withoutEscapes(text);
  const stripped = decoded.replace(tagPattern, ' ').replace(markdownMarks, ' ');
  const withoutTags = normalize(stripped);
  return { withoutTags, withTags: stripped === decoded ? withoutTags : normalize(decoded) };
}

/** Removes what search indexes change: upper case, accents, and invisible characters such as soft hyphens. */
export function normalize(text: string): string {
  return text.toLowerCase().replace(/[\u0080-\uffff]+/g, (characters) => {
    return characters.normalize('NFKD').replace(/[\p{M}\p{Cf}]+/gu, '');
  });
}

/** Scripts that have no spaces between words. */
const isDense =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const isLetterOrDigit = /[\p{L}\p{N}]/u;

/** In scripts without spaces, each sequence of so many characters counts as a word. */
const denseWordLength = 4;

/** What a character is to words. White space may stand in words of scripts without spaces, such as a line end. */
const kinds = { unknown: 0, separator: 1, space: 2, letter: 3, dense: 4 } as const;
type CharacterKind = (typeof kinds)[keyof typeof kinds];

/** The kinds of all UTF-16 code units that have been met; a table, as texts have millions of characters. */
const kindsOfUnits = new Uint8Array(0x10000);

function characterKindOf(text: string, index: number): CharacterKind {
  const unit = text.charCodeAt(index);
  const known = kindsOfUnits[unit] as CharacterKind;
  if (known !== kinds.unknown) return known;
  const isLow = unit >= 0xdc00 && unit <= 0xdfff;
  const isSurrogate = isLow || (unit >= 0xd800 && unit <= 0xdbff);
  const character = String.fromCodePoint(text.codePointAt(isLow ? index - 1 : index) ?? 0x20);
  let kind: CharacterKind = kinds.separator;
  if (isDense.test(character)) kind = kinds.dense;
  else if (isLetterOrDigit.test(character)) kind = kinds.letter;
  else if (/\s/.test(character)) kind = kinds.space;
  // Half of a character tells nothing about the others that have it.
  if (!isSurrogate) kindsOfUnits[unit] = kind;
  return kind;
}

/** Calls a function with each word of a normalized text: letters and digits of any script. */
export function forEachWord(text: string, use: (word: string) => void): void {
  let start = -1;
  let dense = '';
  const endDense = () => {
    for (let index = 0; index + denseWordLength < dense.length; index++) {
      use(dense.slice(index, index + denseWordLength));
    }
    use(dense.slice(-denseWordLength));
    dense = '';
  };
  for (let index = 0; index < text.length; index++) {
    const kind = characterKindOf(text, index);
    if (kind === kinds.letter) {
      if (dense) endDense();
      if (start === -1) start = index;
      continue;
    }
    if (start !== -1) {
      use(text.slice(start, index));
      start = -1;
    }
    if (kind === kinds.dense) dense += text[index];
    else if (kind === kinds.separator && dense) endDense();
  }
  if (start !== -1) use(text.slice(start));
  if (dense) endDense();
}

/** The words of a normalized text. */
export function toWords(text: string): string[] {
  const words: string[] = [];
  forEachWord(text, (word) => words.push(word));
  return words;
}
