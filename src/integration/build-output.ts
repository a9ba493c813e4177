import { fileURLToPath } from 'node:url';
import type { AstroIntegrationLogger } from 'astro';
import { shownPath } from '../files/paths.ts';
import { type HeldLock, lockForBuild } from '../record/lock.ts';
import { OutputLock } from '../record/output-lock.ts';
import { manifestFile, noteMissing, removeManifest } from '../record/record-paths.ts';
import type { Site } from './site.ts';

const unfinishedNote = 'The last build was not finished.';

/**
 * The output folder of a build, with its record (the manifest) and its lock. A build takes the lock at the
 * first sign of an embed, and keeps it until the build ends, so that no refresh or other build writes there.
 */
export class BuildOutput {
  /** The path of the manifest. */
  readonly manifestFile: string;
  readonly #outputLock: OutputLock;
  /** The output folder as messages name it, relative to the project. */
  readonly #shownFolder: string;
  readonly #logger: AstroIntegrationLogger;
  /** The lock of the output; `undefined` until the first sign of an embed. */
  #lock: Promise<HeldLock> | undefined;

  constructor({ sources, config, logger }: Site) {
    const { root, outDir } = sources.folders;
    this.manifestFile = manifestFile({ root, outDir, cacheDir: fileURLToPath(config.cacheDir) });
    this.#outputLock = new OutputLock(this.manifestFile, outDir);
    this.#shownFolder = shownPath(root, outDir);
    this.#logger = logger;
  }

  /** Whether the build has asked for the lock. */
  get isLocked(): boolean {
    return this.#lock !== undefined;
  }

  /** Locks the output, once: several modules may have an embed. @throws UserError if another build has it */
  async lock(): Promise<void> {
    this.#lock ??= this.#takeLock();
    await this.#lock;
  }

  /** Locks the output if another process may be writing there. @throws UserError if that is another build */
  async lockIfInUse(): Promise<void> {
    if (this.#outputLock.hasFiles) await this.lock();
  }

  /** Removes the record of the last build, as it is wrong once Astro writes to the output. */
  removeOldRecord(): void {
    removeManifest(this.manifestFile, unfinishedNote);
  }

  /** Replaces the record by a note of why there is none, unless another build has the output. */
  async noteFailure(error: Error): Promise<void> {
    const lock = await this.#lock?.catch(() => undefined);
    if (lock) removeManifest(this.manifestFile, error);
  }

  async release(): Promise<void> {
    const lock = this.#lock;
    this.#lock = undefined;
    (await lock?.catch(() => undefined))?.release();
  }

  async #takeLock(): Promise<HeldLock> {
    const lock = await lockForBuild(this.#outputLock, this.#shownFolder, (line) => this.#logger.info(line));
    noteMissing(this.manifestFile, unfinishedNote);
    return lock;
  }
}
