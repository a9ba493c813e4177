import { readFileSync } from 'node:fs';
import { embedName } from '../embed/may-hold-embeds.ts';
import { listNames } from '../failures/report.ts';
import { hashOf, type Manifest } from '../record/manifest.ts';
import type { SiteFile } from './scan-site.ts';

const namesShown = 10;

/**
 * Files of the last record that are not in the new one, though they may still show their snippets. A file that the
 * generator has written again without embeds, and one that a minifier has changed after it was inlined, look alike.
 */
export class ForgottenFiles {
  readonly #hashes: ReadonlyMap<string, string>;
  readonly #isPublished: (file: SiteFile) => boolean;
  readonly #changed: string[] = [];
  readonly #excluded: string[] = [];

  /** @param isPublished whether a file is in the output, where an earlier run has left it. Others are copied over those. */
  constructor(before: Manifest | undefined, isPublished: (file: SiteFile) => boolean) {
    this.#hashes = new Map(before?.files.map(({ name, hash }) => [name, hash]));
    this.#isPublished = isPublished;
  }

  /** @param file one that contains no embed, and is not as the last run left it. */
  addChanged(file: SiteFile): void {
    if (this.#hashes.has(file.name) && this.#isPublished(file)) this.#changed.push(file.name);
  }

  /** @param file one that is searched for no embeds. */
  addExcluded(file: SiteFile): void {
    const hash = this.#hashes.get(file.name);
    if (hash === undefined || !this.#isPublished(file)) return;
    const bytes = readFileSync(file.file);
    if (hashOf(bytes) === hash) this.#excluded.push(file.name);
    else if (!embedName.test(bytes.toString('latin1'))) this.#changed.push(file.name);
  }

  get warnings(): string[] {
    const warnings: string[] = [];
    if (this.#changed.length > 0) {
      warnings.push(
        `Changed since the last run, without embeds now, and no longer in the record: ${listNames(this.#changed, namesShown)}. If a step after inline did this, such as a minifier, snippets stay there as they were: let the generator write the files again, and run inline after that step.`,
      );
    }
    if (this.#excluded.length > 0) {
      warnings.push(
        `Excluded now, and no longer in the record: ${listNames(this.#excluded, namesShown)}. Snippets of the last run stay there as they were.`,
      );
    }
    return warnings;
  }
}
