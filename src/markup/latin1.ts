import { decodeHTMLAttribute } from 'entities/decode';

/** Text whose characters are bytes of UTF-8. */
export const asBytes = (text: string): string => Buffer.from(text).toString('latin1');

/** Of a file that was read as Latin-1. */
export function decodeAttribute(bytes: string): string {
  // Most values are numbers or empty.
  return /[&\x80-\xff]/.test(bytes) ? decodeHTMLAttribute(Buffer.from(bytes, 'latin1').toString()) : bytes;
}
