import { readFileSync } from 'node:fs';
import { mayContainEmbed } from '../embed/element.ts';
import { isLargeBinary, overlaps, piecesOf, withFile } from '../files/read.ts';
import type { SiteFile } from '../output/site-files.ts';

/**
 * Lends the bytes of a file that may hold an embed to a function, which must not keep them. A large file is
 * read in pieces, and whole only if one of them mentions the element.
 *
 * @param use gets `undefined` for a large file without an embed.
 * @returns the result of the function.
 */
export function withEmbeddingFile<T>(file: SiteFile, use: (bytes: Buffer | undefined) => T): T {
  return withFile(file.file, (bytes) => use(bytes ?? readLargeEmbedding(file)));
}

function readLargeEmbedding({ file, name }: SiteFile): Buffer | undefined {
  if (isLargeBinary(file)) return undefined;
  const mentions = (piece: Buffer) => mayContainEmbed(piece.toString('latin1'));
  if (!piecesOf(file, overlaps.embed).some(mentions)) return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`${name} contains an embed and could not be read: ${(error as Error).message}`);
  }
}
