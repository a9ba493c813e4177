import { readdirSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileKind } from '../../file-kinds.ts';
import { isLargeBinary, overlaps, piecesOf } from '../../read-file.ts';
import { digestFinder, type PageBytes } from './digests.ts';
import { fileOfUrl, precachedUrls } from './precache.ts';
import type { SiteFolder } from './site-folders.ts';

/**
 * - `search-index`: the entry file of a Pagefind index.
 * - `revision`: a file with the digest or the revision of a page, such as a service worker with a precache list.
 */
export type DerivedKind = 'search-index' | 'revision';

/** A file of the output that was made from pages, and that only the command that made it can renew. */
export interface DerivedFile {
  folder: SiteFolder;
  /** Its path in the folder, with slashes. */
  name: string;
  kind: DerivedKind;
  /** The page whose revision it contains; for a search index, one of its pages. */
  page: string;
}

/** A page that is going to change. */
export interface ChangingPage {
  name: string;
  /** Its bytes until then, or what reads them. */
  before: PageBytes;
}

const indexEntry = 'pagefind-entry.json';

/**
 * Finds the files that would be out of date when these pages change. The whole output is searched, because such files are
 * often made after the build. Pages themselves, styles, source maps and large binary files are not read.
 */
export function findDerivedFiles(
  folders: readonly SiteFolder[],
  pages: readonly ChangingPage[],
): DerivedFile[] {
  if (pages.length === 0) return [];
  const html = pages.find(({ name }) => fileKind(name) === 'html');
  return folders.flatMap((folder) => {
    const { indexes, texts } = listFiles(folder.directory);
    const stale: DerivedFile[] = [];
    if (html !== undefined) {
      for (const name of indexes) stale.push({ folder, name, kind: 'search-index', page: html.name });
    }
    for (const [name, page] of revisionsIn(folder.directory, texts, pages)) {
      stale.push({ folder, name, kind: 'revision', page });
    }
    return stale;
  });
}

/** The name of a page, for each text file that contains the page's digest or lists it for a service worker. */
function revisionsIn(
  directory: string,
  texts: readonly string[],
  pages: readonly ChangingPage[],
): Map<string, string> {
  const changing = new Set(pages.map(({ name }) => name));
  const exists = (name: string) =>
    changing.has(name) || statSync(join(directory, name), { throwIfNoEntry: false })?.isFile() === true;
  const findDigest = digestFinder(pages.map(({ before }) => before));
  const found = new Map<string, string>();
  for (const name of texts) {
    const file = join(directory, name);
    if (isLargeBinary(file)) continue;
    for (const piece of piecesOf(file, overlaps.revision)) {
      const text = piece.toString('latin1');
      const listed = precachedUrls(text)
        .map((url) => fileOfUrl(Buffer.from(url, 'latin1').toString(), name, exists))
        .find((page) => page !== undefined && changing.has(page));
      const page = listed ?? pages[findDigest(text) ?? -1]?.name;
      if (page === undefined) continue;
      found.set(name, page);
      break;
    }
  }
  return found;
}

/** The search indexes of a folder, and its files that may hold a digest. What belongs to an index is left out. */
function listFiles(directory: string): { indexes: string[]; texts: string[] } {
  const indexes: string[] = [];
  const texts: string[] = [];
  const list = (folder: string, prefix: string) => {
    const entries = readdirSync(folder, { withFileTypes: true });
    if (entries.some(({ name }) => name === indexEntry)) {
      indexes.push(`${prefix}${indexEntry}`);
      return;
    }
    for (const entry of entries) {
      if (entry.isDirectory()) list(join(folder, entry.name), `${prefix}${entry.name}/`);
      else if (entry.isFile() && mayHoldDigests(entry.name)) texts.push(`${prefix}${entry.name}`);
    }
  };
  list(directory, '');
  return { indexes: indexes.sort(), texts: texts.sort() };
}

const unread = new Set(['.css', '.map']);

function mayHoldDigests(name: string): boolean {
  const kind = fileKind(name);
  if (kind === 'html' || kind === 'binary' || kind === 'compressed') return false;
  return !unread.has(name.slice(name.lastIndexOf('.')));
}

/** Why a derived file keeps a refresh from writing: the end of a sentence that begins with its name. */
export function whyStale({ kind, page }: Pick<DerivedFile, 'kind' | 'page'>): string {
  if (kind === 'search-index') return `is a search index of pages that change, such as ${page}`;
  return `contains the revision of ${page}, which changes`;
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
    const original = indexes.find((one) => one.folder.copy === undefined && one.name === name);
    if (folder.copy !== undefined && original !== undefined)
      return `cp -R ${pathOf(original)} ${pathOf(index)}`;
    const where = dirname(name) === 'pagefind' ? '' : ` --output-subdir ${quoted(dirname(name))}`;
    return `pagefind --site ${quoted(folder.shown)}${where}`;
  };
  return [`rm -rf ${indexes.map(pathOf).join(' ')}`, ...indexes.map(rebuild)].join(' && ');
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `"${path}"`;
}
