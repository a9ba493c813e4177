import { hash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contains, realPathOf } from '../files/paths.ts';
import { reasonOf } from '../text/clean-text.ts';
import { type HeldLock, type Lock, takeLock } from './lock.ts';
import { holderOf, type LockHolder } from './lock-holder.ts';
import { lockFile } from './record-paths.ts';

/** What the lock file of a folder says besides its holder. Paths are real ones, without symbolic links. */
interface LockedFolder {
  folder: string;
  /** The path of the manifest. */
  record: string;
}

/**
 * The lock of an output folder, which keeps builds and refreshes apart. It consists of two files:
 *
 * - Beside the record, where other machines see it that share the project. Astro may empty that folder.
 * - In the folder for temporary files, named for the real path of the output, where every process of this machine
 *   sees it, whatever its record: two checkouts of a site may write the same output, or one folder inside the other.
 *
 * Neither is in the output, which may be emptied by Astro, copied by an adapter, and published after a kill.
 */
export class OutputLock implements Lock {
  readonly #besideRecord: string;
  readonly #record: string;
  readonly #folder: string | undefined;

  /** @param folder the output; `undefined` if only the record is known: such a lock is not taken */
  constructor(manifest: string, folder: string | undefined) {
    this.#besideRecord = lockFile(manifest);
    this.#record = realPathOf(manifest);
    this.#folder = folder === undefined ? undefined : realPathOf(folder);
  }

  /** Whether there are lock files, even of a process that has ended. */
  get hasFiles(): boolean {
    return existsSync(this.#besideRecord) || existsSync(this.folderFile) || this.holder() !== undefined;
  }

  /** The lock file for the real path of the output. */
  get folderFile(): string {
    return join(tmpdir(), `astro-snippets-${hash('sha256', this.#folder ?? '').slice(0, 32)}.lock`);
  }

  take(work: LockHolder['work']): HeldLock | undefined {
    const besideRecord = takeLock(this.#besideRecord, work);
    if (!besideRecord) return undefined;
    let ofFolder: HeldLock | undefined;
    const release = () => {
      ofFolder?.release();
      besideRecord.release();
    };
    let flaw: string | undefined;
    try {
      const about: LockedFolder = { folder: this.#folder ?? '', record: this.#record };
      ofFolder = takeLock(this.folderFile, work, about);
      if (!ofFolder || this.#findOverlapping(ofFolder.token)) {
        release();
        return undefined;
      }
    } catch (error) {
      // Not every process may write there. What shares the record is still kept away.
      flaw = `Processes of other projects that write the same output are not noticed: ${reasonOf(error)}`;
    }
    return { token: besideRecord.token, flaw, release };
  }

  holder(): LockHolder | undefined {
    const holder = holderOf(this.#besideRecord);
    if (holder) return holder;
    try {
      return this.#findOverlapping();
    } catch {
      // `take` says that the folder cannot be read.
      return undefined;
    }
  }

  /** Finds a process that writes the folder, a folder inside it or around it, or a folder with the same record. */
  #findOverlapping(ownToken?: string): LockHolder | undefined {
    for (const name of readdirSync(tmpdir())) {
      if (!/^astro-snippets-[0-9a-f]{32}\.lock$/.test(name)) continue;
      const file = join(tmpdir(), name);
      const holder: (LockHolder & Partial<LockedFolder>) | undefined = holderOf(file);
      if (!holder || holder.token === ownToken) continue;
      const { folder, record, ...owner } = holder;
      if (record === this.#record) return owner;
      // Another user's lock may be unreadable, but its name tells the folder.
      if (file === this.folderFile || this.#overlaps(folder)) {
        return { ...owner, writes: folder && `${folder} for ${record}` };
      }
    }
    return undefined;
  }

  #overlaps(folder: unknown): boolean {
    if (typeof folder !== 'string' || this.#folder === undefined) return false;
    return contains(folder, this.#folder) || contains(this.#folder, folder);
  }
}
