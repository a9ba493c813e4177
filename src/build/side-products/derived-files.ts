import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { fileKind } from '../../files/kinds.ts';
import { isLargeBinary, overlaps, piecesOf } from '../../files/read.ts';
import { listSiteFiles } from '../scan-site.ts';
import { type OldContent, oldTextFinder } from './old-texts.ts';
import type { SiteFolder } from './page-copies.ts';
import { type ChangingPage, digestFinder, precachedFinder } from './revisions.ts';

/** A file of the output that was made from pages. */
export interface DerivedFile {
  folder: SiteFolder;
  /** Its path in the folder, with slashes. */
  name: string;
  /**
   * - `search-index`: the entry file of a Pagefind index.
   * - `copy`: a file that holds a page, such as `200.html`. It is written with the page.
   * - `other`: a file with the revision of a page, or with the content of a snippet. As an index, only the command that
   *   made it can renew it.
   */
  kind: 'search-index' | 'copy' | 'other';
  /** The page of a copy. */
  page?: string;
  /** Why it is out of date: the end of a sentence that begins with its name. */
  reason: string;
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

/**
 * Finds the files that would be out of date when these pages change, of those that were written after them. Such files
 * are often made after the build. Styles, source maps and large binary files are not read.
 */
export function findDerivedFiles(folders: readonly SiteFolder[], changing: Changing): DerivedFile[] {
  const { pages, contents } = changing;
  if (pages.length === 0) return [];
  const html = pages.find(({ name }) => fileKind(name) === 'html')?.name;
  const findDigest = digestFinder(pages);
  const findOldText = oldTextFinder(contents, pages);
  return folders.flatMap((folder) => {
    const { indexes, texts } = listFiles(folder.directory, changing);
    const findPrecached = precachedFinder(folder.directory, pages);
    const look = (name: string): Pick<DerivedFile, 'kind' | 'page' | 'reason'> | undefined => {
      const file = join(folder.directory, name);
      const original = folder.copy === undefined ? originalOf(file, pages) : undefined;
      if (original !== undefined) return { kind: 'copy', page: original, reason: `is a copy of ${original}` };
      for (const piece of piecesOf(file, overlaps.revision)) {
        const text = piece.toString('latin1');
        const page = findPrecached(text, name) ?? findDigest(text);
        if (page !== undefined)
          return { kind: 'other', reason: `contains the revision of ${page}, which changes` };
        const snippet = findOldText(piece.toString());
        if (snippet !== undefined)
          return { kind: 'other', reason: `contains what snippet ${snippet} was, which changes` };
      }
      return undefined;
    };
    const reason = `is a search index of pages that change, such as ${html}`;
    const stale = html === undefined ? [] : indexes;
    return [
      ...stale.map((name): DerivedFile => ({ folder, name, kind: 'search-index', reason })),
      ...texts.flatMap((name): DerivedFile[] => {
        const found = look(name);
        return found === undefined ? [] : [{ folder, name, ...found }];
      }),
    ];
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

const indexEntry = 'pagefind-entry.json';

/** The search indexes of a folder, and its files that may be made from pages. What belongs to an index is left out. */
function listFiles(
  directory: string,
  { isRecorded, since }: Changing,
): Record<'indexes' | 'texts', string[]> {
  const { scannable, others } = listSiteFiles([directory], []);
  const names = [...scannable, ...others].map(({ name }) => name);
  const indexes = names.filter((name) => basename(name) === indexEntry);
  const folders = indexes.map((name) => name.slice(0, -indexEntry.length));
  const mayBeMade = (name: string) => {
    if (/\.(css|map)$/.test(name) || isRecorded(name)) return false;
    if (folders.some((folder) => name.startsWith(folder))) return false;
    const file = join(directory, name);
    return statSync(file).mtimeMs >= since && !isLargeBinary(file);
  };
  return { indexes, texts: names.filter(mayBeMade).sort() };
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
