import { decodeHTMLAttribute } from 'entities/decode';

/**
 * Encodes text as a byte string: each character is one byte of the UTF-8. Files are read as byte strings (as Latin-1), so
 * that every offset is a byte offset, and what is inserted into these has to be a byte string, too.
 */
export function toByteString(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** Decodes an attribute's value in a byte string, as a browser reads it. */
export function decodeAttribute(byteString: string): string {
  // Most values are numbers or empty, and need no decoding.
  if (!/[&\x80-\xff]/.test(byteString)) return byteString;
  return decodeHTMLAttribute(Buffer.from(byteString, 'latin1').toString());
}
