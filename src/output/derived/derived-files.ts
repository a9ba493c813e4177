import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, posix } from 'node:path';
import { fileKind } from '../../files/file-kind.ts';
import { isLargeBinary, overlaps, piecesOf } from '../../files/read.ts';
import { copyOf, type SiteFolder } from '../page-copies.ts';
import { listSiteFiles, type SiteFile } from '../site-files.ts';
import type { SiteChanges } from './finder.ts';
import { oldTextFinder } from './old-texts.ts';
import { digestFinder, precachedFinder } from './revisions.ts';

export interface DerivedFile extends SiteFile {
  isCopy: boolean;
  /** The page that it holds and is written with, such as for `200.html`. */
  page?: string;
  rebuild?: string;
  /** Why it is out of date, without a subject. */
  reason: string;
}

const indexEntry = 'pagefind-entry.json';

const indexFile = /^pagefind|\.(pf_\w+|pagefind)$/;

export function findDerivedFiles(
  folders: SiteFolder[],
  pages: SiteFile[],
  changes: SiteChanges,
): DerivedFile[] {
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
