import { readFileSync } from 'node:fs';
import { mayContainEmbed } from '../embed/element.ts';
import { isLargeBinary, overlaps, piecesOf, readUnlessLarge } from '../files/read.ts';
import type { SiteFile } from '../output/site-files.ts';

/**
 * Reads a file that may hold an embed. A large file is read in pieces, and whole only if one of them mentions
 * the element.
 *
 * @returns `undefined` for a large file without an embed.
 */
export function readEmbedding({ file, name }: SiteFile): Buffer | undefined {
  const bytes = readUnlessLarge(file);
  if (bytes) return bytes;

  if (isLargeBinary(file)) return undefined;
  if (!piecesOf(file, overlaps.embed).some((piece) => mayContainEmbed(piece.toString('latin1'))))
    return undefined;

  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`${name} contains an embed and could not be read: ${(error as Error).message}`);
  }
}
