import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { escapeText, escapeUTF8 } from 'entities/escape';
import { textOf } from '../../embed/html-scanner.ts';
import { fileKind } from '../../files/kinds.ts';
import { isLargeBinary, overlaps, piecesOf } from '../../files/read.ts';
import { routeFiles } from '../../settings/site-urls.ts';
import { listSiteFiles, type SiteFile } from '../scan-site.ts';
import type { SiteFolder } from './page-copies.ts';

export interface DerivedFile {
  folder: SiteFolder;
  /** Its path in the folder, with slashes. */
  name: string;
  /** Whether it is the entry file of a Pagefind index. */
  isIndex?: true;
  /** The page that it holds, as `200.html` does. It is written with the page. Any other, only the command can renew that made it. */
  page?: string;
  /** Why it is out of date: the end of a sentence that begins with its name. */
  reason: string;
}

/** What a changing snippet shows until then. */
export interface OldContent {
  id: number;
  text: string;
  /** What a policy allowed for it, and no longer does. */
  sources: readonly string[];
}

const indexEntry = 'pagefind-entry.json';

/**
 * Finds the files that would be out of date when these pages change. Such files are often made after the build. Styles,
 * source maps and large binary files are not read, nor is what belongs to an index.
 *
 * @param mayBeMade tells files that may be made from these pages by their names and when they were written.
 */
export function findDerivedFiles(
  folders: readonly SiteFolder[],
  pages: readonly SiteFile[],
  contents: readonly OldContent[],
  mayBeMade: (file: SiteFile) => boolean,
): DerivedFile[] {
  if (pages.length === 0) return [];
  const html = pages.find(({ name }) => fileKind(name) === 'html')?.name;
  const pagesOfSize = Map.groupBy(pages, ({ file }) => statSync(file).size);
  const findDigest = digestFinder(pages);
  const findOldText = oldTextFinder(contents, pages);
  return folders.flatMap((folder) => {
    const findPrecached = precachedFinder(folder.directory, pages);
    const reasonFor = ({ file, name }: SiteFile): string | undefined => {
      for (const piece of piecesOf(file, overlaps.revision)) {
        const text = piece.toString();
        const page = findPrecached(text, name) ?? findDigest(text);
        if (page !== undefined) return `contains the revision of ${page}, which changes`;
        const snippet = findOldText(text);
        if (snippet !== undefined) return `contains what snippet ${snippet} was, which changes`;
      }
      return undefined;
    };
    /** The page that a file is a copy of, byte by byte. */
    const originalOf = ({ file }: SiteFile): string | undefined => {
      const alike = folder.isCopy ? undefined : pagesOfSize.get(statSync(file).size);
      const bytes = alike && readFileSync(file);
      const isOriginal = (page: SiteFile) =>
        fileKind(page.name) === fileKind(file) && bytes?.equals(readFileSync(page.file));
      return alike?.find(isOriginal)?.name;
    };
    const { scannable, others } = listSiteFiles([folder.directory], []);
    const files = [...scannable, ...others].sort((a, b) => (a.name < b.name ? -1 : 1));
    const indexes = files.map(({ name }) => name).filter((name) => basename(name) === indexEntry);
    const isReadable = ({ file, name }: SiteFile) =>
      !/\.(css|map)$/.test(name) &&
      !indexes.some((index) => name.startsWith(index.slice(0, -indexEntry.length))) &&
      !isLargeBinary(file);
    const stale = indexes.map((name): DerivedFile => {
      return {
        folder,
        name,
        isIndex: true,
        reason: `is a search index of pages that change, such as ${html}`,
      };
    });
    const found = files
      .filter(mayBeMade)
      .filter(isReadable)
      .flatMap((file): DerivedFile[] => {
        const { name } = file;
        const page = originalOf(file);
        if (page !== undefined) return [{ folder, name, page, reason: `is a copy of ${page}` }];
        const reason = reasonFor(file);
        return reason === undefined ? [] : [{ folder, name, reason }];
      });
    return html === undefined ? found : [...stale, ...found];
  });
}

/** What may be a digest, and by which algorithm, by its length: in base64 without padding. */
const digests = [
  ['hex', /[0-9a-f]{32,}/g, { 32: 'md5', 40: 'sha1', 64: 'sha256', 96: 'sha384', 128: 'sha512' }],
  ['base64', /[A-Za-z0-9+/]{22,}/g, { 22: 'md5', 27: 'sha1', 43: 'sha256', 64: 'sha384', 86: 'sha512' }],
] as const satisfies [string, RegExp, Record<number, string>][];

/**
 * Finds digests of pages in texts, in hexadecimal or base64. Of the texts nothing is kept, since they may be of any size.
 * Pages are hashed by an algorithm once a text contains what may be one of its digests.
 *
 * @returns what finds a page that a text contains a digest of.
 */
function digestFinder(pages: readonly SiteFile[]): (text: string) => string | undefined {
  const tables = new Map<string, Map<string, string>>();
  const tableOf = (algorithm: string, encoding: 'hex' | 'base64') => {
    const kind = `${algorithm} ${encoding}`;
    const known = tables.get(kind);
    if (known !== undefined) return known;
    const table = new Map<string, string>();
    for (const { file, name } of pages)
      table.set(hash(algorithm, readFileSync(file), encoding).replace(/=+$/, ''), name);
    tables.set(kind, table);
    return table;
  };
  return (text) => {
    for (const [encoding, runs, algorithms] of digests) {
      for (const [run] of text.matchAll(runs)) {
        const algorithm: string | undefined = (algorithms as Record<number, string>)[run.length];
        const page = algorithm && tableOf(algorithm, encoding).get(run);
        if (page) return page;
      }
    }
    return undefined;
  };
}

