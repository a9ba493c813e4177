import { hash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, posix } from 'node:path';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { escapeText, escapeUTF8 } from 'entities/escape';
import { textOf } from '../embed/html-scanner.ts';
import {
  fileKind,
  isLargeBinary,
  overlaps,
  piecesOf,
  shownPath,
  statsOf,
  wasWrittenAfter,
} from '../files/files.ts';
import { type Contents, hashOf, type Manifest, type ManifestFile } from '../record/manifest.ts';
import { routeFiles } from '../settings/site-urls.ts';
import { listSiteFiles, type SiteFile } from './scan-site.ts';

// Files that hold a page: compressed beside it, of another name, or in a copy of the output.

interface CompressionFormat {
  decode(bytes: Buffer, options: { maxOutputLength: number }): Buffer;
  encode(bytes: Buffer, options: object, done: (error: Error | null, encoded: Buffer) => void): void;
  options: object;
}

const { BROTLI_PARAM_MODE, BROTLI_MODE_TEXT, ZSTD_c_compressionLevel } = zlib.constants;

/** What servers send instead of a file. As small as possible: it is sent many times. */
const compressionFormats: Readonly<Record<string, CompressionFormat>> = {
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

export const withoutSuffix = (compressed: string) => compressed.slice(0, -extname(compressed).length);

export function listPageCopies(folders: SiteFolder[], { name: page, copies = [] }: ManifestFile) {
  const compressed = Object.keys(compressionFormats).map((suffix) => page + suffix);
  return folders.flatMap((folder) => {
    const names = folder.isCopy ? compressed : [...copies, ...compressed];
    const found = names.map((name) => copyOf(folder, name)).filter(({ file }) => existsSync(file));
    // Even if missing: a build would put it there.
    return folder.isCopy ? [copyOf(folder, page), ...found] : found;
  });
}

/** People know a file in a copy by its path from where they are. */
const copyOf = ({ directory, isCopy, shown }: SiteFolder, name: string) => ({
  file: join(directory, name),
  name: isCopy ? posix.join(shown, name) : name,
});

// How much longer a page may have been when it was copied.
const copySizeSlack = 4 * 1024 * 1024;

/** `undefined` if a copy holds far too much, or cannot be decoded. */
export function hashOfCopy(copy: SiteFile, pages: Buffer[]) {
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

export async function pageCopyOf(page: Buffer, copy: SiteFile) {
  const { encode, options } = compressionFormatOf(copy) ?? {};
  // Without the length of the input, Zstandard would set aside 100 MB.
  return encode ? promisify(encode)(page, { ...options, pledgedSrcSize: page.length }) : page;
}

/** Without a subject, which is the file. */
export const notACopy = (copy: SiteFile, page: string) =>
  `${compressionFormatOf(copy) ? 'does not decompress to' : 'is not a copy of'} ${page}`;

type SiteFolder = ReturnType<typeof siteFolders>[number];

/** The output, and the copies that adapters made of it, if still there. */
export const siteFolders = ({ output, copies = [] }: Manifest, cwd: string) =>
  [output, ...copies.filter(existsSync)].map((directory, index) => {
    return { directory, isCopy: index > 0, shown: shownPath(cwd, directory) };
  });

/** Where @astrojs/vercel has put a copy of the output. @param since another build made older copies */
export function findCopies(root: string, output: string, { files }: Manifest, since: number) {
  const folder = join(root, '.vercel/output/static');
  if (!existsSync(folder) || realpathSync(folder) === realpathSync(output)) return [];
  const isCopied = ({ name }: ManifestFile) => {
    const copy = join(folder, name);
    return (
      wasWrittenAfter(statsOf(copy), since) && readFileSync(copy).equals(readFileSync(join(output, name)))
    );
  };
  return files.some(isCopied) ? [folder] : [];
}

export interface DerivedFile extends SiteFile {
  isCopy: boolean;
  /** The page that it holds and is written with, such as for `200.html`. */
  page?: string;
  rebuild?: string;
  /** Why it is out of date, without a subject. */
  reason: string;
}

interface SiteChanges {
  manifest: Manifest;
  now: Contents;
  /** Indexes of snippets. */
  changed: ReadonlySet<number>;
  mayBeMade(file: SiteFile): boolean;
}

/** Finds what changes in the text of a file: the object of a sentence. */
type Finder = (text: string, name: string) => string | undefined;

const indexEntry = 'pagefind-entry.json';
const indexFile = /^pagefind|\.(pf_\w+|pagefind)$/;

export function findDerivedFiles(folders: SiteFolder[], pages: SiteFile[], changes: SiteChanges) {
  if (pages.length === 0) return [];
  const html = pages.find(({ name }) => fileKind(name) === 'html')?.name;
  const pagesOfSize = Map.groupBy(pages, ({ file }) => statSync(file).size);
  const everywhere = [digestFinder(pages), oldTextFinder(changes, pages)];
  return folders.flatMap((folder) => {
    const { directory, isCopy } = folder;
    const finders = [precachedFinder(directory, pages), ...everywhere];
    const { scannable, others } = listSiteFiles([directory], []);
    const files = [...scannable, ...others];
    const indexes = html ? files.filter(({ name }) => basename(name) === indexEntry) : [];
    const isBeside = ({ name }: SiteFile, other: string) =>
      other.startsWith(name.slice(0, -indexEntry.length));
    const isOfIndex = (name: string) =>
      indexFile.test(basename(name)) && indexes.some((index) => isBeside(index, name));
    return files.flatMap((found): DerivedFile | [] => {
      const { file, name } = found;
      const derived = { ...copyOf(folder, name), isCopy };
      if (indexes.includes(found)) {
        const reason = `is a search index of pages that change, such as ${html}`;
        // The command deletes the folder, with files of a theme's own search.
        const hasOthers = files.some((other) => isBeside(found, other.name) && !isOfIndex(other.name));
        if (hasOthers) return { ...derived, reason };
        return { ...derived, reason, rebuild: searchIndexCommand(folder, dirname(name)) };
      }
      if (!changes.mayBeMade(found) || /\.(css|map)$/.test(name) || isOfIndex(name) || isLargeBinary(file))
        return [];
      const alike = isCopy ? undefined : pagesOfSize.get(statSync(file).size);
      const bytes = alike && readFileSync(file);
      const page = alike
        ?.filter((page) => fileKind(page.name) === fileKind(name))
        .find((page) => bytes?.equals(readFileSync(page.file)))?.name;
      if (page) return { ...derived, page, reason: `is a copy of ${page}` };
      for (const piece of piecesOf(file, overlaps.revision)) {
        const text = piece.toString();
        const all = finders.values().map((find) => find(text, name));
        const what = all.find(Boolean);
        if (what) return { ...derived, reason: `contains ${what}, which changes` };
      }
      return [];
    });
  });
}

/** Pagefind would leave old files in the index. */
function searchIndexCommand({ shown }: SiteFolder, index: string) {
  const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `"${path}"`);
  const where = index === 'pagefind' ? '' : ` --output-subdir ${quoted(index)}`;
  return `rm -rf ${quoted(posix.join(shown, index))} && pagefind --site ${quoted(shown)}${where}`;
}

const digestAlgorithms = ['md5', 'sha1', 'sha256', 'sha384', 'sha512'];
/** In hexadecimal, or in base64 without padding. */
const mayBeDigests = [/[0-9a-f]{32,}/g, /[A-Za-z0-9+/]{22,}/g];

/** Pages are read once a text has what may be a digest. */
function digestFinder(pages: SiteFile[]): Finder {
  let names: Map<string, string> | undefined;
  const digestsOf = ({ file, name }: SiteFile) => {
    const bytes = readFileSync(file);
    return digestAlgorithms.flatMap((algorithm) => {
      const digest = hash(algorithm, bytes, 'buffer');
      const written = [digest.toString('hex'), digest.toString('base64').replace(/=+$/, '')];
      return written.map((text) => [text, name] as const);
    });
  };
  return (text) => {
    for (const [run] of mayBeDigests.flatMap((runs) => [...text.matchAll(runs)])) {
      names ??= new Map(pages.flatMap(digestsOf));
      const page = names.get(run);
      if (page) return `the revision of ${page}`;
    }
    return undefined;
  };
}

const precacheEntries = /\{[^{}]*\brevision["']?\s*:\s*["'`][^{}]*\}/g;
const precacheUrl = /["']?\burl["']?\s*:\s*["'`]([^"'`]*)["'`]/;

/**
 * Finds pages in Workbox precache lists: `{ url: 'about/index.html', revision: '…' }`. A build would not change entries without
 * a revision.
 */
function precachedFinder(directory: string, pages: SiteFile[]): Finder {
  const changing = new Set(pages.map(({ name }) => name));
  const exists = (name: string) => changing.has(name) || statsOf(join(directory, name))?.isFile();
  const listedIn = (entry: string, from: string) => {
    const url = precacheUrl.exec(entry)?.[1];
    // An empty URL means the folder, not the file itself.
    const path = URL.parse(url || './', `https://site.invalid/${from}`)?.pathname;
    if (url === undefined || path === undefined) return undefined;
    const folders = path.slice(1).split('/');
    // It may begin with a base path, which is not known here.
    const bases = /^(\/|[a-z]+:)/i.test(url) ? [...folders.keys()] : [0];
    const paths = bases.map((base) => folders.slice(base).join('/'));
    return paths.flatMap((inside) => [inside, ...routeFiles(inside, '')]).find(exists);
  };
  return (text, name) => {
    for (const [entry] of text.matchAll(precacheEntries)) {
      const page = listedIn(entry, name);
      if (page && changing.has(page)) return `the revision of ${page}`;
    }
    return undefined;
  };
}

// A shorter text may be there for another reason, unless its neighbors are, too.
const unambiguousLength = 16;
const neighborCharacters = 24;

type Spell = (text: string) => string;

const inJson: Spell = (text) => JSON.stringify(text).slice(1, -1);
const spellings: Spell[] = [(text) => text, inJson, escapeText, escapeUTF8];

/** Finds old contents, as in `search.json`, or hashes of scripts, as in `_headers`. */
function oldTextFinder({ manifest, now, changed }: SiteChanges, pages: SiteFile[]): Finder {
  const needles = new Map<string, { id: number; spell?: Spell; around?: Set<string> }>();
  for (const index of changed) {
    const { id = 0, content } = manifest.snippets[index] ?? {};
    const { text = '', sources = [] } = content ?? {};
    for (const source of sources) if (!now[index]?.sources?.includes(source)) needles.set(source, { id });
    for (const shown of [text.trim(), textOf(text).trim()].filter(Boolean)) {
      for (const spell of spellings) {
        const spelled = spell(shown);
        const needle = shown.length < unambiguousLength ? { id, spell } : { id };
        if (!needles.has(spelled)) needles.set(spelled, needle);
      }
    }
  }
  return (file) => {
    for (const [text, needle] of needles) {
      if (!file.includes(text)) continue;
      const { id, spell } = needle;
      if (spell) needle.around ??= withNeighbors(pages, text, spell);
      if (!spell || needle.around?.values().some((one) => file.includes(one)))
        return `what snippet ${id} was`;
    }
    return undefined;
  };
}

function withNeighbors(pages: SiteFile[], text: string, spell: Spell) {
  const found = new Set<string>();
  for (const page of pages) {
    const html = readFileSync(page.file, 'utf8');
    for (const spelled of [html, textOf(html)].map(spell)) {
      for (let at = spelled.indexOf(text); at !== -1; at = spelled.indexOf(text, at + 1)) {
        const around = spelled.slice(
          Math.max(0, at - neighborCharacters),
          at + text.length + neighborCharacters,
        );
        // A page with little else says nothing of another file.
        if (around.length >= unambiguousLength) found.add(around);
      }
    }
  }
  return found;
}
