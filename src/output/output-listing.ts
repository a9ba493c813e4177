import type { Stats } from 'node:fs';
import { statsOf } from '../files/read.ts';
import { listSiteFiles, type SiteFile } from './site-files.ts';

/** What the file system said of a file. If it says the same later, the file has not changed. */
interface FileStamp {
  size: number;
  /** The time of the last change of the bytes, which programs may set to any time. */
  mtimeMs: number;
  /** The time of the last change of the bytes or of anything else, which no program can set. */
  ctimeMs: number;
}

/**
 * A change may leave the time of a file as it was if it follows so soon, in milliseconds: the clocks of file
 * systems are coarse. Those of some, such as FAT, only have whole seconds.
 */
const clockTick = { usual: 50, wholeSeconds: 2_000 } as const;

/**
 * The files of an output at one moment, such as when snippets were inlined. Files that were written later are
 * those that are not as listed. Times are only compared with those that the same file system gave before: its
 * clock and that of this process may differ, as with network drives and virtual machines, and tools such as
 * `touch` make new files look old.
 */
export class OutputListing {
  readonly #stamps = new Map<string, FileStamp>();
  /** The latest time of a listed file, by the clock of the file system. */
  #latest = 0;

  /** Lists the files of a folder as they are now. */
  static ofFolder(folder: string): OutputListing {
    const listing = new OutputListing();
    const { scannable, unscanned } = listSiteFiles([folder], []);
    for (const { file, name } of [...scannable, ...unscanned]) {
      const stats = statsOf(file);
      if (stats) listing.add(name, stats);
    }
    return listing;
  }

  /** @param stats those of the file when its bytes were read, or after they were written */
  add(name: string, { size, mtimeMs, ctimeMs }: Stats): void {
    this.#stamps.set(name, { size, mtimeMs, ctimeMs });
    this.#latest = Math.max(this.#latest, ctimeMs);
  }

  /** @param stats those of the file now; `undefined` if there is no such file */
  isAsListed(name: string, stats: Stats | undefined): boolean {
    const stamp = this.#stamps.get(name);
    if (!stamp || !stats) return false;
    const { size, mtimeMs, ctimeMs } = stats;
    return stamp.size === size && stamp.mtimeMs === mtimeMs && stamp.ctimeMs === ctimeMs;
  }

  /** Whether a file is new or changed, or was listed so late that a change may not be visible in its time. */
  mayHaveChanged(name: string, stats: Stats | undefined): boolean {
    if (!stats || !this.isAsListed(name, stats)) return true;
    const tick = stats.ctimeMs % 1_000 === 0 ? clockTick.wholeSeconds : clockTick.usual;
    return stats.ctimeMs >= this.#latest - tick;
  }

  /** Removes the files that are not as listed. @returns those that are not, or that may not be */
  removeChanged<File extends SiteFile>(files: readonly File[]): File[] {
    return files.filter(({ file, name }) => {
      const stats = statsOf(file);
      const mayHaveChanged = this.mayHaveChanged(name, stats);
      if (mayHaveChanged && !this.isAsListed(name, stats)) this.#stamps.delete(name);
      return mayHaveChanged;
    });
  }

  /** The names, sizes and times of the listed files. */
  entries(): MapIterator<[name: string, stamp: Readonly<FileStamp>]> {
    return this.#stamps.entries();
  }
}
