import { readFileSync, rmSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { mayContainEmbedIn } from '../embed/file-search.ts';
import { userError } from '../failures/errors.ts';
import { isLargeBinary, largePieceBuffer, overlaps, piecesOf, statsOf, withFile } from '../files/read.ts';
import { forEachYielding } from '../files/turns.ts';
import { OutputListing } from '../output/output-listing.ts';
import { isPacked, unpackedPiecesOf } from '../output/packed.ts';
import type { ScannableFile, SiteFile, SiteFiles } from '../output/site-files.ts';
import { keySearch } from '../text/known-keys.ts';
import { EmbedsInCode } from './embeds-in-code.ts';

/**
 * Verifies that the output publishes no API key, and that no embed is left in a script or style sheet.
 *
 * Each file is checked once, in its final state: a page without embeds while it is scanned, one with embeds
 * once its snippets are inlined, and all other files after that. `refuseKey` and `code.warnings` then say what
 * was found.
 */
export class OutputVerifier {
  /** The files that contain the API key. */
  readonly #withKey = new Set<SiteFile>();
  /** Compressed files and archives, which are searched as they are first. */
  #packed: SiteFile[] = [];
  /** The files as they were when they were checked. */
  #checked = new OutputListing();
  /** The files that hold no embed, as they were when they were checked. */
  readonly #checkedBinary = new OutputListing();
  /** The scripts and style sheets that hold an embed, or write one. */
  readonly code: EmbedsInCode = new EmbedsInCode();
  /** `undefined` for a site without a key, so that no file can contain one. */
  readonly #containsKey: ((text: Buffer | string) => boolean) | undefined;
  readonly #pieceBuffer = largePieceBuffer(overlaps.key);

  constructor(apiKey?: string) {
    this.#containsKey = apiKey === undefined ? undefined : keySearch(apiKey).isIn;
  }

  /**
   * Searches a file for the API key.
   *
   * @param bytes `undefined` for a large file, which is read in pieces
   * @param stats those of the file when it had these bytes; absent if the bytes are not those of the file
   */
  check(file: SiteFile, bytes: Buffer | undefined, stats?: Stats): void {
    if (stats) this.#checked.add(file.name, stats);
    if (!this.#containsKey) return;
    let isStart = true;
    for (const piece of bytes ? [bytes] : piecesOf(file.file, overlaps.key, this.#pieceBuffer)) {
      if (isStart && isPacked(file.name, piece)) this.#packed.push(file);
      isStart = false;
      if (this.#containsKey(piece)) return void this.#withKey.add(file);
    }
  }

  /** Returns the files as they were when they were checked. What is checked from now on is in the next list. */
  takeListing(): OutputListing {
    const listing = this.#checked;
    this.#checked = new OutputListing();
    return listing;
  }

  /** Checks a file for the API key. @returns whether the file may hold embeds */
  checkAndFindEmbed(file: ScannableFile): boolean {
    return withEmbeddingFile(file, (bytes, stats) => {
      this.check(file, bytes, stats);
      return bytes !== undefined && mayContainEmbedIn(file.kind, bytes.toString('latin1'));
    });
  }

  /**
   * Checks files in which no snippet is inlined for the API key, scripts and style sheets for embeds, and the names of
   * all files for the key.
   */
  async checkOthers({ scannable, unscanned, binary, compressed }: SiteFiles): Promise<void> {
    await forEachYielding(unscanned, (file) =>
      withFile(file.file, (bytes, stats) => {
        this.check(file, bytes, stats);
        if (file.isCode && bytes) this.code.addFile(file, bytes);
      }),
    );
    // Compressed files of others, such as data for downloads, are told apart from those that are made later.
    for (const { file, name } of compressed) {
      const stats = statsOf(file);
      if (stats) this.#checked.add(name, stats);
    }
    await this.checkBinary([...binary, ...compressed]);
    this.#checkNames([...scannable, ...unscanned, ...binary, ...compressed]);
  }

  /** Searches files of any kind for the API key, in large pieces, and decompressed if they are. */
  async checkBinary(files: readonly SiteFile[]): Promise<void> {
    if (!this.#containsKey) return;
    await forEachYielding(files, (file) => {
      const stats = statsOf(file.file);
      if (!stats || !this.#checkedBinary.mayHaveChanged(file.name, stats)) return;
      this.#checkedBinary.add(file.name, stats);
      this.check(file, undefined);
    });
    const limit = pLimit(maxUnpacking);
    const packed = this.#packed;
    this.#packed = [];
    await Promise.all(packed.map((file) => limit(() => this.#checkPacked(file))));
  }

  async #checkPacked(file: SiteFile) {
    for await (const piece of unpackedPiecesOf(file.file)) {
      if (this.#containsKey?.(piece)) return void this.#withKey.add(file);
    }
  }

  /** One search of all names is as good as one for each, as long as none has the key. */
  #checkNames(files: readonly SiteFile[]) {
    const contains = this.#containsKey;
    if (!contains?.(files.map(({ name }) => name).join('\n'))) return;
    for (const file of files) if (contains(file.name)) this.#withKey.add(file);
  }

  /** Whether a text contains the API key. */
  isKeyIn(text: string): boolean {
    return this.#containsKey?.(text) ?? false;
  }

  /** Whether a file contains the API key. */
  get hasFound(): boolean {
    return this.#withKey.size > 0;
  }

  /** @throws UserError if a file contains the API key, with a message made from the names of the files */
  refuseKey(describe: (names: string) => string, hint?: string): void {
    if (!this.hasFound) return;
    const names = [...this.#withKey].map(({ name }) => name).sort();
    throw userError('published-key', describe(names.join(', ')), hint);
  }

  /** Removes the files that contain the API key, and the folders whose names do. */
  removeKey(): void {
    for (const { file, name } of this.#withKey) {
      const segments = name.split('/');
      const inName = segments.findIndex((segment) => this.#containsKey?.(segment));
      const levels = inName === -1 ? 0 : segments.length - 1 - inName;
      rmSync(join(file, ...Array(levels).fill('..')), { force: true, recursive: levels > 0 });
    }
  }
}

/** How many compressed files are searched at once: more than there are processors gains nothing. */
const maxUnpacking = 4;

/**
 * Calls `use` with the bytes of a file, which `use` must not keep: the buffer is used again. A large file is
 * read in pieces, and whole only if a piece mentions the element; else `use` gets `undefined`.
 */
export function withEmbeddingFile<T>(
  file: ScannableFile,
  use: (bytes: Buffer | undefined, stats: Stats) => T,
): T {
  return withFile(file.file, (bytes, stats) => use(bytes ?? readLargeEmbedding(file), stats));
}

function readLargeEmbedding({ file, name, kind }: ScannableFile): Buffer | undefined {
  if (isLargeBinary(file)) return undefined;
  const mentions = (piece: Buffer) => mayContainEmbedIn(kind, piece.toString('latin1'));
  if (!piecesOf(file, overlaps.embed).some(mentions)) return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`${name} contains an embed and could not be read: ${(error as Error).message}`);
  }
}
