import { rm } from 'node:fs/promises';
import { keyDetector } from '../client/api-key.ts';
import { userError } from '../failures/errors.ts';
import { overlaps, readUnlessLarge, searchFile } from '../files/read.ts';
import { inTurns } from './in-turns.ts';
import type { SiteFile } from './scan-site.ts';

/** Checks the text files of the output, as they are going to be published, for the API key. */
export class OutputVerifier {
  readonly containsKey: (text: Buffer | string) => boolean;
  /** Files that contain the API key. */
  readonly withKey: SiteFile[] = [];

  constructor(apiKey: string | undefined) {
    this.containsKey = apiKey === undefined ? () => false : keyDetector(apiKey);
  }

  /** @param bytes `undefined` for a file that is too large to be in memory. */
  check(file: SiteFile, bytes: Buffer | undefined): void {
    const isFound =
      bytes === undefined ? searchFile(file.file, overlaps.key, this.containsKey) : this.containsKey(bytes);
    if (isFound) this.withKey.push(file);
  }

  /** Reads and checks files. */
  async read(files: readonly SiteFile[]): Promise<void> {
    await inTurns(files, (file) => this.check(file, readUnlessLarge(file.file)));
  }

  /**
   * @param describe makes the message of the names of files that contain the API key.
   * @throws AstroError if there is one.
   */
  refuse(describe: (names: string) => string): void {
    if (this.withKey.length === 0) return;
    throw userError('published-key', describe(this.withKey.map(({ name }) => name).join(', ')));
  }
}

/** @throws AstroError if the output contains the API key. The files that contain it are removed. */
export async function refuseKey(verifier: OutputVerifier): Promise<void> {
  for (const { file } of verifier.withKey) await rm(file, { force: true });
  verifier.refuse((names) => `The API key was found in ${names}. These files were removed.`);
}
