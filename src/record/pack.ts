import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { userError } from '../failures/user-error.ts';
import { writeError } from '../failures/write-error.ts';
import type { Manifest, ManifestFile, RecordedPack } from './manifest.ts';

// The pages of a site as they were generated, one after the other in one file beside the record. A refresh inlines
// snippets in them as the build did. A file for each would take seconds for a large site, and so would compressing them.

// Written in pieces of this size, since a call for each small page takes five times as long.
const pieceSize = 1024 * 1024;

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** The name says which record it belongs to: a folder of caches may be shared by several sites. */
function packFile(manifest: string, id: string): string {
  return join(dirname(manifest), `${basename(manifest, '.json')}.${id}.pack`);
}

/** Writes the pack of a new record. It counts once a record names it. */
export class PackWriter {
  readonly #id = randomBytes(8).toString('hex');
  readonly #file: string;
  #descriptor: number | undefined;
  #piece = Buffer.allocUnsafe(0);
  #filled = 0;
  #length = 0;

  /** @param manifest the file of the record. */
  constructor(manifest: string) {
    this.#file = packFile(manifest, this.#id);
  }

  /**
   * Adds a page.
   *
   * @returns where it is in the pack.
   * @throws AstroError that says why it could not be written.
   */
  add(page: Buffer): Pick<ManifestFile, 'at' | 'length'> {
    const at = this.#length;
    if (this.#filled + page.length > this.#piece.length) this.#flush();
    if (page.length > pieceSize) this.#write(page);
    else {
      if (this.#piece.length === 0) this.#piece = Buffer.allocUnsafe(pieceSize);
      this.#filled += page.copy(this.#piece, this.#filled);
    }
    this.#length += page.length;
    return { at, length: page.length };
  }

  /** @returns what a record says about it; `undefined` if it has no page. */
  finish(): RecordedPack | undefined {
    this.#flush();
    if (this.#descriptor === undefined) return undefined;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
    return { id: this.#id, length: this.#length, version };
  }

  /** Removes it, if there is no record for it. */
  discard(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    rmSync(this.#file, { force: true });
  }

  #flush(): void {
    if (this.#filled > 0) this.#write(this.#piece.subarray(0, this.#filled));
    this.#filled = 0;
  }

  #write(bytes: Buffer): void {
    try {
      if (this.#descriptor === undefined) {
        mkdirSync(dirname(this.#file), { recursive: true });
        this.#descriptor = openSync(this.#file, 'w');
      }
      for (let written = 0; written < bytes.length; ) {
        written += writeSync(this.#descriptor, bytes, written);
      }
    } catch (error) {
      this.discard();
      throw writeError(this.#file, error, 'Without it, the site could not be refreshed.');
    }
  }
}

/** The pack of a record. */
export class Pack {
  readonly #descriptor: number;

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** @throws AstroError if it is not the one that the record was written with. */
  static open(manifest: string, { pack }: Pick<Manifest, 'pack'>): Pack {
    const flaw = flawOf(manifest, pack);
    if (pack === undefined || flaw !== undefined) {
      throw userError(
        'missing-manifest',
        `The pages as they were generated ${flaw}.`,
        'Build the site once.',
      );
    }
    return new Pack(openSync(packFile(manifest, pack.id), 'r'));
  }

  read({ name, at, length }: Pick<ManifestFile, 'name' | 'at' | 'length'>): Buffer {
    const page = Buffer.allocUnsafe(length);
    if (readSync(this.#descriptor, page, 0, length, at) === length) return page;
    throw userError('missing-manifest', `${name} as it was generated was cut off.`, 'Build the site once.');
  }

  /** Before it is replaced, since on Windows no open file can be. */
  close(): void {
    closeSync(this.#descriptor);
  }
}

/** Why a pack cannot be used: the end of a sentence that begins with the pages. `undefined` if it can. */
export function flawOf(manifest: string, pack: RecordedPack | undefined): string | undefined {
  const size = pack && statSync(packFile(manifest, pack.id), { throwIfNoEntry: false, bigint: false })?.size;
  if (pack === undefined || size === undefined) return `are not beside ${manifest}`;
  if (size !== pack.length) return 'were cut off';
  if (pack.version !== version)
    return `were read by version ${pack.version} of astro-snippets, and this is ${version}`;
  return undefined;
}

/** The ids of the packs of a record: its own, and those of earlier records that were not removed. */
export function listPacks(manifest: string): string[] {
  const folder = dirname(manifest);
  const [start, end] = [`${basename(manifest, '.json')}.`, '.pack'];
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names
    .filter((name) => name.startsWith(start) && name.endsWith(end))
    .map((name) => name.slice(start.length, -end.length))
    .filter((id) => /^[0-9a-f]{16}$/.test(id));
}

/** Removes the packs of earlier records of the same file. */
export function removeOtherPacks(manifest: string, { pack }: Pick<Manifest, 'pack'>): void {
  for (const id of listPacks(manifest)) {
    if (id !== pack?.id) rmSync(packFile(manifest, id), { force: true });
  }
}
