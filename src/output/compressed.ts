import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { statsOf } from '../files/read.ts';
import { hashOf } from '../record/manifest.ts';
import type { SiteFile } from './site-files.ts';

// Files that hold a page: compressed beside it, of another name, or in a copy of the output.

interface CompressionFormat {
  decode(bytes: Buffer, options: { maxOutputLength: number }): Buffer;
  encode(bytes: Buffer, options: object, done: (error: Error | null, encoded: Buffer) => void): void;
  options: object;
}

const { BROTLI_PARAM_MODE, BROTLI_MODE_TEXT, ZSTD_c_compressionLevel } = zlib.constants;

/** What servers send instead of a file. As small as possible: it is sent many times. */
export const compressionFormats: Readonly<Record<string, CompressionFormat>> = {
  '.gz': { decode: zlib.gunzipSync, encode: zlib.gzip, options: { level: 9 } },
  '.br': {
    decode: zlib.brotliDecompressSync,
    encode: zlib.brotliCompress,
    options: { params: { [BROTLI_PARAM_MODE]: BROTLI_MODE_TEXT } },
  },
  '.zst': {
    decode: zlib.zstdDecompressSync,
    encode: zlib.zstdCompress,
    options: { params: { [ZSTD_c_compressionLevel]: 19 } },
  },
};

const compressionFormatOf = ({ file }: SiteFile) => compressionFormats[extname(file).toLowerCase()];

export const withoutSuffix = (compressed: string): string => compressed.slice(0, -extname(compressed).length);

// How much longer a page may have been when it was copied.
const copySizeSlack = 4 * 1024 * 1024;

/** `undefined` if a copy holds far too much, or cannot be decoded. */
export function hashOfCopy(copy: SiteFile, pages: Buffer[]): string | undefined {
  const maxOutputLength = Math.max(...pages.map(({ length }) => length)) + copySizeSlack;
  const size = statsOf(copy.file)?.size;
  const encoding = compressionFormatOf(copy);
  if (size === undefined || (!encoding && size > maxOutputLength)) return undefined;
  const bytes = readFileSync(copy.file);
  try {
    return hashOf(encoding?.decode(bytes, { maxOutputLength }) ?? bytes);
  } catch {
    return undefined;
  }
}

export async function pageCopyOf(page: Buffer, copy: SiteFile): Promise<Buffer<ArrayBufferLike>> {
  const { encode, options } = compressionFormatOf(copy) ?? {};
  // Without the length of the input, Zstandard would set aside 100 MB.
  return encode ? promisify(encode)(page, { ...options, pledgedSrcSize: page.length }) : page;
}

/** Without a subject, which is the file. */
export const notACopy = (copy: SiteFile, page: string) =>
  `${compressionFormatOf(copy) ? 'does not decompress to' : 'is not a copy of'} ${page}`;
