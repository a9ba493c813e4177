import { decodeHTMLAttribute } from 'entities/decode';
import { escapeAttribute } from 'entities/escape';
import type { Edit, Range } from './edits.ts';

/** A start tag or an end tag. The name is in lower case. */
export interface Tag extends Range {
  name: string;
  /** Whether the tag ends with `/>`. */
  isSelfClosing: boolean;
}

/** An attribute of a tag. Its name is in lower case, and its range is that of the value, without quotes. */
export interface Attribute extends Range {
  name: string;
  /** The value as written, with entities. */
  value: string;
  /** The quote around the value, or an empty string. */
  quote: string;
}

/** Whether a character code is that of an ASCII letter. */
export const isLetter = (code: number): boolean => (code | 32) >= 97 && (code | 32) <= 122;

/** Returns where the match of a global or sticky pattern ends. */
export function matchEnd(pattern: RegExp, text: string, from: number): number | undefined {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** Matches the rest of most tags at once, several times as fast as attribute by attribute. */
const usualRest = /[^"'=>]*(?:[^\t\n\f\r /"'=>]="[^"]*"[^"'=>]*)*>/y;

/** Reads the tag at a `<`. Returns `undefined` if the text ends inside the tag. */
export function tagAt(text: string, start: number): Tag | undefined {
  const afterName = nameEnd(text, start);
  const name = text.slice(start + (text[start + 1] === '/' ? 2 : 1), afterName).toLowerCase();
  const end =
    text[afterName] === '>'
      ? afterName + 1
      : (matchEnd(usualRest, text, afterName) ?? readToTagEnd(text, afterName));
  return end ? { name, start, end, isSelfClosing: text[end - 2] === '/' } : undefined;
}

const tagName = /<\/?[^\t\n\f\r />]*/y;
const nameEnd = (text: string, start: number) => matchEnd(tagName, text, start) ?? start;

/** Reads the attributes of a tag. Of two attributes with the same name, browsers use the first. */
export function attributesOf(text: string, { start }: Range): Attribute[] {
  const attributes: Attribute[] = [];
  readToTagEnd(text, nameEnd(text, start), attributes);
  return attributes;
}

/** Matches the end of a tag, or an attribute up to its value. An unclosed quote takes the rest of the text. */
const attributePattern =
  /[\t\n\f\r /]*(?:>|([^\t\n\f\r />][^\t\n\f\r />=]*)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:(["'])|([^\t\n\f\r >]*)))?)/y;

/** Reads a tag from the end of its name, and adds its attributes to the list. Returns the end of the tag. */
function readToTagEnd(text: string, from: number, attributes?: Attribute[]) {
  attributePattern.lastIndex = from;
  for (let match = attributePattern.exec(text); match; match = attributePattern.exec(text)) {
    const [, name, quote = '', unquoted = ''] = match;
    if (!name) return attributePattern.lastIndex;

    const start = attributePattern.lastIndex - unquoted.length;
    const end = quote ? text.indexOf(quote, start) : attributePattern.lastIndex;
    if (end === -1) return undefined;

    attributes?.push({ name: name.toLowerCase(), value: text.slice(start, end), start, end, quote });
    attributePattern.lastIndex = end + quote.length;
  }
  return undefined;
}

/** Returns the value of an attribute, as a browser reads it. */
export function readAttribute(
  attributes: readonly Attribute[],
  name: string,
  decode: (value: string) => string = decodeHTMLAttribute,
): string | undefined {
  const attribute = attributes.find((candidate) => candidate.name === name);
  return attribute && decode(attribute.value);
}

/** Decodes an attribute's value in a byte string, as a browser reads it. */
export function decodeAttribute(byteString: string): string {
  // Most values of embeds are numbers or empty, so decoding is skipped for them.
  if (!/[&\x80-\xff]/.test(byteString)) return byteString;
  return decodeHTMLAttribute(Buffer.from(byteString, 'latin1').toString());
}

/** Replaces the value of an attribute. An unquoted value gets quotes. */
export function replaceValue({ start, end, quote }: Attribute, value: string): Edit {
  const escaped = escapeAttribute(value);
  if (quote === "'") return { start, end, text: escaped.replaceAll("'", '&#39;') };
  return { start, end, text: quote ? escaped : `"${escaped}"` };
}
