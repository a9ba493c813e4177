import type { Range } from '../markup/edits.ts';
import type { FoundEmbed } from './found-embed.ts';
import type { Layer } from './layers.ts';
import { type ScanDecoded, scanText } from './scan-text.ts';
import { offsetInSlice, type SourceSlice } from './source-slice.ts';
import type { UrlSyntax } from './syntax.ts';

/**
 * Scans a value that holds URLs. An embed that is a whole URL shows its text as that URL. One that is part of a URL
 * is percent-encoded, however it is written.
 */
export function scanUrl(source: SourceSlice, syntax: UrlSyntax, scanDecoded: ScanDecoded): void {
  const { embeds } = source.results;
  const countBefore = embeds.length;
  scanText(source, scanDecoded);

  for (const embed of embeds.slice(countBefore)) {
    const range = { start: offsetInSlice(source, embed.start), end: offsetInSlice(source, embed.end) };
    const { as } = embed.format;
    if (as === 'text' && isWholeUrl(source.text, range, syntax)) {
      embed.format = { as: 'url', layers: source.layers };
    } else {
      embed.format = { as, layers: layersInUrl(source, range, embed) };
    }
  }
}

/** Matches what is before the URL of a refresh, as in `5; url=/new`. */
const beforeRefreshUrl = /^[\d.\s]*[;,]?\s*(?:url\s*=\s*)?["']?$/i;

/** How far before and behind an embed a value is looked at. What surrounds a whole URL is shorter. */
const reach = 100;

function isWholeUrl(text: string, { start, end }: Range, syntax: UrlSyntax) {
  const before = text.slice(Math.max(0, start - reach), start);
  const after = text.slice(end, end + reach);
  if (syntax === 'list') return /(?:^|[\s,])$/.test(before) && /^(?:$|[\s,])/.test(after);
  const isAtStart = syntax === 'refresh' ? beforeRefreshUrl.test(before) : before.trim() === '';
  return isAtStart && after.replace(/^["']/, '').trim() === '' && start < reach && text.length - end < reach;
}

/** Matches the beginning of a URL that holds an address or a number. */
const addressUrl = /^\s*(?:mailto|tel|sms|callto|facetime|geo|xmpp|sip):/i;

/** The layers of an embed that is part of a URL. One that is written with tags has yet to be percent-encoded. */
function layersInUrl(
  { text, layers: outer }: SourceSlice,
  { start }: Range,
  embed: FoundEmbed,
): readonly Layer[] {
  const { layers } = embed.format;
  if (layers.some((layer) => layer === 'url' || layer === 'url-query')) return layers;
  const isInAddress = addressUrl.test(text) && !text.slice(0, start).includes('?');
  return [...outer, isInAddress ? 'url-address' : 'url', ...layers.slice(outer.length)];
}
