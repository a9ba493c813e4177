import { userError } from '../failures/user-error.ts';
import { hashOf, type Manifest } from '../record/manifest.ts';
import { statesOf } from './refresh.ts';
import type { SiteFile } from './scan-site.ts';
import { pageCopyOf, readPageCopy, slack, withoutSuffix } from './side-products/page-copies.ts';

/**
 * Files such as `index.html.gz`, which servers send in the place of the page beside them. Those that hold a page as it
 * was, with embeds or with earlier contents, are rebuilt; any other is an error.
 */
export class CompressedCopies {
  readonly #byPage: ReadonlyMap<string, readonly SiteFile[]>;
  /** What the files of each page may hold. */
  readonly #known: ReadonlyMap<string, ReadonlySet<string>>;
  readonly #outdated: { copy: SiteFile; page: SiteFile; held: Buffer }[] = [];
  readonly #others: string[] = [];

  constructor(compressed: readonly SiteFile[], before: Manifest | undefined) {
    this.#byPage = Map.groupBy(compressed, ({ name }) => withoutSuffix(name));
    this.#known = new Map(before?.files.map((file) => [file.name, statesOf(file)]));
  }

  /** Looks at the compressed files of a page that was generated, is `before`, and is going to be `after`. */
  check(
    page: SiteFile,
    { generated, before, after }: Record<'generated' | 'before' | 'after', Buffer>,
  ): void {
    const known = this.#known.get(page.name);
    for (const copy of this.#byPage.get(page.name) ?? []) {
      const longest = Math.max(after.length, before.length) + slack;
      const held = readPageCopy(copy, longest);
      if (held?.equals(after)) continue;
      const isCopy =
        held !== undefined && (held.equals(before) || held.equals(generated) || known?.has(hashOf(held)));
      if (isCopy) this.#outdated.push({ copy, page, held });
      else this.#others.push(copy.name);
    }
  }

  /** The hashes of what files that are out of date hold, by the names of their pages. */
  get held(): Map<string, string[]> {
    const byPage = Map.groupBy(this.#outdated, ({ page }) => page.name);
    return new Map([...byPage].map(([name, files]) => [name, files.map(({ held }) => hashOf(held))]));
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
    for (const { copy, page } of this.#outdated) write(copy, await pageCopyOf(read(page), copy));
  }
}
