/**
 * Decodes a file that people write: a `.env` file, a key or certificates. Editors for Windows begin UTF-8 with a byte order
 * mark, which is left out.
 *
 * @throws Error for UTF-16, which PowerShell writes by default. Its message is a predicate.
 */
export function decodeText(bytes: Uint8Array): string {
  if (isUtf16(bytes)) throw new Error(utf16Flaw);
  return new TextDecoder().decode(bytes);
}

const utf16Flaw = 'is in UTF-16, not in UTF-8';

/** Such files begin with a letter of ASCII, which has a zero byte in UTF-16, if not with a byte order mark. */
function isUtf16([first, second]: Uint8Array): boolean {
  const isMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isMark || (first === 0) !== (second === 0);
}
