import { basename, dirname, posix } from 'node:path';
import { fileKind } from '../../files/file-kind.ts';
import type { SiteFolder } from '../page-copies.ts';
import type { SiteFile } from '../site-files.ts';

/** A folder with a file of this name holds a Pagefind search index. */
const indexEntry = 'pagefind-entry.json';
const indexFile = /^pagefind|\.(pf_\w+|pagefind)$/;

/** The search indexes that Pagefind has made in a folder of a site. */
export class SearchIndexes {
  readonly #folder: SiteFolder;
  readonly #files: readonly SiteFile[];
  /** The entries of indexes that change. */
  readonly #entries: readonly SiteFile[];
  /** The name of a page that changes; `undefined` if only other files do, which Pagefind does not index. */
  readonly #page: string | undefined;

  constructor(folder: SiteFolder, files: readonly SiteFile[], changingPages: readonly SiteFile[]) {
    this.#folder = folder;
    this.#files = files;
    this.#page = changingPages.find(({ name }) => fileKind(name) === 'html')?.name;
    this.#entries = this.#page ? files.filter(({ name }) => basename(name) === indexEntry) : [];
  }

  has({ name }: SiteFile): boolean {
    return indexFile.test(basename(name)) && this.#entries.some((entry) => isBeside(entry, name));
  }

  /** Says why an index is out of date, and how to renew it; `undefined` for other files than its entry. */
  describe(file: SiteFile): { reason: string; rebuild?: string } | undefined {
    if (!this.#entries.includes(file)) return undefined;
    const reason = `is a search index of pages that change, such as ${this.#page}`;
    // The command deletes the index's folder, so it is not suggested if a theme has other files there.
    const hasOtherFiles = this.#files.some((other) => isBeside(file, other.name) && !this.has(other));
    return hasOtherFiles ? { reason } : { reason, rebuild: renewCommand(this.#folder, dirname(file.name)) };
  }
}

const isBeside = (entry: SiteFile, name: string) => name.startsWith(entry.name.slice(0, -indexEntry.length));

/** The command that makes an index again. It removes the old index, which Pagefind would leave. */
function renewCommand({ shown }: SiteFolder, index: string): string {
  const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `"${path}"`);
  const where = index === 'pagefind' ? '' : ` --output-subdir ${quoted(index)}`;
  return `rm -rf ${quoted(posix.join(shown, index))} && pagefind --site ${quoted(shown)}${where}`;
}
