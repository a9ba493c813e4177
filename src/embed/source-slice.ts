import type { Range } from '../markup/edits.ts';
import { type EmbedAs, embedNamePattern } from './element.ts';
import type { IncompleteFlaw, ScanResults } from './found-embed.ts';
import { type Layer, layers } from './layers.ts';

/**
 * Part of a file, decoded through the layers around it: the value of an attribute has one layer, HTML in a string
 * of JSON in an attribute has two.
 *
 * The text is a byte string in every layer: characters of the file are bytes, since it was read as Latin-1, and
 * decoded characters are written as bytes of UTF-8. Each slice maps its offsets to those of the slice that it was
 * made from, and so to bytes of the file. A find in any layer is replaced in the file, where all other bytes stay.
 */
export interface SourceSlice {
  text: string;
  /** The encodings that were undone, outermost first. Content is encoded through the same layers. */
  layers: readonly Layer[];
  /** Returns the byte offset in the file of a character of the text. */
  offsetInFile(offset: number): number;
  /** The lists to which the scan adds what it finds. */
  results: ScanResults;
  /** Whether the text is part of HTML, in which text has to be escaped. */
  needsEscapedText: boolean;
  /** Whether the file is a page. In other files, text between backticks is code. */
  isPage: boolean;
  /** The value of `as` for embeds without this attribute. */
  defaultAs: EmbedAs;
  /** The language at the slice: the value of the nearest `lang`. */
  lang?: string | undefined;
}

/** Cuts a range out of a slice. */
export function slice(source: SourceSlice, { start, end }: Range): SourceSlice {
  return {
    ...source,
    text: source.text.slice(start, end),
    offsetInFile: (offset) => source.offsetInFile(start + offset),
  };
}

/** Finds the offset in a slice of a byte of the file, by binary search: the reverse of `offsetInFile`. */
export function offsetInSlice({ text, offsetInFile }: SourceSlice, fileOffset: number): number {
  let low = 0;
  for (let high = text.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (offsetInFile(middle) < fileOffset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The most layers that a slice can have. No page needs more, and decoding each takes time. */
const maxLayers = 6;

/**
 * Undoes one more encoding of a slice. Beyond `maxLayers`, the text is empty, so nothing is found in it, and a warning
 * says that it looks like an embed.
 */
export function decodeThrough(source: SourceSlice, layer: Layer): SourceSlice {
  if (source.layers.length === maxLayers) {
    warnOfDepth(source);
    return { ...source, text: '' };
  }
  const { escaped, decode } = layers[layer];

  // Maps decoded to encoded offsets: from `starts[i]` up to `starts[i + 1]`, add `origins[i] - starts[i]`.
  const starts = [0];
  const origins = [0];
  let shift = 0;
  const text = source.text.replace(escaped, (match: string, index: number) => {
    const character = decode(match);
    if (character === match) return match;

    const start = index - shift;
    starts.push(start, start + character.length);
    origins.push(index, index + match.length);
    shift += match.length - character.length;
    return character;
  });

  return {
    ...source,
    text,
    layers: [...source.layers, layer],
    offsetInFile(offset) {
      const index = lastIndexUpTo(starts, offset);
      return source.offsetInFile((origins[index] ?? 0) + offset - (starts[index] ?? 0));
    },
    needsEscapedText: false,
  };
}

/** Several encodings are tried for one text, so the same place is only warned of once. */
function warnOfDepth({ text, offsetInFile, results }: SourceSlice): void {
  const offset = text.search(embedNamePattern);
  if (offset === -1) return;
  const start = offsetInFile(offset);
  const isKnown = results.warnings.some((warning) => warning.flaw === 'too-deep' && warning.start === start);
  if (!isKnown) results.warnings.push({ start, flaw: 'too-deep' });
}

/** Finds the index of the last of sorted numbers up to a value, by binary search; 0 if there is none. */
function lastIndexUpTo(sorted: readonly number[], value: number) {
  let low = 0;
  for (let high = sorted.length; high - low > 1; ) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= value) low = middle;
    else high = middle;
  }
  return low;
}

/** Scans a slice, and returns where its embeds and faults begin in the file, instead of adding these. */
export function findStarts(source: SourceSlice, scanSource: (source: SourceSlice) => void): number[] {
  const results: ScanResults = { ...source.results, embeds: [], faults: [] };
  scanSource({ ...source, results });
  return [...results.embeds, ...results.faults].map(({ start }) => start);
}

/** Reports an embed that is not whole, as a fault or, if it may be an excerpt, as a warning. */
export function reportIncomplete(
  source: SourceSlice,
  start: number,
  flaw: IncompleteFlaw,
  outer?: number,
): void {
  if (isElement(source)) source.results.faults.push({ start, flaw, outer });
  else source.results.warnings.push({ start, flaw });
}

/** Whether what looks like an embed is surely meant as one. Other files and encoded text may hold excerpts. */
export const isElement = ({ isPage, layers }: SourceSlice): boolean => isPage && layers.length === 0;
