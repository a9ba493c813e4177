import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, posix } from 'node:path';
import { fileKind } from '../../files/file-kind.ts';
import { isLargeBinary } from '../../files/read.ts';
import { fileIn, type SiteFolder } from '../page-copies.ts';
import { listSiteFiles, type SiteFile } from '../site-files.ts';
import type { FileRole, SiteChanges, Trace, TraceFinder } from './finder.ts';
import { OldTexts } from './old-texts.ts';
import { digestFinder, precacheFinder } from './revisions.ts';
import { textsOf } from './texts.ts';

/** A file that was made from pages that change, and is out of date once they are written. */
export interface DerivedFile extends SiteFile {
  /** Whether the file is in a folder to which an adapter has copied the output. */
  isCopy: boolean;
  /** The page with the same bytes, such as `404.html` for `200.html`: a refresh writes both. */
  page?: string;
  /** A shell command that makes the file again, if one is known. */
  rebuild?: string;
  /** Why the file is out of date, as the end of a sentence that begins with its name. */
  reason: string;
}

/** A folder with a file of this name holds a Pagefind search index. */
const indexEntry = 'pagefind-entry.json';
const indexFile = /^pagefind|\.(pf_\w+|pagefind)$/;

/**
 * Finds files that were made from pages that are about to change: search indexes, copies of a page, and files
 * that hold a digest of a page or the old content of a snippet. Run it before the pages are written.
 */
export function findDerivedFiles(folders: readonly SiteFolder[], changes: SiteChanges): DerivedFile[] {
  const { pages } = changes;
  if (pages.length === 0) return [];
  const listed = folders.map((folder): ListedFolder => {
    const { scannable, unscanned } = listSiteFiles([folder.directory], []);
    return { ...folder, files: [...scannable, ...unscanned] };
  });
  const inOutput = listed.filter(({ isCopy }) => !isCopy).flatMap(({ files }) => files);
  const listOthers = () => inOutput.filter((file) => keepsTexts[changes.roleOf(file)] && mayHoldText(file));
  const finders: SharedFinders = {
    traces: [digestFinder(pages)],
    oldTexts: new OldTexts(changes, listOthers),
  };
  const pagesOfSize: PagesOfSize = Map.groupBy(pages, ({ file }) => statSync(file).size);
  return listed.flatMap((folder) => findInFolder(folder, changes, finders, pagesOfSize));
}

/** Whether what a file says stays true, so that the same words elsewhere are no trace of an old content. */
const keepsTexts: Record<FileRole, boolean> = { changing: false, derived: false, other: true, copied: true };
/** Whether a file is searched. */
const mayBeDerived: Record<FileRole, boolean> = {
  changing: false,
  derived: true,
  other: false,
  copied: true,
};

interface ListedFolder extends SiteFolder {
  files: readonly SiteFile[];
}

/** The finders that are shared by all folders. */
interface SharedFinders {
  traces: readonly TraceFinder[];
  oldTexts: OldTexts;
}

/** Whether a file is none of those that never hold texts of pages, or hold them in sources. */
const mayHoldText = ({ file, name }: SiteFile) => !/\.(css|map)$/.test(name) && !isLargeBinary(file);

/** The changing pages by their sizes in bytes. */
type PagesOfSize = ReadonlyMap<number, readonly SiteFile[]>;

function findInFolder(
  folder: ListedFolder,
  changes: SiteChanges,
  { traces, oldTexts }: SharedFinders,
  pagesOfSize: PagesOfSize,
): DerivedFile[] {
  const { directory, isCopy, files } = folder;
  const { pages } = changes;
  const allFinders = [precacheFinder(directory, pages), ...traces];

  // Pagefind indexes HTML only, so its index stays true if only other files change.
  const changingHtml = pages.find(({ name }) => fileKind(name) === 'html')?.name;
  const indexes = changingHtml ? files.filter(({ name }) => basename(name) === indexEntry) : [];
  const isBeside = (index: SiteFile, name: string) =>
    name.startsWith(index.name.slice(0, -indexEntry.length));
  const isOfIndex = (name: string) =>
    indexFile.test(basename(name)) && indexes.some((index) => isBeside(index, name));

  const describeIndex = (index: SiteFile): DerivedFile => {
    const reason = `is a search index of pages that change, such as ${changingHtml}`;
    const derived = { ...fileIn(folder, index.name), isCopy, reason };
    // The command deletes the index's folder, so it is not suggested if a theme has other files there.
    const hasOtherFiles = files.some(({ name }) => isBeside(index, name) && !isOfIndex(name));
    return hasOtherFiles ? derived : { ...derived, rebuild: searchIndexCommand(folder, dirname(index.name)) };
  };

  return files.flatMap((candidate): DerivedFile | [] => {
    const { name } = candidate;
    if (indexes.includes(candidate)) return describeIndex(candidate);
    if (isOfIndex(name) || !mayBeDerived[changes.roleOf(candidate)] || !mayHoldText(candidate)) return [];

    const derived = { ...fileIn(folder, name), isCopy };
    const page = isCopy ? undefined : findCopiedPage(candidate, pagesOfSize);
    if (page) return { ...derived, page, reason: `is a copy of ${page}` };
    const trace = findTrace(candidate, allFinders, oldTexts);
    return trace ? { ...derived, reason: `contains ${describeTrace(trace)}, which changes` } : [];
  });
}

/** The name of the changing page with the same bytes as a file. */
function findCopiedPage({ file, name, realFile }: SiteFile, pagesOfSize: PagesOfSize): string | undefined {
  const pagesOfSameSize = pagesOfSize.get(statSync(file).size);
  if (!pagesOfSameSize) return undefined;
  // A link shows the page that it leads to, even if another one has the same bytes.
  const linked = realFile && pagesOfSameSize.find((page) => realpathSync.native(page.file) === realFile);
  if (linked) return linked.name;
  const bytes = readFileSync(file);
  return pagesOfSameSize.find(
    (page) => fileKind(page.name) === fileKind(name) && bytes.equals(readFileSync(page.file)),
  )?.name;
}

/** Searches a file of any size, part by part, for the first trace of a page or snippet that changes. */
function findTrace(
  { file, name }: SiteFile,
  finders: readonly TraceFinder[],
  oldTexts: OldTexts,
): Trace | undefined {
  const search = oldTexts.startFile();
  for (const text of textsOf(file)) {
    for (const find of [...finders, search.read]) {
      const trace = find(text, name);
      if (trace) return trace;
    }
  }
  return search.end();
}

/** Describes a trace, as the object of the sentence "file contains …". */
const describeTrace = (trace: Trace): string =>
  trace.kind === 'revision' ? `the revision of ${trace.page}` : `what snippet ${trace.snippetId} was`;

/** The command that makes a Pagefind index again. It removes the old index, which Pagefind would leave. */
function searchIndexCommand({ shown }: SiteFolder, index: string): string {
  const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `"${path}"`);
  const where = index === 'pagefind' ? '' : ` --output-subdir ${quoted(index)}`;
  return `rm -rf ${quoted(posix.join(shown, index))} && pagefind --site ${quoted(shown)}${where}`;
}
