import { type FileStats, toFileState } from '../output/file-states.ts';
import { type Contents, displayedHash, findStaleSnippets } from '../record/changes.ts';
import {
  type Manifest,
  type RecordedFile,
  type RecordedSnippet,
  toRecordedFlaws,
  toSnapshot,
} from '../record/manifest.ts';
import type { PlannedPage, RefreshPlan } from './plan-refresh.ts';
import { changedSnippets, type SiteToRefresh } from './site-to-refresh.ts';

/**
 * The record during a refresh: has the new hashes of all pages before the first is written, and then notes
 * what becomes of each. At any time, it is true for files that are written and for those that are not:
 *
 * - `expectedHashes` has the hash that a file is going to have, besides the `hash` that it has until then.
 * - `staleContentHashes` says what a page shows until it is written, as `snippets` has the new contents from
 *   the beginning.
 */
export class RefreshRecord {
  readonly manifest: Manifest;
  readonly #files: ReadonlyMap<string, RecordedFile>;

  /** @param hasCommand whether a command (`--after`) makes files from the pages afterwards */
  constructor(
    site: SiteToRefresh,
    { pages, warnings }: Pick<RefreshPlan, 'pages' | 'warnings'>,
    hasCommand: boolean,
  ) {
    const { manifest, currentContents, linked, names } = site;
    const written = snippetsOnPages(pages);
    // If no written page shows a snippet, its recorded content stays, as the site does not show a newer one.
    const contents = manifest.snippets.map(({ content }, index) =>
      written.has(index) ? currentContents[index] : content,
    );
    const files = manifest.files.map((file) => withStaleHashes(manifest, file, contents));
    this.#files = new Map(files.map((file) => [file.name, file]));
    for (const { page, hash } of pages) {
      const expectedHashes = [...(page.expectedHashes ?? []), hash];
      this.#update(page, { copies: page.copies, expectedHashes });
    }

    const changed = changedSnippets(site);
    const warningsByKey = Map.groupBy(warnings, ({ request }) => request.key);
    const toRefreshedSnippet = (recorded: RecordedSnippet, index: number): RecordedSnippet => {
      const content = contents[index];
      if (!written.has(index)) return recorded;
      const snippet = changed.get(recorded.key);
      const flaws = snippet && toRecordedFlaws(snippet.flaws, warningsByKey.get(recorded.key));
      return {
        ...recorded,
        content,
        missing: content ? undefined : true,
        flaws: snippet || !content ? flaws : recorded.flaws,
      };
    };
    this.manifest = {
      ...manifest,
      afterPending: hasCommand || undefined,
      refreshedAt: new Date().toISOString(),
      linked,
      names,
      snippets: manifest.snippets.map(toRefreshedSnippet),
      previous: toSnapshot(manifest),
      files,
    };
  }

  /** Notes that a page is written. @param stats the size and time of its file */
  setWritten({ page, hash }: PlannedPage, stats: FileStats): void {
    const state = toFileState(stats, hash, page);
    this.#update(page, { staleContentHashes: undefined, expectedHashes: undefined, ...state });
  }

  /** Notes that a page is not written after all, as another program has changed its file. */
  setLeftAlone({ page }: PlannedPage): void {
    this.#update(page, { expectedHashes: page.expectedHashes });
  }

  #update({ name }: RecordedFile, changes: Partial<RecordedFile>): void {
    Object.assign(this.#files.get(name) ?? {}, changes);
  }
}

/** The indexes of all snippets on pages, even unchanged: a killed refresh may have written some of them. */
export function snippetsOnPages(pages: readonly PlannedPage[]): Set<number> {
  return new Set(pages.flatMap(({ page }) => page.shows));
}

/** Records the old contents that a file still shows, as the new record has the new ones. */
function withStaleHashes(manifest: Manifest, file: RecordedFile, contents: Contents): RecordedFile {
  const staleSnippets = findStaleSnippets(manifest, file, contents);
  const hashes = staleSnippets.map((index) => [index, displayedHash(manifest, file, index) ?? null]);
  return { ...file, staleContentHashes: hashes.length > 0 ? Object.fromEntries(hashes) : undefined };
}
