import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, extname, join, posix, relative, resolve, sep } from 'node:path';
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
import { isWrittenSince } from '../../files/read.ts';
import { hashOf, type Manifest, type ManifestFile } from '../../record/manifest.ts';

// Files that hold a page and nothing else: compressed beside it, of another name, or in a copy of the output.

interface Encoding {
  /** @throws if the bytes are not in this encoding, or hold more than `maxOutputLength` bytes. */
  decode(bytes: Buffer, options: { maxOutputLength: number }): Buffer;
  /** As small as possible: a file is written once, and sent many times. */
  encode(bytes: Buffer): Promise<Buffer>;
}

const { BROTLI_PARAM_MODE, BROTLI_MODE_TEXT, ZSTD_c_compressionLevel } = constants;

/** The files that servers send in the place of the file beside them, by what follows its name. */
const encodings: Readonly<Record<string, Encoding>> = {
  '.gz': { decode: gunzipSync, encode: (bytes) => promisify(gzip)(bytes, { level: 9 }) },
  '.br': {
    decode: brotliDecompressSync,
    encode: (bytes) =>
      promisify(brotliCompress)(bytes, { params: { [BROTLI_PARAM_MODE]: BROTLI_MODE_TEXT } }),
  },
  '.zst': {
    decode: zstdDecompressSync,
    // Told how long the input is: it would set aside 100 MB for each file.
    encode: (bytes) =>
      promisify(zstdCompress)(bytes, {
        pledgedSrcSize: bytes.length,
        params: { [ZSTD_c_compressionLevel]: 19 },
      }),
  },
};

function encodingOf(file: string): Encoding | undefined {
  return encodings[extname(file).toLowerCase()];
}

/** The file that a compressed one is sent in the place of. */
export function withoutSuffix(compressed: string): string {
  return compressed.slice(0, -extname(compressed).length);
}

/** A file that holds a page and nothing else. */
export interface PageCopy {
  /** Its path on disk. */
  file: string;
  /** How people know it. */
  name: string;
}

/** The files that exist besides the page itself. A page that a copy lacks counts, since a build would put it there. */
export function listPageCopies(
  folders: readonly SiteFolder[],
  { name: page, copies = [] }: Pick<ManifestFile, 'name' | 'copies'>,
): PageCopy[] {
  const compressed = Object.keys(encodings).map((suffix) => page + suffix);
  return folders.flatMap((folder) => {
    const copyOf = (name: string) => ({ file: join(folder.directory, name), name: shownName(folder, name) });
    const isThere = ({ file }: PageCopy) => statSync(file, { throwIfNoEntry: false })?.isFile();
    if (folder.copy !== undefined) return [copyOf(page), ...compressed.map(copyOf).filter(isThere)];
    return [...copies, ...compressed].map(copyOf).filter(isThere);
  });
}

// How much longer than it is now, or is going to be, a page may have been when a copy was made of it.
const slack = 4 * 1024 * 1024;

/**
 * The hash of what a copy holds; `undefined` if that is far longer than the page, or no page at all. It never takes more
 * memory than that.
 *
 * @param pages the page as it is now, and as it is going to be.
 */
export function hashOfCopy({ file }: PageCopy, pages: readonly Buffer[]): string | undefined {
  const maxLength = Math.max(...pages.map(({ length }) => length)) + slack;
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  const encoding = encodingOf(file);
  if (size === undefined || (encoding === undefined && size > maxLength)) return undefined;
  const bytes = readFileSync(file);
  try {
    return hashOf(encoding?.decode(bytes, { maxOutputLength: maxLength }) ?? bytes);
  } catch {
    return undefined;
  }
}

/** What a copy of a page has to contain. */
export function pageCopyOf(page: Buffer, { file }: PageCopy): Buffer | Promise<Buffer> {
  return encodingOf(file)?.encode(page) ?? page;
}

/** Why a file is no copy of a page: the end of a sentence that begins with the file's name. */
export function notACopy({ file }: PageCopy, page: string): string {
  return encodingOf(file) === undefined ? `is not a copy of ${page}` : `does not decompress to ${page}`;
}

/** A folder with the built site: the output, or a copy that an adapter made of it. */
export interface SiteFolder {
  directory: string;
  /** How people know it: its path from where they are, with slashes. */
  shown: string;
  /** A copy's path, relative to the manifest's folder. */
  copy?: string | undefined;
}

/** Where adapters put a copy of the output, relative to the project: @astrojs/vercel. */
const copyFolders = ['.vercel/output/static'];

/**
 * The folders that a refresh has to keep up to date. A copy that does not exist any more is left out.
 *
 * @param cwd where people are; by default, in the folder of the record.
 */
export function siteFolders(
  file: string,
  { output, copies = [] }: Pick<Manifest, 'output' | 'copies'>,
  cwd: string = dirname(file),
): SiteFolder[] {
  const folderOf = (path: string, copy?: string): SiteFolder => {
    const directory = resolve(dirname(file), path);
    return { directory, shown: shownPath(cwd, directory), copy };
  };
  const folders = copies.map((copy) => folderOf(copy, copy));
  return [folderOf(output), ...folders.filter(({ directory }) => existsSync(directory))];
}

/** How people know a file of a folder: in the output by its path there, in a copy by its path from where they are. */
export function shownName({ copy, shown }: SiteFolder, name: string): string {
  return copy === undefined ? name : posix.join(shown, name);
}

/** A path from the folder that people are in, with slashes. */
export function shownPath(cwd: string, path: string): string {
  return (relative(cwd, path) || '.').split(sep).join('/');
}

/**
 * Finds copies that adapters have made of the output in this build.
 *
 * @param since in milliseconds since the epoch: a copy that is older is that of another build.
 */
export function findCopies(
  root: string,
  output: string,
  { files, since }: { files: readonly Pick<ManifestFile, 'name'>[]; since: number },
): string[] {
  const isCopied = (original: string, copy: string) =>
    isWrittenSince(copy, since) && readFileSync(copy).equals(readFileSync(original));
  return copyFolders
    .map((folder) => join(root, folder))
    .filter((folder) => existsSync(folder) && realpathSync(folder) !== realpathSync(output))
    .filter((folder) => files.some(({ name }) => isCopied(join(output, name), join(folder, name))));
}
