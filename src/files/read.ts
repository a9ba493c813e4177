import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';

const KiB = 1024;

/** The most bytes of a file that is read at once; a larger file is read in pieces. */
const largeSize = 8 * 1024 * KiB;

/** Holds one small file after another: a buffer for each would be garbage off the heap, freed late. */
const scratchBuffer = Buffer.allocUnsafeSlow(64 * KiB);

/** Whether a function uses the scratch buffer now, so that a nested call needs a buffer of its own. */
let isScratchBufferLent = false;

/**
 * Lends the bytes of a file to a synchronous function. The function must not keep them: small files share a buffer, which
 * the next file overwrites.
 *
 * @param use gets `undefined` for a large file, which `piecesOf` reads, and what the file system says of the
 *   file just before it is read.
 * @returns the result of the function.
 */
export function withFile<T>(file: string, use: (bytes: Buffer | undefined, stats: Stats) => T): T {
  const descriptor = openSync(file, 'r');
  try {
    const stats = fstatSync(descriptor);
    if (stats.size > largeSize) return use(undefined, stats);
    return withOpenedFile(descriptor, stats.size, (bytes) => use(bytes, stats));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Lends the bytes of an open file to a synchronous function, which must not keep them.
 *
 * @param size the most bytes to read. `readFileSync` is not used, as it would ask for the size again.
 */
export function withOpenedFile<T>(descriptor: number, size: number, use: (bytes: Buffer) => T): T {
  if (size > scratchBuffer.length || isScratchBufferLent) {
    return use(readInto(Buffer.allocUnsafe(size), descriptor, size));
  }
  isScratchBufferLent = true;
  try {
    return use(readInto(scratchBuffer, descriptor, size));
  } finally {
    isScratchBufferLent = false;
  }
}

/** Reads from the start of a file, until its end or until `size` bytes. */
function readInto(buffer: Buffer, descriptor: number, size: number): Buffer {
  let length = 0;
  for (let read = -1; read !== 0 && length < size; length += read) {
    read = readSync(descriptor, buffer, length, size - length, length);
  }
  return buffer.subarray(0, length);
}

/** The bytes of a piece: few, so that strings made of a piece are soon collected as garbage. */
const pieceSize = 64 * KiB;

/** The bytes of a piece where no string is made of it: a search of few large pieces is faster. */
const largePieceSize = 1024 * KiB;

/** A buffer for `piecesOf` that makes a search fast. It can serve one file after another. */
export const largePieceBuffer = (overlap: number): Buffer => Buffer.allocUnsafeSlow(largePieceSize + overlap);

/** How many bytes two pieces share: more than the longest match, so that none is cut between pieces. */
export const overlaps: { key: number; embed: number; revision: number } = {
  key: 64 * KiB,
  embed: KiB,
  revision: 8 * KiB,
};

/**
 * Reads a file of any size in pieces. Each starts with the end of the previous one, and overwrites it.
 *
 * @param overlap the number of bytes that two pieces share.
 * @param buffer holds a piece with the overlap.
 */
export function* piecesOf(
  file: string,
  overlap: number,
  buffer: Buffer = Buffer.allocUnsafe(pieceSize + overlap),
): Generator<Buffer, void, unknown> {
  const descriptor = openSync(file, 'r');
  try {
    for (let kept = 0; ; ) {
      const read = readSync(descriptor, buffer, kept, buffer.length - overlap, null);
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

/** Reads the first bytes of a file. */
export function firstBytesOf(file: string): Buffer {
  const [start] = piecesOf(file, 0);
  return start ?? Buffer.alloc(0);
}

/** The most bytes of a file that is always searched as text: people write no text of this size. */
const largeBinarySize = 64 * 1024 * KiB;

/** Whether a file is too large, and too unlike text, to be searched for embeds. */
export function isLargeBinary(file: string): boolean {
  if (statSync(file).size <= largeBinarySize) return false;
  return firstBytesOf(file).includes(0);
}

/** The size, times and type of a file; `undefined` if the file does not exist. */
export const statsOf = (file: string): Stats | undefined => statSync(file, { throwIfNoEntry: false });

/** Whether an error of the file system has this code, such as `ENOENT`. */
export const hasErrorCode = (error: unknown, code: string): boolean =>
  (error as NodeJS.ErrnoException | undefined)?.code === code;
