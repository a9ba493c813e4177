import { createReadStream, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { createInflateRaw } from 'node:zlib';
import { firstBytesOf, overlaps, piecesOf, statsOf } from '../files/read.ts';
import { brotli, type CompressionFormat, gzip, zstandard } from './compression-formats.ts';

/** Pieces are much larger than the end that two of them share. */
const unpackedSize = 1024 * 1024;

/** The bytes with which compressed files begin, whatever their names. Brotli has none. */
const signatures: [bytes: Buffer, format: CompressionFormat][] = [
  [Buffer.from([0x1f, 0x8b, 0x08]), gzip],
  [Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), zstandard],
];

/** Begins a ZIP archive, and each file in one. Word processors and Java use such archives, too. */
const zipSignature = Buffer.from([0x50, 0x4b, 0x03, 0x04]);

const startsWith = (bytes: Buffer, signature: Buffer) =>
  bytes.subarray(0, signature.length).equals(signature);

const formatOf = (name: string, start: Buffer): CompressionFormat | undefined =>
  signatures.find(([signature]) => startsWith(start, signature))?.[1] ??
  (extname(name).toLowerCase() === '.br' ? brotli : undefined);

/** Whether a file is compressed: by its first bytes or, for Brotli, by its extension. */
export const isPacked = (name: string, start: Buffer): boolean =>
  startsWith(start, zipSignature) || formatOf(name, start) !== undefined;

/**
 * Decompresses a file in pieces, each of which starts with the end of the previous one. Of a ZIP archive, each file is
 * decompressed. What is compressed once more inside stays so, and damaged bytes end the file that they are in.
 */
export async function* unpackedPiecesOf(file: string): AsyncGenerator<Buffer, void, unknown> {
  const start = firstBytesOf(file);
  if (startsWith(start, zipSignature)) {
    for (const offset of deflatedIn(file)) yield* decodeFrom(file, createInflateRaw, offset);
    return;
  }
  const { decode, createDecoder } = formatOf(file, start) ?? brotli;
  if ((statsOf(file)?.size ?? 0) > unpackedSize) return yield* decodeFrom(file, createDecoder);
  try {
    yield decode(readFileSync(file), { maxOutputLength: 16 * unpackedSize });
  } catch {
    // Damaged, or longer than that: a stream also yields what comes before the damage.
    yield* decodeFrom(file, createDecoder);
  }
}

async function* decodeFrom(
  file: string,
  createDecoder: CompressionFormat['createDecoder'],
  start = 0,
): AsyncGenerator<Buffer, void, unknown> {
  const decoder = createDecoder({ chunkSize: unpackedSize });
  const source = createReadStream(file, { start });
  source.on('error', (error) => decoder.destroy(error));
  let overlap = Buffer.alloc(0);
  try {
    for await (const chunk of source.pipe(decoder)) {
      const piece = Buffer.concat([overlap, chunk]);
      yield piece;
      overlap = Buffer.from(piece.subarray(-overlaps.key));
    }
  } catch {
    // The bytes before the damage have been yielded, and nobody else can read those after it, either.
  } finally {
    source.destroy();
  }
}

/** The size of the fixed part of the header of a file in a ZIP archive. */
const zipHeaderSize = 30;
/** Two pieces share less than a header, so that none is found twice. */
const zipOverlap = zipHeaderSize - 1;
/** The number of the compression that nearly all ZIP archives have. Files without compression are found as they are. */
const deflateMethod = 8;

/** Finds where the deflated files of a ZIP archive begin, without its directory, which may be cut off. */
function* deflatedIn(file: string): Generator<number, void, unknown> {
  let nextStart = 0;
  for (const piece of piecesOf(file, zipOverlap)) {
    const pieceStart = Math.max(0, nextStart - zipOverlap);
    nextStart = pieceStart + piece.length;
    for (let at = piece.indexOf(zipSignature); at !== -1; at = piece.indexOf(zipSignature, at + 1)) {
      // A header at the end of a piece is whole in the next one.
      if (at + zipHeaderSize > piece.length) break;
      if (piece.readUInt16LE(at + 8) !== deflateMethod) continue;
      const nameAndExtra = piece.readUInt16LE(at + 26) + piece.readUInt16LE(at + 28);
      yield pieceStart + at + zipHeaderSize + nameAndExtra;
    }
  }
}
