import { decodeHTMLAttribute } from 'entities/decode';
import { escapeAttribute } from 'entities/escape';
import type { Edit, Range } from './edits.ts';

export interface Tag extends Range {
  /** In lower case. */
  name: string;
  isSelfClosing: boolean;
}

/** With the place of its value, without quotes. */
export interface Attribute extends Range {
  /** In lower case. */
  name: string;
  /** As it is written. */
  value: string;
  quote: string;
}

export const isLetter = (code: number): boolean => (code | 32) >= 97 && (code | 32) <= 122;

/** Where a global or sticky pattern's match ends. */
export function matchEnd(pattern: RegExp, text: string, from: number): number | undefined {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

// The rest of most tags: several times as fast as attribute by attribute.
const usualRest = /[^"'=>]*(?:[^\t\n\f\r /"'=>]="[^"]*"[^"'=>]*)*>/y;

// The end of a tag, or an attribute. An unclosed quote takes the rest of the text.
const attributePattern =
  /[\t\n\f\r /]*(?:>|([^\t\n\f\r />][^\t\n\f\r />=]*)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:(["'])|([^\t\n\f\r >]*)))?)/y;

/** The tag at a `<`; `undefined` if the text ends inside it. */
export function tagAt(
  text: string,
  start: number,
):
  | {
      name: string;
      start: number;
      end: number;
      isSelfClosing: boolean;
    }
  | undefined {
  const from = nameEnd(text, start);
  const name = text.slice(start + (text[start + 1] === '/' ? 2 : 1), from).toLowerCase();
  const end = text[from] === '>' ? from + 1 : (matchEnd(usualRest, text, from) ?? readAttributes(text, from));
  return end ? { name, start, end, isSelfClosing: text[end - 2] === '/' } : undefined;
}

const tagName = /<\/?[^\t\n\f\r />]*/y;

const nameEnd = (text: string, start: number) => matchEnd(tagName, text, start) ?? start;

/** Of two with one name, the first counts. */
export function attributesOf(text: string, { start }: Range): Attribute[] {
  const attributes: Attribute[] = [];
  readAttributes(text, nameEnd(text, start), attributes);
  return attributes;
}

/** Returns the end of the tag. */
function readAttributes(text: string, from: number, attributes?: Attribute[]) {
  attributePattern.lastIndex = from;
  for (let found = attributePattern.exec(text); found; found = attributePattern.exec(text)) {
    const [, name, quote = '', bare = ''] = found;
    if (!name) return attributePattern.lastIndex;
    const start = attributePattern.lastIndex - bare.length;
    const end = quote ? text.indexOf(quote, start) : attributePattern.lastIndex;
    if (end === -1) return undefined;
    attributes?.push({ name: name.toLowerCase(), value: text.slice(start, end), start, end, quote });
    attributePattern.lastIndex = end + quote.length;
  }
  return undefined;
}

/** The value of an attribute, as a browser reads it. */
export function readAttribute(
  attributes: readonly Attribute[],
  name: string,
  decode: typeof decodeHTMLAttribute = decodeHTMLAttribute,
): string | undefined {
  const found = attributes.find((attribute) => attribute.name === name);
  return found && decode(found.value);
}

export function replaceValue({ start, end, quote }: Attribute, value: string): Edit {
  const escaped = escapeAttribute(value);
  if (quote === "'") return { start, end, text: escaped.replaceAll("'", '&#39;') };
  return { start, end, text: quote ? escaped : `"${escaped}"` };
}
