import type { Transform } from 'node:stream';
import zlib from 'node:zlib';

/** A compression, such as gzip, whose files lie beside the originals for servers to send. */
export interface CompressionFormat {
  /** Decompresses bytes at once: many times faster than a stream, for the small files that most are. */
  decode(bytes: Buffer, options: { maxOutputLength: number }): Buffer;
  createDecoder(options: { chunkSize: number }): Transform;
  encode(bytes: Buffer, options: object, done: (error: Error | null, encoded: Buffer) => void): void;
  /** Options for the smallest result, even if slow: a file is compressed once, and sent many times. */
  options: object;
}

const { BROTLI_PARAM_MODE, BROTLI_MODE_TEXT, ZSTD_c_compressionLevel } = zlib.constants;

export const gzip: CompressionFormat = {
  decode: zlib.gunzipSync,
  createDecoder: zlib.createGunzip,
  encode: zlib.gzip,
  options: { level: 9 },
};

export const brotli: CompressionFormat = {
  decode: zlib.brotliDecompressSync,
  createDecoder: zlib.createBrotliDecompress,
  encode: zlib.brotliCompress,
  options: { params: { [BROTLI_PARAM_MODE]: BROTLI_MODE_TEXT } },
};

export const zstandard: CompressionFormat = {
  decode: zlib.zstdDecompressSync,
  createDecoder: zlib.createZstdDecompress,
  encode: zlib.zstdCompress,
  options: { params: { [ZSTD_c_compressionLevel]: 19 } },
};

/** The formats by the suffix that a compressed file adds to the name of its original. */
export const compressionFormats: Readonly<Record<string, CompressionFormat>> = {
  '.gz': gzip,
  '.br': brotli,
  '.zst': zstandard,
};
