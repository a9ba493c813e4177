import zlib from 'node:zlib';

/** A compression, such as gzip, whose files lie beside the originals for servers to send. */
export interface CompressionFormat {
  decode(bytes: Buffer, options: { maxOutputLength: number }): Buffer;
  encode(bytes: Buffer, options: object, done: (error: Error | null, encoded: Buffer) => void): void;
  /** Options for the smallest result, even if slow: a file is compressed once, and sent many times. */
  options: object;
}

const { BROTLI_PARAM_MODE, BROTLI_MODE_TEXT, ZSTD_c_compressionLevel } = zlib.constants;

/** The formats by the suffix that a compressed file adds to the name of its original. */
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
