import { randomBytes } from 'node:crypto';
import { appendFileSync, closeSync, mkdirSync, openSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { type UserError, userError } from '../failures/errors.ts';
import { statsOf } from '../files/read.ts';
import { writeError } from '../files/write.ts';
import { packageVersion } from '../settings/versions.ts';
import type { PackedPage, RecordedFile, RecordedPack } from './manifest.ts';
import { packFile } from './record-paths.ts';

/** How many bytes are written at once. A write for each page would take five times as long. */
const writeSize = 1024 * 1024;

/** The bytes of the checksum before each page. */
const checksumSize = 4;

/**
 * Writes a new pack: the pages of a site as they were generated, with their embeds, from which a refresh
 * makes them again. All are in one file: a file for each page, or compression, would take seconds. The
 * pack of the last manifest stays until the new manifest is written.
 */
export class PackWriter {
  readonly #id: string = randomBytes(8).toString('hex');
  readonly #file: string;
  /** Pages that are not written yet, in its first `#buffered` bytes. */
  readonly #buffer = Buffer.allocUnsafe(writeSize);
  #buffered = 0;
  /** The size of all pages that were added until now, in bytes. */
  #length = 0;

  /** @param manifest the file of the manifest that the pack is for */
  constructor(manifest: string) {
    this.#file = packFile(manifest, this.#id);
  }

  /** Adds a page. @returns where it is in the pack @throws UserError if the pack cannot be written */
  add(page: Buffer): PackedPage {
    const packOffset = this.#length;
    const size = checksumSize + page.length;
    this.#length += size;
    if (this.#buffered + size > writeSize) this.#flush();
    this.#buffered = this.#buffer.writeUInt32LE(crc32(page), this.#buffered);
    if (size > writeSize) {
      this.#flush();
      this.#write(page);
    } else {
      this.#buffered += page.copy(this.#buffer, this.#buffered);
    }
    return { packOffset, packLength: page.length };
  }

  /** Completes the pack. @returns `undefined` if the site has no pages with snippets */
  finish(): RecordedPack | undefined {
    if (this.#length === 0) return undefined;
    this.#flush();
    return { id: this.#id, length: this.#length, version: packageVersion };
  }

  #flush() {
    this.#write(this.#buffer.subarray(0, this.#buffered));
    this.#buffered = 0;
  }

  #write(bytes: Buffer) {
    try {
      mkdirSync(dirname(this.#file), { recursive: true });
      appendFileSync(this.#file, bytes);
    } catch (error) {
      throw writeError(this.#file, error, 'Without it, the site could not be refreshed.');
    }
  }
}

/** Reads the pages of a pack. The file is opened for each page: on Windows, no open file can be replaced. */
export class PackReader {
  readonly #file: string;
  /** Why the pack cannot be used, as the end of a sentence about its pages; `undefined` if it can be. */
  readonly flaw: string | undefined;

  /** @param manifest the path of the manifest */
  constructor(manifest: string, pack: RecordedPack | undefined) {
    this.#file = packFile(manifest, pack?.id);
    this.flaw = findFlaw(manifest, pack);
  }

  /** Reads a page as it was generated. @throws UserError if the pack or the page cannot be used */
  read(file: RecordedFile): Buffer<ArrayBuffer> {
    if (this.flaw) throw unusablePackError(`The pages as they were generated ${this.flaw}.`);
    const page = this.find(file);
    if (page) return page;
    throw unusablePackError(`${file.name} as it was generated is damaged, or cannot be read.`);
  }

  /** Reads a page as it was generated; `undefined` if it cannot be read, or is not what was written. */
  find({ packOffset, packLength }: RecordedFile): Buffer<ArrayBuffer> | undefined {
    const bytes = Buffer.allocUnsafe(checksumSize + packLength);
    try {
      const descriptor = openSync(this.#file, 'r');
      try {
        if (readSync(descriptor, bytes, 0, bytes.length, packOffset) !== bytes.length) return undefined;
      } finally {
        closeSync(descriptor);
      }
    } catch {
      return undefined;
    }
    const page = bytes.subarray(checksumSize);
    return crc32(page) === bytes.readUInt32LE() ? page : undefined;
  }
}

function findFlaw(manifest: string, pack: RecordedPack | undefined): string | undefined {
  const stats = pack && statsOf(packFile(manifest, pack.id));
  if (!pack || !stats) return `are not beside ${manifest}`;
  if (stats.size !== pack.length) return 'were cut off';
  if (pack.version === packageVersion) return undefined;
  return `were read by version ${pack.version} of astro-snippets, and this is ${packageVersion}`;
}

/** An unusable pack is reported like a missing record, so the command ends with exit status 3. */
const unusablePackError = (message: string): UserError =>
  userError('missing-manifest', message, 'Build the site once.');
