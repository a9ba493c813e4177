import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';

const MiB = 1024 * 1024;
const largeSize = 8 * MiB;
const pieceSize = MiB;
// More than any spelling of a key or of an embed's name takes.
const overlap = 128 * 1024;
// Without text of that size there is no way to find out but to read it.
const binarySize = 64 * MiB;
const binaryProbe = 64 * 1024;

/** Reads a file as a whole; `undefined` for a large one, which is searched in pieces with {@link searchFile}. */
export function readUnlessLarge(file: string): Buffer | undefined {
  return withFile(file, (descriptor, size) => (size > largeSize ? undefined : readFileSync(descriptor)));
}

/** Whether a file is so large, and so unlike text, that no embed is looked for in it. */
export function isLargeBinary(file: string): boolean {
  return withFile(file, (descriptor, size) => {
    if (size <= binarySize) return false;
    const start = Buffer.alloc(binaryProbe);
    return start.subarray(0, readSync(descriptor, start, 0, binaryProbe, 0)).includes(0);
  });
}

/**
 * Searches a file of any size, a piece at a time, so that memory does not depend on what lies in `public/`.
 *
 * @param find looks at one piece. What it searches for must be shorter than the overlap of two pieces.
 */
export function searchFile(file: string, find: (piece: Buffer) => boolean): boolean {
  return withFile(file, (descriptor) => {
    const buffer = Buffer.allocUnsafe(pieceSize + overlap);
    for (let kept = 0; ; ) {
      const read = readSync(descriptor, buffer, kept, pieceSize, null);
      if (read === 0) return false;
      const piece = buffer.subarray(0, kept + read);
      if (find(piece)) return true;
      kept = Math.min(overlap, piece.length);
      piece.copyWithin(0, piece.length - kept);
    }
  });
}

function withFile<T>(file: string, work: (descriptor: number, size: number) => T): T {
  const descriptor = openSync(file, 'r');
  try {
    return work(descriptor, fstatSync(descriptor).size);
  } finally {
    closeSync(descriptor);
  }
}
