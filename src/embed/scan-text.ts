import { matchEnd, tagAt } from '../markup/tags.ts';
import { addEmbed } from './add-embed.ts';
import { elementName, embedNamePattern, mayContainEmbed, unrenderedComponentPattern } from './element.ts';
import type { RefusedPlace } from './found-embed.ts';
import { decodeThrough, findStarts, reportIncomplete, type SourceSlice, slice } from './source-slice.ts';

/** Matches the tag of a `<Snippet>` that was published instead of rendered. */
export const unrenderedComponentTag: RegExp = new RegExp(`<${unrenderedComponentPattern.source}`, 'i');

/** Matches an embed's tag that was split, as in titles: words in separate elements, or no-break spaces. */
export const brokenOpening: RegExp = /<snippet-embed(?![\w.:\t\n\f\r />-])/i;

const embedOpening = /(?=<snippet-embed[\t\n\f\r />])/i;
const embedClosing = /<\/snippet-embed[\t\n\f\r ]*>/gi;

/** Matches the end tag of an embed that was damaged, or a tag that a line break has cut. */
const damagedTag = /<\/snippet-|<\/?sn[ipetmbd-]*=?[\r\n]/i;

/** Scans part of a text that was decoded, and whose syntax has to be told from the text. */
export type ScanDecoded = (source: SourceSlice) => void;

/**
 * Scans text whose only markup is embeds, as in titles and attributes. The embeds may be encoded once more: what is
 * decoded is scanned by `scanDecoded`, from where the encoding begins.
 */
export function scanText(source: SourceSlice, scanDecoded: ScanDecoded = scanText): void {
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
    scanEncoded(slice(piece, { start: embedEnd, end: length }), scanDecoded);
    start += length;
  }
}

/**
 * Scans code, and files of an unknown syntax, where no embed can work: each embed is a fault, which fails the build.
 *
 * @param holder the name of the attribute, or the type of the script, that holds the text
 */
export function scanCode(source: SourceSlice, flaw: RefusedPlace, holder?: string): void {
  const { results, text: code, offsetInFile } = source;
  const knownWarnings = results.warnings.length;
  const starts = findStarts(decodeThrough(source, 'json'), scanText);
  for (const start of starts) results.faults.push({ start, flaw, holder });
  const isTold = starts.length > 0 || results.warnings.length > knownWarnings;
  if (isTold || flaw !== 'in-script' || !embedNamePattern.test(code)) return;
  results.scripts = [...(results.scripts ?? []), { start: offsetInFile(0), code }];
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
  const endTag = end && { start: text.lastIndexOf('<', end - 1), end };
  // A damaged tag among the children may be the real end: what is behind it is not part of the embed.
  if (!endTag || damagedTag.test(text.slice(tag.end, endTag.start))) {
    reportIncomplete(source, source.offsetInFile(0), 'unclosed');
    return 1 + elementName.length;
  }
  addEmbed(source, tag, endTag);
  return endTag.end;
}

const escapedEmbed = /&(?:amp;|#0*38;|#x0*26;)*(?:lt|#0*60|#x0*3c);?snippet(?:-embed|[\t\n\f\r ])/i;
const percentEncodedEmbed = /%(?:25)*3csnippet-embed/i;
/** Matches the characters of a URL, which what is percent-encoded consists of. */
const urlCharacters = /[^\s"<>\\^`{|}]+/g;
/** Matches up to where a value in a URL begins: behind the comma of a `data:` URL, a `=`, or the last slash. */
const beforeValue = /^(?:data:[^,]*,|[^=]*=|.*[/?#])/s;

/** Scans text for embeds that are escaped once more, or are part of a URL. */
function scanEncoded(source: SourceSlice, scanDecoded: ScanDecoded) {
  const { text } = source;
  if (!mayContainEmbed(text)) return;
  if (escapedEmbed.test(text)) scanDecoded(decodeThrough(source, 'html-text'));
  if (!percentEncodedEmbed.test(text)) return;
  for (const { 0: run, index: start } of text.matchAll(urlCharacters)) {
    if (percentEncodedEmbed.test(run))
      scanUrlRun(slice(source, { start, end: start + run.length }), scanDecoded);
  }
}

/** Scans the values of a URL that are percent-encoded. One may be all of the text, as JSON from `encodeURI` is. */
function scanUrlRun(source: SourceSlice, scanDecoded: ScanDecoded) {
  const { text } = source;
  if (/^%(?:7b|5b|22)/i.test(text)) return scanDecoded(decodeThrough(source, layerOfUrl(text)));

  for (const { 0: value, index } of text.matchAll(/[^&#]+/g)) {
    const embed = value.search(percentEncodedEmbed);
    if (embed === -1) continue;
    // The embed itself may contain unencoded `=` and `/`, so only what is before it is searched for the value's begin.
    const before = beforeValue.exec(value.slice(0, embed))?.[0] ?? '';
    const encoded = slice(source, { start: index + before.length, end: index + value.length });
    scanDecoded(decodeThrough(encoded, layerOfUrl(value)));
  }
}

const layerOfUrl = (encoded: string) => (/embed\+/i.test(encoded) ? 'url-query' : 'url');
