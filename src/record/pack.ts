import { randomBytes } from 'node:crypto';
import { appendFileSync, closeSync, mkdirSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { userError } from '../failures/errors.ts';
import { statsOf } from '../files/read.ts';
import { writeError } from '../files/write.ts';
import { packageVersion } from '../settings/package-version.ts';
import type { Manifest, ManifestFile } from './manifest.ts';
import { packFile } from './record-paths.ts';

// The pages of a site as they were generated, in one file beside the record. A file for each page, or compressing them, would
// take seconds.

// A call for each page would take five times as long.
const writeSize = 1024 * 1024;

/** Writes a new pack. It counts once a record names it. */
export function packWriter(manifest: string) {
  const id = randomBytes(8).toString('hex');
  const file = packFile(manifest, id);
  const piece = Buffer.allocUnsafe(writeSize);
  let used = 0;
  let length = 0;
  const write = (bytes: Buffer) => {
    try {
      mkdirSync(dirname(file), { recursive: true });
      appendFileSync(file, bytes);
    } catch (error) {
      throw writeError(file, error, 'Without it, the site could not be refreshed.');
    }
  };
  return {
    add(page: Buffer): {
      packOffset: number;
      packLength: number;
    } {
      const packOffset = length;
      length += page.length;
      if (used + page.length > writeSize) {
        write(piece.subarray(0, used));
        used = 0;
      }
      if (page.length > writeSize) write(page);
      else used += page.copy(piece, used);
      return { packOffset, packLength: page.length };
    },
    finish():
      | {
          id: string;
          length: number;
          version: string;
        }
      | undefined {
      if (length === 0) return undefined;
      write(piece.subarray(0, used));
      return { id, length, version: packageVersion };
    },
  };
}

/** Not kept open: on Windows, no open file can be replaced. */
export function openPack(
  manifest: string,
  { pack }: Manifest,
): {
  /** The end of a sentence that begins with the pages. */
  flaw: string;
  read({ name, packOffset, packLength }: ManifestFile): Buffer<ArrayBuffer>;
} {
  const file = packFile(manifest, pack?.id);
  const found = statsOf(file);
  let flaw = '';
  if (!pack || !found) flaw = `are not beside ${manifest}`;
  else if (found.size !== pack.length) flaw = 'were cut off';
  else if (pack.version !== packageVersion)
    flaw = `were read by version ${pack.version} of astro-snippets, and this is ${packageVersion}`;
  const refuse = (what: string) => userError('missing-manifest', what, 'Build the site once.');
  return {
    /** The end of a sentence that begins with the pages. */
    flaw,
    read({ name, packOffset, packLength }: ManifestFile) {
      if (flaw) throw refuse(`The pages as they were generated ${flaw}.`);
      const page = Buffer.allocUnsafe(packLength);
      const descriptor = openSync(file, 'r');
      try {
        if (readSync(descriptor, page, 0, packLength, packOffset) === packLength) return page;
      } finally {
        closeSync(descriptor);
      }
      throw refuse(`${name} as it was generated was cut off.`);
    },
  };
}
