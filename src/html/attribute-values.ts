import { decodeHTMLAttribute } from 'entities/decode';
import { escapeAttribute } from 'entities/escape';
import type { Attribute } from '../embed/html-scanner.ts';
import type { Edit } from './edits.ts';

/** The value of an attribute, as a browser reads it. */
export function attributeValue(html: string, { start, end }: Attribute): string {
  return decodeHTMLAttribute(html.slice(start, end));
}

/** Gives an attribute another value. Its quotes stay. */
export function replaceValue({ start, end, quote }: Attribute, value: string): Edit {
  const escaped = escapeAttribute(value).replaceAll("'", '&#39;');
  return { start, end, text: quote === '' ? `"${escaped}"` : escaped };
}
