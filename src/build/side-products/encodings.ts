import { extname } from 'node:path';
import { promisify } from 'node:util';
import zlib from 'node:zlib';

interface Encoding {
  /** @throws if the bytes are not in this encoding, or hold more than `maxOutputLength` bytes. */
  decode(bytes: Buffer, options: { maxOutputLength: number }): Buffer;
  /** As small as possible: a file is written once, and sent many times. */
  encode(bytes: Buffer): Promise<Buffer>;
}

const [gzip, brotli, zstd] = [zlib.gzip, zlib.brotliCompress, zlib.zstdCompress].map(
  (compress) => promisify(compress) as (bytes: Buffer, options: object) => Promise<Buffer>,
) as [Compress, Compress, Compress];
type Compress = (bytes: Buffer, options: object) => Promise<Buffer>;

const { BROTLI_PARAM_MODE, BROTLI_MODE_TEXT, ZSTD_c_compressionLevel } = zlib.constants;

/** The files that servers send in the place of the file beside them, by what follows its name. */
const encodings = {
  '.gz': { decode: zlib.gunzipSync, encode: (bytes) => gzip(bytes, { level: 9 }) },
  '.br': {
    decode: zlib.brotliDecompressSync,
    encode: (bytes) => brotli(bytes, { params: { [BROTLI_PARAM_MODE]: BROTLI_MODE_TEXT } }),
  },
  '.zst': {
    decode: zlib.zstdDecompressSync,
    // Told how long the input is: it would set aside 100 MB for each file.
    encode: (bytes) =>
      zstd(bytes, { pledgedSrcSize: bytes.length, params: { [ZSTD_c_compressionLevel]: 19 } }),
  },
} as const satisfies Record<string, Encoding>;

export type Suffix = keyof typeof encodings;

export const suffixes = Object.keys(encodings) as Suffix[];

/** The suffix of a compressed file. */
export function suffixOf(name: string): Suffix | undefined {
  const suffix = extname(name).toLowerCase();
  return suffix in encodings ? (suffix as Suffix) : undefined;
}

/**
 * What a compressed file holds; `undefined` if it is malformed or holds more than `maxLength` bytes. It never takes
 * more memory than that.
 */
export function decompress(bytes: Buffer, suffix: Suffix, maxLength: number): Buffer | undefined {
  try {
    return encodings[suffix].decode(bytes, { maxOutputLength: maxLength + 1 });
  } catch {
    return undefined;
  }
}

export function compress(bytes: Buffer, suffix: Suffix): Promise<Buffer> {
  return encodings[suffix].encode(bytes);
}
