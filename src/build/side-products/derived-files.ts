import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileKind } from '../../file-kinds.ts';
import { isLargeBinary, overlaps, piecesOf } from '../../read-file.ts';
import { digestFinder } from './digests.ts';
import { type OldContent, oldTextFinder } from './old-texts.ts';
import { fileOfUrl, precachedUrls } from './precache.ts';
import type { SiteFolder } from './site-folders.ts';

/**
 * - `search-index`: the entry file of a Pagefind index.
 * - `revision`: a file with the digest or the revision of a page, such as a service worker with a precache list.
 * - `text`: a file with the content of a snippet, such as `search.json`.
 * - `copy`: a file that holds a page, such as `200.html`. It is written with the page.
 */
export type DerivedKind = 'search-index' | 'revision' | 'text' | 'copy';

/** A file of the output that was made from pages, and that only the command that made it can renew. */
export interface DerivedFile {
  folder: SiteFolder;
  /** Its path in the folder, with slashes. */
  name: string;
  kind: DerivedKind;
  /** The page whose revision it contains; otherwise one of the pages that it was made from. */
  page: string;
  /** The snippet whose old content it contains. */
  snippet?: number | undefined;
}

/** A page that is going to change. */
export interface ChangingPage {
  name: string;
  /** In bytes. */
  size: number;
  /** Reads its bytes until then. */
  read(): Buffer | undefined;
}

/** What is going to change, and what cannot hold it. */
export interface Changing {
  pages: readonly ChangingPage[];
  contents: readonly OldContent[];
  /** Whether a file shows snippets by itself, and is looked at as such. */
  isRecorded(name: string): boolean;
  /**
   * When the build began to inline snippets, in milliseconds since the epoch. What was there before and is unchanged, such
   * as a page that somebody wrote by hand, or a bundle, was not made from these pages.
   */
  since: number;
}

const indexEntry = 'pagefind-entry.json';

/**
 * Finds the files that would be out of date when these pages change, of those that were written after them. Such files
 * are often made after the build. Styles, source maps and large binary files are not read.
 */
export function findDerivedFiles(folders: readonly SiteFolder[], changing: Changing): DerivedFile[] {
  const { pages, contents } = changing;
  if (pages.length === 0) return [];
  const html = pages.find(({ name }) => fileKind(name) === 'html');
  const findDigest = digestFinder(pages.map(({ read }) => read));
  const findOldText = oldTextFinder(contents, pages);
  return folders.flatMap((folder) => {
    const { indexes, texts } = listFiles(folder.directory, changing);
    const stale: DerivedFile[] = [];
    if (html !== undefined) {
      for (const name of indexes) stale.push({ folder, name, kind: 'search-index', page: html.name });
    }
    const findPrecached = precachedFinder(folder.directory, pages);
    for (const name of texts) {
      const original =
        folder.copy === undefined ? originalOf(join(folder.directory, name), pages) : undefined;
      if (original !== undefined) {
        stale.push({ folder, name, kind: 'copy', page: original });
        continue;
      }
      for (const piece of piecesOf(join(folder.directory, name), overlaps.revision)) {
        const text = piece.toString('latin1');
        const page = findPrecached(text, name) ?? pages[findDigest(text) ?? -1]?.name;
        const snippet = page === undefined ? findOldText(piece.toString()) : undefined;
        if (page === undefined && snippet === undefined) continue;
        const kind = page === undefined ? 'text' : 'revision';
        stale.push({ folder, name, kind, page: page ?? pages[0]?.name ?? '', snippet });
        break;
      }
    }
    return stale;
  });
}

/** The page that a file is a copy of, byte by byte. */
function originalOf(file: string, pages: readonly ChangingPage[]): string | undefined {
  const { size } = statSync(file);
  const alike = pages.filter((page) => page.size === size && fileKind(page.name) === fileKind(file));
  if (alike.length === 0) return undefined;
  const bytes = readFileSync(file);
  return alike.find(({ read }) => read()?.equals(bytes))?.name;
}

/** Returns a function that finds a page that a file lists for a service worker. */
function precachedFinder(
  directory: string,
  pages: readonly ChangingPage[],
): (text: string, name: string) => string | undefined {
  const changing = new Set(pages.map(({ name }) => name));
  const exists = (name: string) =>
    changing.has(name) || statSync(join(directory, name), { throwIfNoEntry: false })?.isFile() === true;
  return (text, name) =>
    precachedUrls(text)
      .map((url) => fileOfUrl(Buffer.from(url, 'latin1').toString(), name, exists))
      .find((page) => page !== undefined && changing.has(page));
}

/** The search indexes of a folder, and its files that may be made from pages. What belongs to an index is left out. */
function listFiles(
  directory: string,
  { isRecorded, since }: Changing,
): { indexes: string[]; texts: string[] } {
  const indexes: string[] = [];
  const texts: string[] = [];
  const list = (folder: string, prefix: string) => {
    const entries = readdirSync(folder, { withFileTypes: true });
    if (entries.some(({ name }) => name === indexEntry)) {
      indexes.push(`${prefix}${indexEntry}`);
      return;
    }
    for (const entry of entries) {
      const name = `${prefix}${entry.name}`;
      const file = join(folder, entry.name);
      if (entry.isDirectory()) list(file, `${name}/`);
      else if (entry.isFile() && mayHoldTexts(entry.name) && !isRecorded(name)) {
        if (statSync(file).mtimeMs >= since && !isLargeBinary(file)) texts.push(name);
      }
    }
  };
  list(directory, '');
  return { indexes: indexes.sort(), texts: texts.sort() };
}

const unread = new Set(['.css', '.map']);

function mayHoldTexts(name: string): boolean {
  const kind = fileKind(name);
  return kind !== 'binary' && kind !== 'compressed' && !unread.has(name.slice(name.lastIndexOf('.')));
}

/** Why a derived file keeps a refresh from writing: the end of a sentence that begins with its name. */
export function whyStale({ kind, page, snippet }: Omit<DerivedFile, 'folder' | 'name'>): string {
  if (kind === 'search-index') return `is a search index of pages that change, such as ${page}`;
  if (kind === 'text') return `contains what snippet ${snippet} was, which changes`;
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
