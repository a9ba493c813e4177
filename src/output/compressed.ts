import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { statsOf } from '../files/read.ts';
import { hashOf } from '../record/hash-of.ts';
import { type CompressionFormat, compressionFormats } from './compression-formats.ts';
import type { SiteFile } from './site-files.ts';

const formatOfFile = ({ file }: SiteFile): CompressionFormat | undefined =>
  compressionFormats[extname(file).toLowerCase()];

/** The name of the original: `index.html` for `index.html.gz`. */
export const withoutSuffix = (compressed: string): string => compressed.slice(0, -extname(compressed).length);

/** How many bytes a copy may hold beyond its page, which may have been longer. With more, it is no copy. */
const copySizeSlack = 4 * 1024 * 1024;

/**
 * Hashes what a copy of a page (a compressed file, or one with the same bytes) holds when decompressed.
 *
 * @param pages the versions of the page that the copy may hold; their size limits how much is decompressed
 * @returns `undefined` if the copy is missing, holds far more than a page, or cannot be decompressed
 */
export function hashOfCopy(copy: SiteFile, pages: readonly Buffer[]): string | undefined {
  const bytes = readCopy(copy, Math.max(...pages.map(({ length }) => length)));
  return bytes && hashOf(bytes);
}

/**
 * Reads what a copy of a page holds when decompressed.
 *
 * @param pageSize the size of the page in bytes, which limits how much is decompressed
 * @returns `undefined` if the copy is missing, holds far more than the page, or cannot be decompressed
 */
export function readCopy(copy: SiteFile, pageSize: number): Buffer | undefined {
  const maxOutputLength = pageSize + copySizeSlack;
  const size = statsOf(copy.file)?.size;
  const format = formatOfFile(copy);
  if (size === undefined || (!format && size > maxOutputLength)) return undefined;
  const bytes = readFileSync(copy.file);
  try {
    return format?.decode(bytes, { maxOutputLength }) ?? bytes;
  } catch {
    return undefined;
  }
}

/** The bytes to write to a copy of a page: those of the page, compressed if the copy's name says so. */
export async function pageCopyOf(page: Buffer, copy: SiteFile): Promise<Buffer> {
  const format = formatOfFile(copy);
  if (!format) return page;
  // The length of the input is passed, since Zstandard would set aside 100 MB without it.
  return promisify(format.encode)(page, { ...format.options, pledgedSrcSize: page.length });
}

/** Why a copy is not overwritten, as the end of a sentence that begins with the copy's name. */
export const describeMismatch = (copy: SiteFile, page: string): string =>
  `${formatOfFile(copy) ? 'does not decompress to' : 'is not a copy of'} ${page}`;
