import { overlaps, piecesOf } from '../../files/read.ts';

/** The encodings besides UTF-8 that a file names in its first bytes. */
const byteOrderMarks: readonly [mark: Buffer, encoding: string][] = [
  [Buffer.from([0xff, 0xfe]), 'utf-16le'],
  [Buffer.from([0xfe, 0xff]), 'utf-16be'],
];

/**
 * Reads a file of any size as text, in parts that overlap, so that each match of a search is whole in one of
 * them. A file is read as UTF-16 if it says so, else as UTF-8, and if it is not that, as Latin-1 as well.
 */
export const textsOf = (file: string): Generator<string, void, unknown> =>
  decodePieces(piecesOf(file, overlaps.revision));

/** Reads the bytes of a file as text, as {@link textsOf} does. */
export const textsOfBytes = (bytes: Buffer): Generator<string, void, unknown> =>
  decodePieces(cutBytes(bytes));

const bytesPerPiece = 64 * 1024;

function* cutBytes(bytes: Buffer): Generator<Buffer, void, unknown> {
  for (let start = 0; start < bytes.length; start += bytesPerPiece) {
    yield bytes.subarray(Math.max(0, start - overlaps.revision), start + bytesPerPiece);
  }
}

function* decodePieces(pieces: Iterable<Buffer>): Generator<string, void, unknown> {
  let decoder: TextDecoder | undefined;
  let unfinished: string | undefined;
  for (const piece of pieces) {
    const isStart = decoder === undefined;
    decoder ??= new TextDecoder(byteOrderMarks.find(([mark]) => piece.indexOf(mark) === 0)?.[1]);
    if (unfinished !== undefined) yield unfinished.replace(cutEnd, '');

    const text = decoder.decode(piece);
    unfinished = isStart ? text : text.replace(cutStart, '');
    if (isMisread(unfinished)) yield piece.toString('latin1');
  }
  if (unfinished !== undefined) yield unfinished;
}

/** What a piece may have of a word, or of an escaped character, whose other part is in the piece before it or after it. */
const cutStart = /^[^\s<>"',.]{0,256}/;
const cutEnd = /[^\s<>"',.]{0,256}$/;

/** Whether a text has bytes that are no characters of its encoding. Those at the ends may just be cut off. */
const isMisread = (text: string): boolean => text.slice(4, -4).includes('\uFFFD');
