import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';

const KiB = 1024;

/** A larger file is read in pieces. */
const largeSize = 8 * 1024 * KiB;

/** The bytes of all small files in turn. A buffer for each would be garbage outside of the heap, which is collected late. */
const scratchBuffer = Buffer.allocUnsafeSlow(64 * KiB);

/** Whether a function has borrowed the scratch buffer. */
let isScratchBufferLent = false;

/**
 * Lends the bytes of a file to a synchronous function. The function must not keep them: small files share a buffer, which
 * the next file overwrites.
 *
 * @param use gets `undefined` for a large file, which `piecesOf` reads.
 * @returns the result of the function.
 */
export function withFile<T>(file: string, use: (bytes: Buffer | undefined) => T): T {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    return size > largeSize ? use(undefined) : withOpenedFile(descriptor, size, use);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Lends the bytes of an open file to a synchronous function, which must not keep them.
 *
 * @param size the number of bytes to read at most. `readFileSync` would ask for the size again.
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

/** The size of a piece. A small piece, made a string, is soon collected as garbage. */
const pieceSize = 64 * KiB;

/** The bytes that two pieces of a file share: more than what is searched for can take. */
export const overlaps: { key: number; embed: number; revision: number } = {
  key: 64 * KiB,
  embed: KiB,
  revision: 8 * KiB,
};

/**
 * Reads a file of any size in pieces. A piece begins with the end of the previous piece, and is overwritten by the next one.
 *
 * @param overlap the number of bytes that two pieces share.
 */
export function* piecesOf(file: string, overlap: number): Generator<Buffer, void, unknown> {
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

/** People write no text of this size. */
const largeBinarySize = 64 * 1024 * KiB;

/** Whether a file is too large, and too unlike text, to be searched for embeds. */
export function isLargeBinary(file: string): boolean {
  if (statSync(file).size <= largeBinarySize) return false;
  const [start] = piecesOf(file, 0);
  return start?.includes(0) ?? false;
}

/** The size, times and type of a file; `undefined` if the file does not exist. */
export const statsOf = (file: string): Stats | undefined => statSync(file, { throwIfNoEntry: false });

/** The clocks of file systems are coarser than `Date.now()`. */
const clockGranularityMilliseconds = 50;

/** Whether a file was written since a time, in milliseconds since the epoch, or just before that time. */
export function wasWrittenAfter(file: Stats | undefined, since: number): boolean {
  // A copy may keep the modification time of its original, but not the change time.
  return file !== undefined && file.ctimeMs >= since - clockGranularityMilliseconds;
}

/** Whether an error of the file system has this code, such as `ENOENT`. */
export const hasErrorCode = (error: unknown, code: string): boolean =>
  (error as NodeJS.ErrnoException | undefined)?.code === code;
