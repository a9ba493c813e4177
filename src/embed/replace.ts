import type { Range } from './html-scanner.ts';

/** Bytes that replace others. */
export interface Replacement extends Range {
  bytes: Buffer;
}

/**
 * Replaces parts of a file; every other byte stays as it was.
 *
 * @param replacements in the order of the file, without overlap.
 * @returns the new file, and the place of each replacement in it.
 */
export function replace(
  file: Buffer,
  replacements: readonly Replacement[],
): { file: Buffer; places: Range[] } {
  let { length } = file;
  for (const { start, end, bytes } of replacements) length += bytes.length - (end - start);
  // Copied piece by piece: a view of each piece of a large site would take longer than copying its bytes.
  const replaced = Buffer.allocUnsafe(length);
  const places: Range[] = [];
  let read = 0;
  let written = 0;
  for (const { start, end, bytes } of replacements) {
    const placedAt = written + file.copy(replaced, written, read, start);
    written = placedAt + bytes.copy(replaced, placedAt);
    places.push({ start: placedAt, end: written });
    read = end;
  }
  file.copy(replaced, written, read);
  return { file: replaced, places };
}

/** Returns a function that tells the line of a byte of a file, counted from 1. The file is read once, when first asked. */
export function lineFinder(file: Buffer): (offset: number) => number {
  let ends: number[] | undefined;
  return (offset) => {
    ends ??= lineEnds(file);
    let low = 0;
    for (let high = ends.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

function lineEnds(file: Buffer): number[] {
  const ends: number[] = [];
  for (let at = file.indexOf('\n'); at !== -1; at = file.indexOf('\n', at + 1)) ends.push(at);
  return ends;
}
