import { existsSync, readFileSync } from 'node:fs';
import { mayContainEmbed } from '../embed/element.ts';
import { userError } from '../failures/errors.ts';
import { isLargeBinary, overlaps, piecesOf, readUnlessLarge } from '../files/read.ts';
import { forEachYielding } from '../files/turns.ts';
import type { SiteFile, UnscannedFile } from '../output/site-files.ts';
import { keySearch } from '../text/known-keys.ts';

// With an id: a script may name the element, such as to style it.
const embedInCode =
  /snippet-embed(?<=(?:<|lt;|3c)snippet-embed)(?:\s|%20)[^<>]{0,300}?(?<![a-z])id\s*(?:=|%3d)(?:[\s\\"'{]|&#?\w+;|%\w\w)*\d/i;

const codeWarning =
  'holds an embed, which stays as it is. No snippet is inlined in scripts and style sheets. Write JSON instead, such as search.json, and let the script load that.';

export class OutputVerifier {
  readonly #containsKey: (text: Buffer) => boolean;
  readonly withKey: SiteFile[] = [];
  readonly #code: UnscannedFile[] = [];

  constructor(apiKey?: string) {
    this.#containsKey = apiKey === undefined ? () => false : keySearch(apiKey).isIn;
  }

  /** @param bytes `undefined` for a large file. */
  check(file: SiteFile, bytes: Buffer | undefined): void {
    const pieces = bytes ? [bytes].values() : piecesOf(file.file, overlaps.key);
    if (pieces.some((piece) => this.#containsKey(piece))) this.withKey.push(file);
  }

  /** Whether a file may contain embeds. It is checked, too. */
  mayEmbed(file: SiteFile): boolean {
    const bytes = readEmbedding(file);
    this.check(file, bytes);
    return bytes !== undefined && mayContainEmbed(bytes.toString('latin1'));
  }

  /** About scripts and style sheets with an embed that still exist. */
  codeWarnings(): string[] {
    const names = this.#code.flatMap(({ file, name }) => (existsSync(file) ? name : []));
    return [...new Set(names)].map((name) => `${name}: ${codeWarning}`);
  }

  async read(files: readonly UnscannedFile[]): Promise<void> {
    await forEachYielding(files, (file) => {
      const bytes = readUnlessLarge(file.file);
      this.check(file, bytes);
      if (file.isCode && embedInCode.test(bytes?.toString('latin1') ?? '')) this.#code.push(file);
    });
  }

  refuse(describe: (names: string) => string): void {
    if (this.withKey.length === 0) return;
    throw userError('published-key', describe(this.withKey.map(({ name }) => name).join(', ')));
  }
}

/** Reads a file, unless it is large and contains no embed. */
export function readEmbedding({ file, name }: SiteFile): Buffer<ArrayBuffer> | undefined {
  const bytes = readUnlessLarge(file);
  if (bytes) return bytes;
  if (isLargeBinary(file)) return undefined;
  if (!piecesOf(file, overlaps.embed).some((piece) => mayContainEmbed(piece.toString('latin1'))))
    return undefined;
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`${name} contains an embed and could not be read: ${(error as Error).message}`);
  }
}
