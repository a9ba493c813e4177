import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { embedName } from '../embed/may-hold-embeds.ts';
import { listNames } from '../failures/report.ts';
import { hashShown } from '../record/changes.ts';
import {
  hashOfFile,
  type Manifest,
  type ManifestFile,
  readManifest,
  requestsOf,
} from '../record/manifest.ts';
import { flawOf, listPacks, Pack } from '../record/pack.ts';
import type { FileEmbed } from '../snippets/file-embeds.ts';
import { shownIn } from './output-state.ts';
import type { LeftSnippet } from './recorder.ts';
import { statesOf, temporaryFiles } from './refresh.ts';
import type { SiteFile } from './scan-site.ts';
import { shownPath } from './side-products/page-copies.ts';
import type { BuildLogger } from './summary.ts';

const namesShown = 10;
const otherVersion = 'was written by another version of astro-snippets';

/** Where the record of the last run is, if there is one. */
export function lastRecordFile(manifest: string): string {
  return existsSync(manifest) ? manifest : asideOf(manifest);
}

/** Where a record is that says more, or less, than the folder holds. */
export function asideOf(manifest: string): string {
  return `${manifest}.unfinished`;
}

/** What the last run of `inline` left in a folder, by the names of files. */
export class LastRun {
  readonly record: Manifest | undefined;
  /** Files that are as it left them, such as those of a generator that did not write them again. */
  readonly kept: ReadonlyMap<string, ManifestFile>;
  #pack: Pack | undefined;
  readonly #files: ReadonlyMap<string, ManifestFile>;
  #requests: readonly SnippetRequest[] | undefined;

  private constructor(record: Manifest | undefined, pack: Pack | undefined, files: readonly SiteFile[]) {
    this.record = record;
    this.#pack = pack;
    this.#files = new Map(record?.files.map((file) => [file.name, file]));
    const kept = pack === undefined ? [] : files.flatMap((file) => this.#keep(file) ?? []);
    this.kept = new Map(kept.map((file) => [file.name, file]));
  }

  /**
   * Opens it, also where it failed. A run that is killed while it writes leaves files that are as its record says, or still
   * contain their embeds.
   *
   * @param files those that are published, and may contain embeds.
   */
  static async open(
    { cwd, manifest }: { cwd: string; manifest: string },
    files: readonly SiteFile[],
    logger: BuildLogger,
  ): Promise<LastRun> {
    const file = lastRecordFile(manifest);
    const { manifest: record, flaw } = await readManifest(file);
    // The pages of a run are kept beside its record.
    if (record === undefined && (flaw !== 'absent' || listPacks(manifest).length > 0)) {
      const problem = { absent: 'is missing', damaged: 'is damaged', 'other-version': otherVersion }[flaw];
      logger.warn(
        `The record of the last run at ${shownPath(cwd, flaw === 'absent' ? manifest : file)} ${problem}. Files that were inlined then are not in the new record, unless they are written again.`,
      );
    }
    for (const left of record === undefined ? [] : temporaryFiles(file, record))
      await rm(left, { force: true });
    if (record?.pack === undefined) return new LastRun(record, undefined, files);
    const packFlaw = flawOf(manifest, record.pack);
    if (packFlaw === undefined) return new LastRun(record, new Pack(manifest, record), files);
    logger.warn(
      `The files of the last run as they were generated ${packFlaw}. They stay as they are, and are not in the new record at ${shownPath(cwd, manifest)}, unless they are written again.`,
    );
    return new LastRun(record, undefined, files);
  }

  #keep({ file, name }: SiteFile): ManifestFile | undefined {
    const recorded = this.#files.get(name);
    if (recorded === undefined) return undefined;
    const { next, older: _, ...more } = recorded;
    const hash = hashOfFile(file);
    // A run that was killed has written it, or has not.
    const isKept = hash === recorded.hash || next?.includes(hash);
    return isKept ? { ...more, hash, next: [...statesOf(recorded)] } : undefined;
  }

  /** What reads a file as it was generated, if it is as this run left it. */
  generated(name: string): (() => Buffer) | undefined {
    const [kept, pack] = [this.kept.get(name), this.#pack];
    return kept && pack && (() => pack.read(kept));
  }

  /** The hashes of what a file and its copies may hold. */
  statesOf(name: string): ReadonlySet<string> {
    const recorded = this.kept.get(name) ?? this.#files.get(name);
    return new Set(recorded && statesOf(recorded));
  }

  /**
   * The snippets that a file with embeds still shows of this run. A step after it has changed the file; what the generator
   * writes has its embeds instead.
   *
   * @param generated as it is before its embeds are inlined.
   */
  leftIn(name: string, generated: Buffer, embeds: readonly FileEmbed[]): LeftSnippet[] {
    const { record } = this;
    const file = this.#files.get(name);
    if (record === undefined || file === undefined) return [];
    this.#requests ??= requestsOf(record);
    const requests = this.#requests;
    const embedded = new Set(embeds.map(({ request }) => request.key));
    const others = [...new Set(file.shows)].filter((index) => !embedded.has(requests[index]?.key ?? ''));
    if (others.length === 0) return [];
    const isKept = this.kept.has(name);
    if (!isKept && this.#pack?.read(file).equals(generated)) return [];
    const left = isKept ? others : shownIn(generated, others, file, record);
    return left.flatMap((index) => {
      const [request, snippet] = [requests[index], record.snippets[index]];
      if (request === undefined || snippet === undefined) return [];
      return [{ request, snippet, hash: hashShown(record, file, index) }];
    });
  }

  /**
   * Names files of this run that are not in the new record. One that the generator has written again without embeds, and one
   * that a minifier has changed after it was inlined, look alike.
   */
  describeForgotten(files: readonly SiteFile[], { files: recorded }: Pick<Manifest, 'files'>): string[] {
    const known = new Set(recorded.map(({ name }) => name));
    const forgotten = files.filter(
      ({ file, name }) =>
        this.#files.has(name) && !known.has(name) && !embedName.test(readFileSync(file, 'latin1')),
    );
    if (forgotten.length === 0) return [];
    const names = listNames(
      forgotten.map(({ name }) => name),
      namesShown,
    );
    return [
      `Changed or excluded since the last run, and no longer in the record: ${names}. Snippets of that run may still be there, and are not updated. If a step after inline has changed these files, such as a minifier, let the generator write them again, and run inline before that step.`,
    ];
  }

  close(): void {
    this.#pack?.close();
    this.#pack = undefined;
  }
}
