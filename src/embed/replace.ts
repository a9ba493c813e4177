import type { Range } from './scan.ts';

/** Bytes that take the place of others. */
export interface Replacement extends Range {
  bytes: Buffer;
}

/**
 * Replaces parts of a page; every other byte stays as it was.
 *
 * @param replacements in the order of the page, without overlap.
 * @returns the new page, and where in it each replacement stands.
 */
export function replace(
  page: Buffer,
  replacements: readonly Replacement[],
): { page: Buffer; places: Range[] } {
  const pieces: Buffer[] = [];
  const places: Range[] = [];
  let read = 0;
  let written = 0;
  for (const { start, end, bytes } of replacements) {
    pieces.push(page.subarray(read, start), bytes);
    const placedAt = written + start - read;
    written = placedAt + bytes.length;
    places.push({ start: placedAt, end: written });
    read = end;
  }
  pieces.push(page.subarray(read));
  return { page: Buffer.concat(pieces), places };
}
