import { mkdirSync, readFileSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { statsOf } from './read.ts';
import { forEachYielding } from './turns.ts';
import { copyMode, temporaryFile, writeError } from './write.ts';

/**
 * New files, written beside those that they replace, so that none is replaced before all fit on the disk:
 * `add` writes the new bytes, then `commit` renames the files, or `discard` removes them.
 */
export class StagedFiles {
  readonly #targets = new Set<string>();
  /** Folders that were made for staged files, and that `discard` removes. */
  #newFolders: string[] = [];

  /**
   * Stages a file, unless the target has these bytes already.
   *
   * @param modeSource the path of the file whose permissions the new file gets.
   * @returns the size and time that the target will have after `commit`.
   * @throws UserError if the file cannot be written.
   */
  add(target: string, bytes: Buffer, modeSource: string = target): Stats {
    const temporary = temporaryFile(target);
    const stats = statsOf(target);
    if (stats?.size === bytes.length && readFileSync(target).equals(bytes)) {
      // Nothing is staged, but a run that was killed may have left a temporary file.
      rmSync(temporary, { force: true });
      return stats;
    }
    try {
      const newFolder = mkdirSync(dirname(target), { recursive: true });
      if (newFolder) this.#newFolders.push(newFolder);
      this.#targets.add(target);
      writeFileSync(temporary, bytes);
      copyMode(modeSource, temporary);
      return statSync(temporary);
    } catch (error) {
      throw writeError(target, error, 'Nothing was changed.');
    }
  }

  /** Reads the bytes that the target will have after `commit`. */
  read(target: string): Buffer {
    return readFileSync(this.#targets.has(target) ? temporaryFile(target) : target);
  }

  /** Replaces all targets, or only those given, with their staged files. */
  async commit(targets: Iterable<string> = this.#targets): Promise<void> {
    this.#newFolders = [];
    await forEachYielding([...targets], (target) => {
      if (this.#targets.delete(target)) renameSync(temporaryFile(target), target);
    });
  }

  /** Removes the staged files that are not committed, and the folders that were made for them. */
  discard(): void {
    for (const target of this.#targets) rmSync(temporaryFile(target), { force: true });
    for (const folder of this.#newFolders) rmSync(folder, { recursive: true, force: true });
  }
}
