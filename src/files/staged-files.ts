import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { statsOf } from './read.ts';
import { forEachYielding } from './turns.ts';
import { copyMode, temporaryFile, writeError } from './write.ts';

/** Files that are written beside those they replace: all fit on the disk before one is replaced. */
export class StagedFiles {
  readonly #targets = new Set<string>();
  #newFolders: string[] = [];

  /** @param like a file whose permissions it gets. */
  add(target: string, bytes: Buffer, like: string = target): void {
    const temporary = temporaryFile(target);
    if (statsOf(target)?.size === bytes.length && readFileSync(target).equals(bytes)) {
      // A run that was killed may have left it.
      rmSync(temporary, { force: true });
      return;
    }
    try {
      const folder = mkdirSync(dirname(target), { recursive: true });
      if (folder) this.#newFolders.push(folder);
      this.#targets.add(target);
      writeFileSync(temporary, bytes);
      copyMode(like, temporary);
    } catch (error) {
      throw writeError(target, error, 'Nothing was changed.');
    }
  }

  read(target: string): NonSharedBuffer {
    return readFileSync(this.#targets.has(target) ? temporaryFile(target) : target);
  }

  async commit(targets: Iterable<string> = this.#targets): Promise<void> {
    this.#newFolders = [];
    await forEachYielding([...targets], (target) => {
      if (this.#targets.delete(target)) renameSync(temporaryFile(target), target);
    });
  }

  discard(): void {
    for (const target of this.#targets) rmSync(temporaryFile(target), { force: true });
    for (const folder of this.#newFolders) rmSync(folder, { recursive: true, force: true });
  }
}
