import { matchEnd, tagAt } from '../markup/tags.ts';
import { addEmbed } from './add-embed.ts';
import { elementName, mayHold, writtenComponent } from './element.ts';
import type { Refusal } from './found-embed.ts';
import { decodeThrough, reportIncomplete, type SourceSlice, slice, startsIn } from './source-slice.ts';

export const componentTag: RegExp = new RegExp(`<${writtenComponent.source}`, 'i');

/** Scripts and styles, where no embed can work. */
export function scanCode(part: SourceSlice, flaw: Refusal, attribute?: string): void {
  for (const start of startsIn(decodeThrough(part, 'json'), scanText))
    part.results.faults.push({ start, flaw, attribute });
}

const embedOpening = /(?=<snippet-embed[\t\n\f\r />])/i;

// As in titles: words in separate elements, or no-break spaces.
export const brokenOpening: RegExp = /<snippet-embed(?![\w.:\t\n\f\r />-])/i;

const embedClosing = /<\/snippet-embed[\t\n\f\r ]*>/gi;

/** Text without markup other than embeds, encoded or not. */
export function scanText(part: SourceSlice): void {
  const { text, offsetInFile, results } = part;
  const written = text.search(componentTag);
  if (written !== -1) reportIncomplete(part, offsetInFile(written), 'unrendered');
  const odd = text.search(brokenOpening);
  if (odd !== -1) results.warnings.push({ start: offsetInFile(odd), flaw: 'invalid-id' });
  let start = 0;
  // Each up to the next one only: the time is linear even if all are unclosed.
  for (const { length } of text.split(embedOpening)) {
    const piece = slice(part, { start, end: start + length });
    const read = embedOpening.test(piece.text) ? scanEmbed(piece) : 0;
    scanEncoded(slice(piece, { start: read, end: length }));
    start += length;
  }
}

/** The embed that a text begins with. Returns the end of it, or of its name. */
function scanEmbed(part: SourceSlice) {
  const tag = tagAt(part.text, 0);
  const end = tag?.isSelfClosing ? tag.end : tag && matchEnd(embedClosing, part.text, tag.end);
  if (!tag || !end) {
    reportIncomplete(part, part.offsetInFile(0), 'unclosed');
    return 1 + elementName.length;
  }
  addEmbed(part, tag, { start: tag.isSelfClosing ? end : part.text.lastIndexOf('<', end - 1), end });
  return end;
}

const escapedEmbed = /&(?:amp;|#0*38;|#x0*26;)*(?:lt|#0*60|#x0*3c);?snippet(?:-embed|[\t\n\f\r ])/i;

const percentEncoded = /%(?:25)*3csnippet-embed[^\s"<>&]*/gi;

/** Text that is escaped once more, or part of a URL. */
function scanEncoded(part: SourceSlice) {
  const { text } = part;
  if (!mayHold(text)) return;
  if (escapedEmbed.test(text)) scanText(decodeThrough(part, 'html-text'));
  for (const { 0: url, index: start } of text.matchAll(percentEncoded)) {
    const encoded = slice(part, { start, end: start + url.length });
    scanText(decodeThrough(encoded, /embed\+/i.test(url) ? 'url-query' : 'url'));
  }
}
