import { readFileSync } from 'node:fs';
import { keyDetector } from '../client/api-key.ts';
import { inTurns } from './in-turns.ts';
import type { SiteFile } from './scan-site.ts';

/** Checks the text files of the output, as they are going to be published, for the API key. */
export class OutputVerifier {
  readonly #containsKey: (bytes: Buffer) => boolean;
  /** Files that contain the API key in any spelling. */
  readonly withKey: SiteFile[] = [];

  constructor(apiKey: string | undefined) {
    this.#containsKey = apiKey === undefined ? () => false : keyDetector(apiKey);
  }

  check(file: SiteFile, bytes: Buffer): void {
    if (this.#containsKey(bytes)) this.withKey.push(file);
  }

  /** Reads and checks files. */
  async read(files: readonly SiteFile[]): Promise<void> {
    await inTurns(files, (file) => this.check(file, readFileSync(file.file)));
  }
}
