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
  const pieces: Buffer[] = [];
  const places: Range[] = [];
  let read = 0;
  let written = 0;
  for (const { start, end, bytes } of replacements) {
    pieces.push(file.subarray(read, start), bytes);
    const placedAt = written + start - read;
    written = placedAt + bytes.length;
    places.push({ start: placedAt, end: written });
    read = end;
  }
  pieces.push(file.subarray(read));
  return { file: Buffer.concat(pieces), places };
}

/** The line of a byte of a file, counted from 1. */
export function lineAt(file: Buffer, offset: number): number {
  let line = 1;
  for (let at = file.indexOf('\n'); at !== -1 && at < offset; at = file.indexOf('\n', at + 1)) line += 1;
  return line;
}
