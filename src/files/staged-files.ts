import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { statsOf } from './read.ts';
import { forEachYielding } from './turns.ts';
import { keepAttributes, temporaryFile, writeError } from './write.ts';

/**
 * New files, written beside those that they replace, so that none is replaced before all fit on the disk:
 * `add` writes the new bytes, then `commit` renames the files, or `discard` removes them.
 */
export class StagedFiles {
  readonly #followsLinks: boolean;
  /** The files to replace, by targets. Two targets may lead to one file. */
  readonly #files = new Map<string, string>();
  /** The files that have a temporary file beside them. */
  readonly #staged = new Set<string>();
  /** Folders that were made for staged files, and that `discard` removes. */
  #newFolders: string[] = [];
  /** The targets whose owner or group cannot be kept. */
  readonly otherOwners: string[] = [];

  /** @param followsLinks whether a target that is a symbolic link stays, and the file it leads to is replaced */
  constructor({ followsLinks }: { followsLinks: boolean }) {
    this.#followsLinks = followsLinks;
  }

  /**
   * Stages a file, unless the target has these bytes already.
   *
   * @param modeSource the path of the file whose permissions the new file gets.
   * @returns the size and time that the target will have after `commit`.
   * @throws UserError if the file cannot be written.
   */
  add(target: string, bytes: Buffer, modeSource: string = target): Stats {
    const file = this.#followsLinks && existsSync(target) ? realpathSync.native(target) : target;
    const temporary = temporaryFile(file);
    const stats = statsOf(file);
    if (stats?.size === bytes.length && readFileSync(file).equals(bytes)) {
      // Nothing is staged, but a run that was killed may have left a temporary file.
      rmSync(temporary, { force: true });
      return stats;
    }
    try {
      const newFolder = mkdirSync(dirname(file), { recursive: true });
      if (newFolder) this.#newFolders.push(newFolder);
      this.#files.set(target, file);
      this.#staged.add(file);
      writeFileSync(temporary, bytes);
      if (!keepAttributes(temporary, file, modeSource)) this.otherOwners.push(target);
      return statSync(temporary);
    } catch (error) {
      throw writeError(target, error, 'Nothing was changed.');
    }
  }

  /** Reads the bytes that the target will have after `commit`. */
  read(target: string): Buffer {
    const file = this.#files.get(target) ?? target;
    return readFileSync(this.#staged.has(file) ? temporaryFile(file) : file);
  }

  /** Replaces all targets, or only those given, with their staged files. */
  async commit(targets: Iterable<string> = this.#files.keys()): Promise<void> {
    this.#newFolders = [];
    await forEachYielding([...targets], (target) => {
      const file = this.#files.get(target) ?? target;
      if (this.#staged.delete(file)) renameSync(temporaryFile(file), file);
    });
  }

  /** Removes the staged files that are not committed, and the folders that were made for them. */
  discard(): void {
    for (const file of this.#staged) rmSync(temporaryFile(file), { force: true });
    for (const folder of this.#newFolders) rmSync(folder, { recursive: true, force: true });
  }
}
