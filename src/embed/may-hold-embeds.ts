// Apart from the scanner, so that a site without embeds does not load it.
import type { FileKind } from './scan.ts';

/** The name of the element, which no encoding changes. */
export const embedName: RegExp = /snippet-embed/i;
/** `<Snippet id={42} />` in a page that did not render it, escaped or not. */
export const writtenComponent: RegExp =
  /(?:<|&(?:lt|#0*60|#x0*3c);?)snippet(?=[\t\n\f\r ][^<>]{0,300}\b(?:id|of)=)/i;

// A larger file, or a piece of one, is not turned into a string: that takes its memory once more.
const smallSize = 48 * 1024;

/** Whether a file, or part of one, may contain embeds: a search for the name, many times faster than a scan. */
export function mayHoldEmbeds(file: Buffer, kind: FileKind): boolean {
  if (kind === 'html' || file.length <= smallSize) {
    const text = file.toString('latin1');
    return embedName.test(text) || (kind === 'html' && writtenComponent.test(text));
  }
  for (let dash = file.indexOf('-'); dash !== -1; dash = file.indexOf('-', dash + 1)) {
    if (embedName.test(file.toString('latin1', Math.max(0, dash - 7), dash + 6))) return true;
  }
  return false;
}
