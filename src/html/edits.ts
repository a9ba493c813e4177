import { decodeHTMLAttribute } from 'entities/decode';
import { escapeAttribute } from 'entities/escape';
import { type Attribute, attributesOf, type Tag } from '../embed/html-scanner.ts';

/** Text in place of a part of a text. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** @param edits of parts that do not overlap, in any order. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let written = '';
  let done = 0;
  for (const { start, end, text: piece } of [...edits].sort((a, b) => a.start - b.start)) {
    written += text.slice(done, start) + piece;
    done = end;
  }
  return written + text.slice(done);
}

/** The value of an attribute, as a browser reads it. */
export function attributeValue(html: string, { start, end }: Attribute): string {
  return decodeHTMLAttribute(html.slice(start, end));
}

export function attributeOf(html: string, tag: Pick<Tag, 'start'>, name: string): string | undefined {
  const found = attributesOf(html, tag).find((attribute) => attribute.name === name);
  return found && attributeValue(html, found);
}

/** Gives an attribute another value. Its quotes stay. */
export function replaceValue({ start, end, quote }: Attribute, value: string): Edit {
  const escaped = escapeAttribute(value);
  if (quote === "'") return { start, end, text: escaped.replaceAll("'", '&#39;') };
  return { start, end, text: quote === '' ? `"${escaped}"` : escaped };
}

// As browsers split it: a URL ends at white space or at the commas behind it; without these, descriptors follow up to a
// comma that is not between parentheses.
const candidate =
  /([^\t\n\f\r ,](?:[^\t\n\f\r ]*[^\t\n\f\r ,])?)(,+(?=[\t\n\f\r ]|$)|(?:[^,(]+|\([^)]*\)?)*)/g;

/** Replaces the URLs of a `srcset`. Every other byte stays. */
export function replaceCandidates(srcset: string, replacement: (url: string) => string): string {
  return srcset.replace(candidate, (_, url: string, rest: string) => replacement(url) + rest);
}
