import type { Range } from '../markup/edits.ts';
import type { EmbedAs } from './element.ts';
import type { Incomplete, Scan } from './found-embed.ts';
import { type Layer, layers } from './layers.ts';

/** Part of a file, decoded through the layers around it. */
export interface SourceSlice {
  /** Every character is a byte of UTF-8, even where decoded. */
  text: string;
  layers: readonly Layer[];
  /** The offset of a character in the file. */
  offsetInFile(offset: number): number;
  results: Scan;
  /** Whether text in it has to be escaped. */
  isHtml: boolean;
  /** Whether the file is a page. In others, code is between backticks. */
  isPage: boolean;
  /** What embeds without `as` show. */
  shows: EmbedAs;
  lang?: string | undefined;
}

// No page needs more, and each takes time.
const maxLayers = 6;

export const slice = (part: SourceSlice, { start, end }: Range): SourceSlice => ({
  ...part,
  text: part.text.slice(start, end),
  offsetInFile: (offset) => part.offsetInFile(start + offset),
});

/** Decodes a part through one more layer. Too many leave nothing of it. */
export function decodeThrough(part: SourceSlice, layer: Layer): SourceSlice {
  if (part.layers.length === maxLayers) return { ...part, text: '' };
  const { escaped, decode } = layers[layer];
  // Where the distance of the text from its source changes.
  const starts = [0];
  const origins = [0];
  let shift = 0;
  const text = part.text.replace(escaped, (found: string, index: number) => {
    const character = decode(found);
    if (character === found) return found;
    origins.push(index, index + found.length);
    starts.push(index - shift, index - shift + character.length);
    shift += found.length - character.length;
    return character;
  });
  const at = (offset: number) => {
    let low = 0;
    for (let high = starts.length; high - low > 1; ) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return part.offsetInFile((origins[low] ?? 0) + offset - (starts[low] ?? 0));
  };
  return { ...part, text, layers: [...part.layers, layer], offsetInFile: at, isHtml: false };
}

/** Where embeds begin that stay out of the result. */
export function startsIn(part: SourceSlice, look: (aside: SourceSlice) => void): number[] {
  const found: Scan = { ...part.results, embeds: [], faults: [] };
  look({ ...part, results: found });
  return [...found.embeds, ...found.faults].map(({ start }) => start);
}

export function reportIncomplete(part: SourceSlice, start: number, flaw: Incomplete, outer?: number): void {
  if (isElement(part)) part.results.faults.push({ start, flaw, outer });
  else part.results.warnings.push({ start, flaw });
}

/** Whether what looks like an embed is one. Other files and parts of pages may hold excerpts. */
export const isElement = ({ isPage, layers }: SourceSlice): boolean => isPage && layers.length === 0;
