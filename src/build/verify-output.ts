import { rm } from 'node:fs/promises';
import { keyDetector } from '../client/api-key.ts';
import { userError } from '../failures/user-error.ts';
import { overlaps, readUnlessLarge, searchFile } from '../read-file.ts';
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
}

/** @throws AstroError if the output contains the API key. The files that contain it are removed. */
export async function refuseKey(verifier: OutputVerifier): Promise<void> {
  for (const { file } of verifier.withKey) await rm(file, { force: true });
  refuseKeyUnwritten(verifier, 'These files were removed.');
}

/**
 * The same for files that are not written yet, or not ours to remove.
 *
 * @param outcome what became of the files, as a sentence.
 */
export function refuseKeyUnwritten({ withKey }: OutputVerifier, outcome = 'Nothing was written.'): void {
  if (withKey.length === 0) return;
  const names = withKey.map(({ name }) => name).join(', ');
  throw userError('published-key', `The API key was found in ${names}. ${outcome}`);
}
