import { readFileSync, realpathSync, statSync } from 'node:fs';
import { fileKind } from '../../files/file-kind.ts';
import { isLargeBinary } from '../../files/read.ts';
import { readCopy, withoutSuffix } from '../compressed.ts';
import { fileIn, type SiteFolder } from '../page-copies.ts';
import { listSiteFiles, type SiteFile } from '../site-files.ts';
import { codeFinder } from './old-code.ts';
import { OldTexts } from './old-texts.ts';
import { digestFinder, precacheFinder } from './revisions.ts';
import { SearchIndexes } from './search-index.ts';
import type { FileRole, SiteChanges, Trace, TraceFinder } from './site-changes.ts';
import { textsOf, textsOfBytes } from './texts.ts';

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

/**
 * Finds files that were made from pages that are about to change: search indexes, copies of a page, and files
 * that hold a digest of a page or the old content of a snippet. Run it before the pages are written.
 *
 * Each file that may be one is read once, as texts (`texts.ts`), for digests (`revisions.ts`, `old-code.ts`) and old
 * contents (`old-texts.ts`). Only if one has a phrase that may be from elsewhere, all other files and the new pages are
 * read as well.
 */
export function findDerivedFiles(folders: readonly SiteFolder[], changes: SiteChanges): DerivedFile[] {
  if (changes.pages.length === 0) return [];
  const listed = folders.map(listFolder);
  const search = new DerivedFileSearch(changes);
  const searched = listed.flatMap((folder) => search.searchFolder(folder));

  const isOther = (file: SiteFile) => keepsTexts[changes.roleOf(file)] && mayHoldText(file);
  const others = listed
    .values()
    .filter(({ isCopy }) => !isCopy)
    .flatMap(({ files }) => files.filter(isOther));
  const doubtful = new Set(searched.flatMap((file) => [...file.doubtful.keys()]));
  const elsewhere = search.oldTexts.findElsewhere(doubtful, others);
  return searched.flatMap(({ file, found, doubtful: traces }) => {
    if (found) return { ...file, ...found };
    const trace = traces.entries().find(([phrase]) => !elsewhere.has(phrase))?.[1];
    return trace ? { ...file, reason: describeTrace(trace) } : [];
  });
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

/** Whether a file is none of those that never hold texts of pages, or hold them in sources. */
const mayHoldText = ({ file, name }: SiteFile) =>
  !/\.(css|map)(\.\w+)?$/.test(name) && (fileKind(name) === 'compressed' || !isLargeBinary(file));

interface ListedFolder extends SiteFolder {
  files: readonly SiteFile[];
  /** Compressed files without the file that was compressed, which would be found by itself. */
  compressed: ReadonlySet<SiteFile>;
}

function listFolder(folder: SiteFolder): ListedFolder {
  const { scannable, unscanned, binary, compressed } = listSiteFiles([folder.directory], []);
  const files = [...scannable, ...unscanned];
  const names = new Set(compressed.length > 0 ? [...files, ...binary].map(({ name }) => name) : []);
  const alone = compressed.filter(({ name }) => !names.has(withoutSuffix(name)));
  return { ...folder, files: [...files, ...alone], compressed: new Set(alone) };
}

/** A file that was searched for traces of pages and snippets that change. */
interface SearchedFile {
  file: SiteFile & { isCopy: boolean };
  /** What was found for certain. */
  found?: Pick<DerivedFile, 'reason' | 'page' | 'rebuild'> | undefined;
  /** Traces that count unless the phrase is elsewhere, too. */
  doubtful: ReadonlyMap<string, Trace>;
}

/** The most bytes of a compressed file that are decompressed: all are in memory. */
const maxDecompressed = 64 * 1024 * 1024;
const notRead = 'is compressed, and cannot be searched: it is damaged, or holds more than 64 MiB';

/** Reads what a compressed file holds; `undefined` if the file is damaged, or if that is too much for memory. */
const readCompressed = (candidate: SiteFile): Buffer | undefined =>
  statSync(candidate.file).size > maxDecompressed ? undefined : readCopy(candidate, maxDecompressed);

/** Searches the files of all folders for traces of the same changes. */
class DerivedFileSearch {
  readonly oldTexts: OldTexts;
  readonly #changes: SiteChanges;
  readonly #findDigest: TraceFinder;
  readonly #findCode: TraceFinder;
  readonly #pagesOfSize: ReadonlyMap<number, readonly SiteFile[]>;

  constructor(changes: SiteChanges) {
    this.#changes = changes;
    this.oldTexts = new OldTexts(changes);
    this.#findDigest = digestFinder(changes.pages);
    this.#findCode = codeFinder(changes);
    this.#pagesOfSize = Map.groupBy(changes.pages, ({ file }) => statSync(file).size);
  }

  searchFolder(folder: ListedFolder): SearchedFile[] {
    const { directory, isCopy, files, compressed } = folder;
    const indexes = new SearchIndexes(folder, files, this.#changes.pages);
    const findPrecached = precacheFinder(directory, this.#changes.pages);
    return files.flatMap((candidate): SearchedFile | [] => {
      const { name } = candidate;
      const doubtful = new Map<string, Trace>();
      const file = { ...fileIn(folder, name), isCopy };
      const index = indexes.describe(candidate);
      if (index) return { file, found: index, doubtful };
      const role = this.#changes.roleOf(candidate);
      if (indexes.has(candidate) || !mayBeDerived[role] || !mayHoldText(candidate)) return [];

      const bytes = compressed.has(candidate) ? readCompressed(candidate) : undefined;
      if (compressed.has(candidate) && !bytes) {
        return role === 'derived' ? { file, found: { reason: notRead }, doubtful } : [];
      }
      const page = isCopy ? undefined : this.#findCopiedPage(candidate, bytes);
      if (page) return { file, found: { page, reason: `is a copy of ${page}` }, doubtful };
      for (const text of bytes ? textsOfBytes(bytes) : textsOf(candidate.file)) {
        const trace =
          findPrecached(text, name) ??
          this.#findDigest(text, name) ??
          this.#findCode(text, name) ??
          this.oldTexts.find(text, doubtful);
        if (trace) return { file, found: { reason: describeTrace(trace) }, doubtful: new Map() };
      }
      return { file, doubtful };
    });
  }

  /** The name of the changing page with the same bytes as a file. @param unpacked what a compressed file holds */
  #findCopiedPage({ file, name, realFile }: SiteFile, unpacked: Buffer | undefined): string | undefined {
    const pages = this.#pagesOfSize.get(unpacked?.length ?? statSync(file).size);
    if (!pages) return undefined;
    // A link shows the page that it leads to, even if another one has the same bytes.
    const linked = realFile && pages.find((page) => realpathSync.native(page.file) === realFile);
    if (linked) return linked.name;
    const kind = fileKind(unpacked ? withoutSuffix(name) : name);
    const bytes = unpacked ?? readFileSync(file);
    return pages.find((page) => fileKind(page.name) === kind && bytes.equals(readFileSync(page.file)))?.name;
  }
}

/** Says what a file contains, as the end of a sentence that begins with its name. */
const describeTrace = (trace: Trace): string =>
  `contains ${trace.kind === 'revision' ? `the revision of ${trace.page}` : `what snippet ${trace.snippetId} was`}, which changes`;
