import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

const KiB = 1024;
const largeSize = 8 * 1024 * KiB;
// Small enough that a piece as a string is soon collected as garbage.
const pieceSize = 64 * KiB;
// People write no text of that size.
const binarySize = 64 * 1024 * KiB;
// File systems keep times by a coarser clock than `Date.now()`.
const clockGranularity = 50;
const turnMilliseconds = 10;

/** How many bytes two pieces have in common: more than what is searched for can take. */
export const overlaps = { key: 64 * KiB, embed: KiB, revision: 8 * KiB };

// Shared by all small files: a buffer for each is garbage outside of the heap, which is collected late.
const room = Buffer.allocUnsafeSlow(64 * KiB);

/** Reads a file as a whole; `undefined` for a large one, which is read in pieces. Valid until the next file is read. */
export function readUnlessLarge(file: string): Buffer | undefined {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    return size > largeSize ? undefined : readOpened(descriptor, size);
  } finally {
    closeSync(descriptor);
  }
}

/** Reads an open file of a known size, which readFileSync would ask for again. Valid until the next file is read. */
export function readOpened(descriptor: number, size: number): Buffer {
  const bytes = size > room.length ? Buffer.allocUnsafe(size) : room;
  let length = 0;
  for (let read = -1; read !== 0 && length < size; length += read) {
    read = readSync(descriptor, bytes, length, size - length, length);
  }
  return bytes.subarray(0, length);
}

/** Whether a file is so large, and so unlike text, that it is not searched for embeds. */
export function isLargeBinary(file: string): boolean {
  if (statSync(file).size <= binarySize) return false;
  const [start] = piecesOf(file, 0);
  return start?.includes(0) ?? false;
}

/** Reads a file of any size. A piece is valid until the next one, and begins with the last bytes of the one before. */
export function* piecesOf(file: string, overlap: number): Generator<Buffer> {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.allocUnsafe(pieceSize + overlap);
    for (let kept = 0; ; ) {
      const read = readSync(descriptor, buffer, kept, pieceSize, null);
      if (read === 0) return;
      const piece = buffer.subarray(0, kept + read);
      yield piece;
      kept = Math.min(overlap, piece.length);
      piece.copyWithin(0, piece.length - kept);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** `undefined` without a file. */
export function statsOf(file: string): Stats | undefined {
  return statSync(file, { throwIfNoEntry: false });
}

/** Whether a file exists and was written since a time, in milliseconds since the epoch, or just before it. */
export function isSince(file: Stats | undefined, since: number): boolean {
  // A copy may have the time of its content from the original.
  return file !== undefined && file.ctimeMs >= since - clockGranularity;
}

/** Synchronous work on files is several times as fast. Now and then, the network gets its turn. */
export async function inTurns<T>(items: readonly T[], work: (item: T) => void) {
  let turnEnds = performance.now() + turnMilliseconds;
  for (const item of items) {
    work(item);
    if (performance.now() < turnEnds) continue;
    await nextTurn();
    turnEnds = performance.now() + turnMilliseconds;
  }
}
