import { matchEnd, tagAt } from '../markup/tags.ts';
import { addEmbed } from './add-embed.ts';
import { elementName, mayContainEmbed, unrenderedComponentPattern } from './element.ts';
import type { RefusedPlace } from './found-embed.ts';
import { decodeThrough, findStarts, reportIncomplete, type SourceSlice, slice } from './source-slice.ts';

/** Matches the tag of a `<Snippet>` that was published instead of rendered. */
export const unrenderedComponentTag: RegExp = new RegExp(`<${unrenderedComponentPattern.source}`, 'i');

/** Matches an embed's tag that was split, as in titles: words in separate elements, or no-break spaces. */
export const brokenOpening: RegExp = /<snippet-embed(?![\w.:\t\n\f\r />-])/i;

const embedOpening = /(?=<snippet-embed[\t\n\f\r />])/i;
const embedClosing = /<\/snippet-embed[\t\n\f\r ]*>/gi;

/** Scans text whose only markup is embeds, as in titles and attributes. The embeds may be encoded once more. */
export function scanText(source: SourceSlice): void {
  const { text, offsetInFile, results } = source;
  const component = text.search(unrenderedComponentTag);
  if (component !== -1) reportIncomplete(source, offsetInFile(component), 'unrendered');
  const broken = text.search(brokenOpening);
  if (broken !== -1) results.warnings.push({ start: offsetInFile(broken), flaw: 'invalid-id' });

  let start = 0;
  // Each embed is searched only up to the next one: the time is linear even if all are unclosed.
  for (const { length } of text.split(embedOpening)) {
    const piece = slice(source, { start, end: start + length });
    const embedEnd = embedOpening.test(piece.text) ? scanEmbed(piece) : 0;
    scanEncoded(slice(piece, { start: embedEnd, end: length }));
    start += length;
  }
}

/** Scans scripts and styles, where no embed can work: each embed is a fault, which fails the build. */
export function scanCode(source: SourceSlice, flaw: RefusedPlace, attribute?: string): void {
  for (const start of findStarts(decodeThrough(source, 'json'), scanText)) {
    source.results.faults.push({ start, flaw, attribute });
  }
}

/** Scans the embed that a text begins with. Returns its end, or the end of its name if it is unclosed. */
function scanEmbed(source: SourceSlice) {
  const { text } = source;
  const tag = tagAt(text, 0);
  if (tag?.isSelfClosing) {
    addEmbed(source, tag, { start: tag.end, end: tag.end });
    return tag.end;
  }

  const end = tag && matchEnd(embedClosing, text, tag.end);
  if (!end) {
    reportIncomplete(source, source.offsetInFile(0), 'unclosed');
    return 1 + elementName.length;
  }
  addEmbed(source, tag, { start: text.lastIndexOf('<', end - 1), end });
  return end;
}

const escapedEmbed = /&(?:amp;|#0*38;|#x0*26;)*(?:lt|#0*60|#x0*3c);?snippet(?:-embed|[\t\n\f\r ])/i;
const percentEncodedEmbed = /%(?:25)*3csnippet-embed[^\s"<>&]*/gi;

/** Scans text for embeds that are escaped once more, or are part of a URL. */
function scanEncoded(source: SourceSlice) {
  const { text } = source;
  if (!mayContainEmbed(text)) return;
  if (escapedEmbed.test(text)) scanText(decodeThrough(source, 'html-text'));
  for (const { 0: encoded, index: start } of text.matchAll(percentEncodedEmbed)) {
    const layer = /embed\+/i.test(encoded) ? 'url-query' : 'url';
    scanText(decodeThrough(slice(source, { start, end: start + encoded.length }), layer));
  }
}
