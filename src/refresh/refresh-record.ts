import type { Stats } from 'node:fs';
import { toFileState } from '../output/file-states.ts';
import { type Contents, displayedHash, findStaleSnippets } from '../record/changes.ts';
import { type Manifest, type RecordedFile, type RecordedSnippet, toSnapshot } from '../record/manifest.ts';
import type { PlannedPage } from './plan-refresh.ts';
import type { SiteToRefresh } from './site-to-refresh.ts';

/**
 * The record of a refresh: announces all pages before the first one is written, and follows what becomes of
 * them. At any time, the record is true for files that are written and for those that are not:
 *
 * - `expectedHashes` has the hash that a file is going to have, besides the `hash` that it has until then.
 * - `staleContentHashes` says what a page shows until it is written, as `snippets` has the new contents from
 *   the beginning.
 */
export class RefreshRecord {
  readonly manifest: Manifest;
  readonly #files: ReadonlyMap<string, RecordedFile>;

  /** @param hasCommand whether a command follows that makes files from the pages, and has to succeed */
  constructor(
    { manifest, currentContents }: SiteToRefresh,
    pages: readonly PlannedPage[],
    hasCommand: boolean,
  ) {
    const written = snippetsOnPages(pages);
    // Content that no page is written with stays as it is on record: the site does not show a newer one.
    const contents = manifest.snippets.map(({ content }, index) =>
      written.has(index) ? currentContents[index] : content,
    );
    const files = manifest.files.map((file) => withStaleHashes(manifest, file, contents));
    this.#files = new Map(files.map((file) => [file.name, file]));
    for (const { page, hash } of pages) {
      const expectedHashes = [...(page.expectedHashes ?? []), hash];
      this.#update(page, { copies: page.copies, expectedHashes });
    }

    const toRefreshedSnippet = (recorded: RecordedSnippet, index: number): RecordedSnippet => {
      const content = contents[index];
      return written.has(index) ? { ...recorded, content, missing: content ? undefined : true } : recorded;
    };
    this.manifest = {
      ...manifest,
      afterPending: hasCommand || undefined,
      refreshedAt: new Date().toISOString(),
      snippets: manifest.snippets.map(toRefreshedSnippet),
      previous: toSnapshot(manifest),
      files,
    };
  }

  /** Notes that a page is written. @param stats the state of its file */
  setWritten({ page, hash }: PlannedPage, stats: Stats): void {
    const state = toFileState(stats, hash, page);
    this.#update(page, { staleContentHashes: undefined, expectedHashes: undefined, ...state });
  }

  /** Notes that a page is not going to be written after all. */
  setLeftAlone({ page }: PlannedPage): void {
    this.#update(page, { expectedHashes: page.expectedHashes });
  }

  #update({ name }: RecordedFile, changes: Partial<RecordedFile>): void {
    Object.assign(this.#files.get(name) ?? {}, changes);
  }
}

/** The indexes of all snippets on pages, since a killed refresh may have written other pages with them. */
export function snippetsOnPages(pages: readonly PlannedPage[]): Set<number> {
  return new Set(pages.flatMap(({ page }) => page.shows));
}

/** Records which contents a file shows instead of those that are going to be on record. */
function withStaleHashes(manifest: Manifest, file: RecordedFile, contents: Contents): RecordedFile {
  const staleSnippets = findStaleSnippets(manifest, file, contents);
  const hashes = staleSnippets.map((index) => [index, displayedHash(manifest, file, index) ?? null]);
  return { ...file, staleContentHashes: hashes.length > 0 ? Object.fromEntries(hashes) : undefined };
}
