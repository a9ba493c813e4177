import { existsSync, readFileSync, type Stats } from 'node:fs';
import { mayContainEmbed } from '../embed/element.ts';
import { userError } from '../failures/errors.ts';
import { isLargeBinary, overlaps, piecesOf, withFile } from '../files/read.ts';
import { forEachYielding } from '../files/turns.ts';
import { OutputListing } from '../output/output-listing.ts';
import type { SiteFile, UnscannedFile } from '../output/site-files.ts';
import { keySearch } from '../text/known-keys.ts';

/**
 * Verifies that the output publishes no API key, and that no embed is left in a script or style sheet.
 *
 * Each file is checked once, in its final state: a page without embeds while it is scanned, one with embeds
 * once its snippets are inlined, and all other files after that. `refuseKey` and `codeWarnings` then say what
 * was found.
 */
export class OutputVerifier {
  /** The files that contain the API key. */
  readonly withKey: SiteFile[] = [];
  /** The files as they were when they were checked. */
  #checked = new OutputListing();
  /** Scripts and style sheets that hold an embed. */
  readonly #codeWithEmbed: UnscannedFile[] = [];
  readonly #containsKey: (text: Buffer) => boolean;

  /** @param apiKey `undefined` for a site without a key, so no file can contain one */
  constructor(apiKey?: string) {
    this.#containsKey = apiKey === undefined ? () => false : keySearch(apiKey).isIn;
  }

  /**
   * Searches a file for the API key.
   *
   * @param bytes `undefined` for a large file, which is read in pieces
   * @param stats those of the file when it had these bytes; absent if the bytes are not those of the file
   */
  check(file: SiteFile, bytes: Buffer | undefined, stats?: Stats): void {
    if (stats) this.#checked.add(file.name, stats);
    const pieces = bytes ? [bytes].values() : piecesOf(file.file, overlaps.key);
    if (pieces.some((piece) => this.#containsKey(piece))) this.withKey.push(file);
  }

  /** Returns the files as they were when they were checked. What is checked from now on is in the next list. */
  takeListing(): OutputListing {
    const listing = this.#checked;
    this.#checked = new OutputListing();
    return listing;
  }

  /** Checks a file for the API key. @returns whether the file may hold embeds */
  checkAndFindEmbed(file: SiteFile): boolean {
    return withEmbeddingFile(file, (bytes, stats) => {
      this.check(file, bytes, stats);
      return bytes !== undefined && mayContainEmbed(bytes.toString('latin1'));
    });
  }

  /** Checks files in which no snippet is inlined for the API key, and scripts and style sheets for embeds. */
  async checkUnscanned(files: readonly UnscannedFile[]): Promise<void> {
    await forEachYielding(files, (file) =>
      withFile(file.file, (bytes, stats) => {
        this.check(file, bytes, stats);
        if (file.isCode && embedInCode.test(bytes?.toString('latin1') ?? '')) this.#codeWithEmbed.push(file);
      }),
    );
  }

  /** Warns of each script and style sheet that holds an embed, and that still exists. */
  codeWarnings(): string[] {
    const remaining = this.#codeWithEmbed.filter(({ file }) => existsSync(file));
    return [...new Set(remaining.map(({ name }) => `${name}: ${codeWarning}`))];
  }

  /** @throws UserError if a file contains the API key, with a message made from the names of the files */
  refuseKey(describe: (names: string) => string): void {
    if (this.withKey.length === 0) return;
    throw userError('published-key', describe(this.withKey.map(({ name }) => name).join(', ')));
  }
}

// Only an element with an id counts: a script may name the element for another purpose, such as to style it.
const embedInCode =
  /snippet-embed(?<=(?:<|lt;|3c)snippet-embed)(?:\s|%20)[^<>]{0,300}?(?<![a-z])id\s*(?:=|%3d)(?:[\s\\"'{]|&#?\w+;|%\w\w)*\d/i;

const codeWarning =
  'holds an embed, which stays as it is. No snippet is inlined in scripts and style sheets. Write JSON instead, such as search.json, and let the script load that.';

/**
 * Calls `use` with the bytes of a file, which `use` must not keep: the buffer is used again. A large file is
 * read in pieces, and whole only if a piece mentions the element; else `use` gets `undefined`.
 */
export function withEmbeddingFile<T>(file: SiteFile, use: (bytes: Buffer | undefined, stats: Stats) => T): T {
  return withFile(file.file, (bytes, stats) => use(bytes ?? readLargeEmbedding(file), stats));
}

function readLargeEmbedding({ file, name }: SiteFile): Buffer | undefined {
  if (isLargeBinary(file)) return undefined;
  const mentions = (piece: Buffer) => mayContainEmbed(piece.toString('latin1'));
  if (!piecesOf(file, overlaps.embed).some(mentions)) return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`${name} contains an embed and could not be read: ${(error as Error).message}`);
  }
}
