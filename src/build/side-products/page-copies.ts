import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { extname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliDecompressSync,
  constants,
  gunzipSync,
  gzip,
  zstdCompress,
  zstdDecompressSync,
} from 'node:zlib';
import { shownPath } from '../../files/paths.ts';
import { isSince, statsOf } from '../../files/read.ts';
import { hashOf, type Manifest, type ManifestFile } from '../../record/manifest.ts';
import type { SiteFile } from '../scan-site.ts';

// Files that hold a page: compressed beside it, of another name, or in a copy of the output.

interface Encoding {
  decode(bytes: Buffer, options: { maxOutputLength: number }): Buffer;
  encode(bytes: Buffer): Promise<Buffer>;
}

const { BROTLI_PARAM_MODE, BROTLI_MODE_TEXT, ZSTD_c_compressionLevel } = constants;
const [gzipped, brotli, zstd] = [promisify(gzip), promisify(brotliCompress), promisify(zstdCompress)];

/** What servers send in the place of a file: as small as possible, since it is sent many times. */
const encodings: Readonly<Record<string, Encoding>> = {
  '.gz': { decode: gunzipSync, encode: (bytes) => gzipped(bytes, { level: 9 }) },
  '.br': {
    decode: brotliDecompressSync,
    encode: (bytes) => brotli(bytes, { params: { [BROTLI_PARAM_MODE]: BROTLI_MODE_TEXT } }),
  },
  '.zst': {
    decode: zstdDecompressSync,
    // With the length of the input: it would set aside 100 MB for each file.
    encode: (bytes) =>
      zstd(bytes, { pledgedSrcSize: bytes.length, params: { [ZSTD_c_compressionLevel]: 19 } }),
  },
};

function encodingOf(file: string): Encoding | undefined {
  return encodings[extname(file).toLowerCase()];
}

export function withoutSuffix(compressed: string): string {
  return compressed.slice(0, -extname(compressed).length);
}

export function listPageCopies(folders: SiteFolder[], { name: page, copies = [] }: ManifestFile): SiteFile[] {
  const compressed = Object.keys(encodings).map((suffix) => page + suffix);
  return folders.flatMap((folder) => {
    const names = folder.isCopy ? compressed : [...copies, ...compressed];
    const found = names.map((name) => copyOf(folder, name)).filter(({ file }) => existsSync(file));
    // Even if it is missing, since a build would put it there.
    return folder.isCopy ? [copyOf(folder, page), ...found] : found;
  });
}

/** A file of a folder. People know one in a copy of the output by its path from where they are. */
export function copyOf({ directory, isCopy, shown }: SiteFolder, name: string): SiteFile {
  return { file: join(directory, name), name: isCopy ? posix.join(shown, name) : name };
}

// How much longer a page may have been when a copy was made of it.
const slack = 4 * 1024 * 1024;

/** The hash of what a copy holds; `undefined` if that is far too long, or cannot be decoded. */
export function hashOfCopy({ file }: SiteFile, pages: readonly Buffer[]): string | undefined {
  const maxOutputLength = Math.max(...pages.map(({ length }) => length)) + slack;
  const size = statsOf(file)?.size;
  const encoding = encodingOf(file);
  if (size === undefined || (!encoding && size > maxOutputLength)) return undefined;
  const bytes = readFileSync(file);
  try {
    return hashOf(encoding?.decode(bytes, { maxOutputLength }) ?? bytes);
  } catch {
    return undefined;
  }
}

export function pageCopyOf(page: Buffer, { file }: SiteFile): Buffer | Promise<Buffer> {
  return encodingOf(file)?.encode(page) ?? page;
}

/** The end of a sentence that begins with the file's name. */
export function notACopy({ file }: SiteFile, page: string): string {
  return `${encodingOf(file) ? 'does not decompress to' : 'is not a copy of'} ${page}`;
}

export type SiteFolder = ReturnType<typeof siteFolders>[number];

/** The output, and the copies of it that adapters made, if they are still there. */
export function siteFolders({ output, copies = [] }: Manifest, cwd: string) {
  return [output, ...copies.filter(existsSync)].map((directory, index) => {
    return { directory, isCopy: index > 0, shown: shownPath(cwd, directory) };
  });
}

/** Where adapters put a copy of the output, in the project: @astrojs/vercel. */
const copyFolders = ['.vercel/output/static'];

/** @param since in milliseconds since the epoch: another build made older copies. */
export function findCopies(root: string, output: string, { files }: Manifest, since: number): string[] {
  const folders = copyFolders.map((folder) => join(root, folder)).filter(existsSync);
  return folders.filter((folder) => {
    const isCopied = (copy: string, original: string) =>
      isSince(statsOf(copy), since) && readFileSync(copy).equals(readFileSync(original));
    const isOther = realpathSync(folder) !== realpathSync(output);
    return isOther && files.some(({ name }) => isCopied(join(folder, name), join(output, name)));
  });
}