const entries = /\{[^{}]*\brevision["']?\s*:\s*["'`][^{}]*\}/g;
const urlOf = /["']?\burl["']?\s*:\s*["'`]([^"'`]*)["'`]/;

/**
 * Finds pages in Workbox precache lists: `{ url: 'about/index.html', revision: '…' }`. Entries with `revision: null` are left
 * out: their URL is their version, and a build would not change it either.
 *
 * @param directory the output folder.
 * @returns what finds a page that a text lists, by the text and the name of its file.
 */
function precachedFinder(
  directory: string,
  pages: readonly SiteFile[],
): (text: string, name: string) => string | undefined {
  const changing = new Set(pages.map(({ name }) => name));
  const exists = (name: string) =>
    changing.has(name) || statSync(join(directory, name), { throwIfNoEntry: false })?.isFile() === true;
  return (text, name) => {
    for (const [entry] of text.matchAll(entries)) {
      const url = urlOf.exec(entry)?.[1];
      const found = url === undefined ? [] : filesOfUrl(url, name);
      const page = found.find(exists);
      if (page !== undefined && changing.has(page)) return page;
    }
    return undefined;
  };
}

/**
 * The files of the output that a URL may be answered with. The site's base path is not known here: leading folders of an
 * absolute URL may be part of it.
 *
 * @param from the file that contains the URL.
 */
function filesOfUrl(url: string, from: string): string[] {
  // An empty URL is that of the folder here, and not of the file itself.
  const path = URL.parse(url || './', `https://site.invalid/${from}`)?.pathname;
  if (path === undefined) return [];
  const folders = path.slice(1).split('/');
  const bases = /^(\/|[a-z]+:)/i.test(url) ? [...folders.keys()] : [0];
  return bases.flatMap((base) => {
    const inside = folders.slice(base).join('/');
    return [inside, ...routeFiles(inside, '')];
  });
}

// A shorter text may stand in a file for another reason. With its neighbors in a page, it does not.
const longEnough = 16;
const neighbors = 24;

/** How other files write a text. */
const spellings: ((text: string) => string)[] = [
  (text) => text,
  (text) => JSON.stringify(text).slice(1, -1),
  escapeText,
  escapeUTF8,
];

/**
 * Finds what shows a content that changes, as `search.json`, `llms-full.txt` and headers with the hash of a script do. Of the
 * files nothing is kept, since they may be of any size.
 *
 * @param pages where these contents are shown. They are read only if a file has a short text that changes.
 * @returns a function that returns the id of a snippet whose old content is in a text.
 */
function oldTextFinder(
  contents: readonly OldContent[],
  pages: readonly SiteFile[],
): (text: string) => number | undefined {
  const needles = new Map<string, { id: number; isEnough: (file: string) => boolean }>();
  for (const { id, text, sources } of contents) {
    for (const source of sources) needles.set(source, { id, isEnough: () => true });
    for (const shown of [text.trim(), textOf(text).trim()]) {
      for (const spell of shown === '' ? [] : spellings) {
        const spelled = spell(shown);
        let around: string[] | undefined;
        const isEnough = (file: string) => {
          if (shown.length >= longEnough) return true;
          around ??= withNeighbors(pages, spelled, spell);
          return around.some((text) => file.includes(text));
        };
        if (!needles.has(spelled)) needles.set(spelled, { id, isEnough });
      }
    }
  }
  const all = [...needles];
  return (file) => all.find(([text, { isEnough }]) => file.includes(text) && isEnough(file))?.[1].id;
}

/** A short text with its neighbors, each time that a page shows it: in its HTML, and in its text. */
function withNeighbors(pages: readonly SiteFile[], text: string, spell: (text: string) => string): string[] {
  const found = new Set<string>();
  for (const page of pages) {
    const html = readFileSync(page.file, 'utf8');
    for (const spelled of [html, textOf(html)].map(spell)) {
      for (let at = spelled.indexOf(text); at !== -1; at = spelled.indexOf(text, at + 1)) {
        const around = spelled.slice(Math.max(0, at - neighbors), at + text.length + neighbors);
        // A page with little else says nothing of another file.
        if (around.length >= longEnough) found.add(around);
      }
    }
  }
  return [...found];
}

/**
 * The shell command that rebuilds search indexes. It removes their folders first, since Pagefind does not empty them.
 *
 * @param indexes all of kind `search-index`.
 */
export function searchIndexCommand(indexes: readonly DerivedFile[]): string {
  const pathOf = ({ folder: { shown }, name }: DerivedFile) => quoted(posix.join(shown, dirname(name)));
  const rebuild = (index: DerivedFile): string => {
    const { folder, name } = index;
    const original = indexes.find((one) => !one.folder.isCopy && one.name === name);
    if (folder.isCopy && original !== undefined) return `cp -R ${pathOf(original)} ${pathOf(index)}`;
    const where = dirname(name) === 'pagefind' ? '' : ` --output-subdir ${quoted(dirname(name))}`;
    return `pagefind --site ${quoted(folder.shown)}${where}`;
  };
  return [`rm -rf ${indexes.map(pathOf).join(' ')}`, ...indexes.map(rebuild)].join(' && ');
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `"${path}"`;
}
