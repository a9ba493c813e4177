import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs';

const KiB = 1024;

const largeSize = 8 * 1024 * KiB;

// Small: a piece as a string is soon collected as garbage.
const readSize = 64 * KiB;

// People write no text of that size.
const binarySize = 64 * 1024 * KiB;

// File systems have a coarser clock than `Date.now()`.
const clockGranularity = 50;

/** The bytes that two pieces share: more than what is searched for can take. */
export const overlaps: {
  key: number;
  embed: number;
  revision: number;
} = { key: 64 * KiB, embed: KiB, revision: 8 * KiB };

// For all small files: garbage outside of the heap is collected late.
const scratchBuffer = Buffer.allocUnsafeSlow(64 * KiB);

/** Reads a file; `undefined` for a large one, which is read in pieces. Valid until the next file is read. */
export function readUnlessLarge(file: string): Buffer<ArrayBuffer> | undefined {
  const descriptor = openSync(file, 'r');
  try {
    const { size } = fstatSync(descriptor);
    return size > largeSize ? undefined : readOpened(descriptor, size);
  } finally {
    closeSync(descriptor);
  }
}

/** With its size, for which readFileSync would ask again. Valid until the next file is read. */
export function readOpened(descriptor: number, size: number): Buffer<ArrayBuffer> {
  const bytes = size > scratchBuffer.length ? Buffer.allocUnsafe(size) : scratchBuffer;
  let length = 0;
  for (let read = -1; read !== 0 && length < size; length += read) {
    read = readSync(descriptor, bytes, length, size - length, length);
  }
  return bytes.subarray(0, length);
}

/** Too large, and too unlike text, to be searched for embeds. */
export function isLargeBinary(file: string): boolean {
  if (statSync(file).size <= binarySize) return false;
  const [start] = piecesOf(file, 0);
  return start?.includes(0) ?? false;
}

/** Reads a file of any size. A piece is valid until the next, and begins with the end of the one before. */
export function* piecesOf(file: string, overlap: number): Generator<Buffer<ArrayBuffer>, void, unknown> {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.allocUnsafe(readSize + overlap);
    for (let kept = 0; ; ) {
      const read = readSync(descriptor, buffer, kept, readSize, null);
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

export const statsOf = (file: string): Stats | undefined => statSync(file, { throwIfNoEntry: false });

/** Whether a file was written since a time, in milliseconds since the epoch, or just before it. */
export function wasWrittenAfter(file: Stats | undefined, since: number): boolean {
  // A copy may keep the other time of its original.
  return file !== undefined && file.ctimeMs >= since - clockGranularity;
}

export const hasErrorCode = (error: unknown, code: string): boolean =>
  (error as NodeJS.ErrnoException | undefined)?.code === code;
