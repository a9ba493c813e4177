import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { copyMode, temporaryFile, writeError } from '../files/write.ts';
import { inTurns } from './scan-site.ts';

/** Files that are written beside those they replace, so that everything has found room on the disk before that. */
export class StagedFiles {
  readonly #targets = new Set<string>();
  #newFolders: string[] = [];

  /** @param like a file whose permissions it gets. */
  add(target: string, bytes: Buffer, like = target): void {
    const { size } = statSync(target, { throwIfNoEntry: false }) ?? {};
    if (size === bytes.length && readFileSync(target).equals(bytes)) {
      // A run that was killed may have left it.
      rmSync(temporaryFile(target), { force: true });
      return;
    }
    try {
      const folder = mkdirSync(dirname(target), { recursive: true });
      if (folder !== undefined) this.#newFolders.push(folder);
      this.#targets.add(target);
      writeFileSync(temporaryFile(target), bytes);
      copyMode(like, temporaryFile(target));
    } catch (error) {
      throw writeError(target, error, 'Nothing was changed.');
    }
  }

  read(target: string): Buffer {
    return readFileSync(this.#targets.has(target) ? temporaryFile(target) : target);
  }

  async commit(targets: Iterable<string> = this.#targets): Promise<void> {
    this.#newFolders = [];
    await inTurns([...targets], (target) => {
      if (this.#targets.delete(target)) renameSync(temporaryFile(target), target);
    });
  }

  discard(): void {
    for (const target of this.#targets) rmSync(temporaryFile(target), { force: true });
    for (const folder of this.#newFolders) rmSync(folder, { recursive: true, force: true });
  }
}
