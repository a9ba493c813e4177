import { readFileSync } from 'node:fs';
import { userError } from '../failures/user-error.ts';
import { hashOf, type Manifest, type RenewingPage } from '../record/manifest.ts';
import { compress, decompress, type Suffix, suffixOf } from '../record/side-products/encodings.ts';
import type { SiteFile } from './scan-site.ts';

interface CompressedFile extends SiteFile {
  suffix: Suffix;
}

// How much longer than a page is now it may have been after the last run.
const slack = 4 * 1024 * 1024;

/**
 * Files such as `index.html.gz`, which servers send in the place of the page beside them. Those that hold a page as it
 * was, with embeds or with earlier contents, are rebuilt; any other is an error.
 */
export class CompressedCopies {
  readonly #byPage: ReadonlyMap<string, CompressedFile[]>;
  /** What the files of each page may hold. */
  readonly #known: ReadonlyMap<string, Omit<RenewingPage, 'page'>>;
  readonly #outdated: { copy: CompressedFile; page: SiteFile; held: Buffer }[] = [];
  readonly #others: string[] = [];

  constructor(compressed: readonly SiteFile[], before: Manifest | undefined) {
    const files = compressed.flatMap(({ file, name }): CompressedFile[] => {
      const suffix = suffixOf(name);
      return suffix === undefined ? [] : [{ file, name, suffix }];
    });
    this.#byPage = Map.groupBy(files, ({ name, suffix }) => name.slice(0, -suffix.length));
    const known = new Map(before?.files.map(({ name, hash }) => [name, { hashes: [hash], maxLength: 0 }]));
    for (const { page, hashes, maxLength } of before?.renewing ?? []) {
      known.set(page, { hashes: [...hashes, ...(known.get(page)?.hashes ?? [])], maxLength });
    }
    this.#known = known;
  }

  /** Looks at the compressed files of a page that is going to be `after`. */
  check(page: SiteFile, after: Buffer, before: Buffer): void {
    const { hashes = [], maxLength = 0 } = this.#known.get(page.name) ?? {};
    for (const copy of this.#byPage.get(page.name) ?? []) {
      const longest = Math.max(after.length, before.length, maxLength) + slack;
      const held = decompress(readFileSync(copy.file), copy.suffix, longest);
      if (held?.equals(after)) continue;
      const isCopy = held !== undefined && (held.equals(before) || hashes.includes(hashOf(held)));
      if (isCopy) this.#outdated.push({ copy, page, held });
      else this.#others.push(copy.name);
    }
  }

  /** The pages whose files are out of date, and what these hold: a run that is killed may leave them like that. */
  get renewing(): RenewingPage[] {
    return this.#outdated.map(({ page: { name }, held }) => ({
      page: name,
      hashes: [hashOf(held)],
      maxLength: held.length,
    }));
  }

  /**
   * Makes the files that are out of date.
   *
   * @param read returns what a page is going to hold.
   * @throws AstroError if a compressed file holds something else than its page.
   */
  async renew(
    read: (page: SiteFile) => Buffer,
    write: (file: SiteFile, bytes: Buffer) => void,
  ): Promise<void> {
    const others = this.#others;
    if (others.length > 0) {
      throw userError(
        'stale-compressed-file',
        `${others.join(', ')} ${others.length === 1 ? 'does' : 'do'} not decompress to the file beside it. Nothing was written.`,
        'Servers send it instead of the page. Delete it, or compress files after `astro-snippets inline`.',
      );
    }
    for (const { copy, page } of this.#outdated) write(copy, await compress(read(page), copy.suffix));
  }
}
