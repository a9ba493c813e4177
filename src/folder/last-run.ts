import { existsSync, readFileSync } from 'node:fs';
import type { FileKind } from '../embed/found-embed.ts';
import { shownPath } from '../files/paths.ts';
import type { InlinedPage, LeftoverSnippet } from '../inlining/inline-page.ts';
import { findDisplayed } from '../output/compare-output.ts';
import { possibleHashes } from '../output/file-states.ts';
import type { ScannableFile } from '../output/site-files.ts';
import { displayedHash } from '../record/changes.ts';
import { hashOf, type Manifest, type RecordedFile, type RecordedSnippet } from '../record/manifest.ts';
import { type ManifestFlaw, readManifest } from '../record/manifest-file.ts';
import { PackReader } from '../record/pack.ts';
import { listPacks } from '../record/record-paths.ts';
import type { FolderInlining } from './folder-inlining.ts';

/**
 * Where the record of a folder is while it is not what the folder holds. In its own place there is none then,
 * so that `check` and `refresh` ask for a run, and the next run reads the record from here:
 *
 * - The generator has written recorded files again. The record of the last run is moved here before snippets
 *   are fetched. If the run fails, nothing was written, and the record stays here, or where it was.
 * - The run is writing. The new record is here, with the hashes of each file before and after. If the run is
 *   killed, the next one knows both states of a file. When all files are written, the record gets its own
 *   place, and this one is removed.
 */
export const unfinishedPath = (manifest: string): string => `${manifest}.unfinished`;

/** The file with the record of the last run, whether that is finished or not. */
export const lastRecordFile = (manifest: string): string =>
  [manifest, unfinishedPath(manifest)].find(existsSync) ?? manifest;

/** What the last run has left: its record, and the files that it has inlined as they were generated. */
export class LastRun {
  /** `undefined` if there is no record that can be read. */
  readonly record: Manifest | undefined;
  /** The hashes of the files that are as the run left them, by name. Their snippets are inlined again. */
  readonly keptHashes: ReadonlyMap<string, string>;
  /** The files of the record, by name. */
  readonly #files: ReadonlyMap<string, RecordedFile>;
  /** `undefined` if the files as they were generated are lost. */
  readonly #pack: PackReader | undefined;

  /** @param published the files of the output */
  constructor(
    record: Manifest | undefined,
    pack: PackReader | undefined,
    published: readonly ScannableFile[],
  ) {
    this.record = record;
    this.#pack = pack;
    this.#files = new Map(record?.files.map((file) => [file.name, file]));
    this.keptHashes = this.#hashKeptFiles(published);
  }

  /** Whether the run has inlined snippets into the file of this name. */
  hasFile(name: string): boolean {
    return this.#files.has(name);
  }

  /** Returns a file as it can be scanned: with what was generated, if the file is as the run left it. */
  withGenerated(file: ScannableFile): ScannableFile {
    const recorded = this.#files.get(file.name);
    const pack = this.#pack;
    if (!recorded || !pack || !this.keptHashes.has(file.name)) return file;
    return new KeptFile(file, () => pack.read(recorded));
  }

  /**
   * Finds the snippets of the run that a file still shows without an embed: a later step has changed the
   * file, and there are new embeds in it.
   *
   * @param name the name of a published file
   */
  findLeftovers(name: string, { generated, embeds }: InlinedPage): LeftoverSnippet[] {
    const { record } = this;
    const file = this.#files.get(name);
    if (!record || !file) return [];

    const embeddedKeys = new Set(embeds.map(({ request }) => request.key));
    const otherSnippets = [...new Set(file.shows)].filter(
      (index) => !embeddedKeys.has(record.snippets[index]?.key ?? ''),
    );
    if (otherSnippets.length === 0) return [];
    // The generator has written the same as before, which shows no snippets yet.
    if (!this.keptHashes.has(name) && this.#pack?.read(file).equals(generated)) return [];

    return findDisplayed(generated, otherSnippets, file, record).map((index) => ({
      snippet: record.snippets[index] as RecordedSnippet,
      hash: displayedHash(record, file, index),
    }));
  }

  #hashKeptFiles(published: readonly ScannableFile[]): Map<string, string> {
    const hashes = new Map<string, string>();
    // Without a pack, no file can be inlined again.
    if (!this.#pack) return hashes;
    for (const { file, name } of published) {
      const recorded = this.#files.get(name);
      if (!recorded) continue;
      const hash = hashOf(readFileSync(file));
      if (possibleHashes(recorded).has(hash)) hashes.set(name, hash);
    }
    return hashes;
  }
}

/** A file as the last run left it. Snippets are inlined into what was generated, not into the file. */
class KeptFile implements ScannableFile {
  readonly #published: ScannableFile;
  readonly name: string;
  readonly kind: FileKind;
  readonly generated: () => Buffer;

  constructor(published: ScannableFile, generated: () => Buffer) {
    this.#published = published;
    this.name = published.name;
    this.kind = published.kind;
    this.generated = generated;
  }

  get file(): string {
    return this.#published.file;
  }
}

/** Reads what the last run has left. Warns if anything of that is lost, and the run goes on without. */
export async function openLastRun(
  { cwd, manifestFile, logger }: FolderInlining,
  published: readonly ScannableFile[],
): Promise<LastRun> {
  const file = lastRecordFile(manifestFile);
  const { manifest: record, flaw } = await readManifest(file);
  const pack = record?.pack && new PackReader(manifestFile, record.pack);

  let loss: string | undefined;
  if (isLost(flaw, manifestFile)) loss = `The record of the last run at ${shownPath(cwd, file)} ${flaw}.`;
  else if (pack?.flaw) loss = `The files of the last run as they were generated ${pack.flaw}.`;
  if (loss) {
    logger.warn(
      `${loss} Files that were inlined then stay as they are, and are not in the new record, unless they are written again.`,
    );
  }
  return new LastRun(record, pack?.flaw ? undefined : pack, published);
}

/** Whether there was a record that cannot be read. A pack without a record is what a deleted one has left. */
const isLost = (flaw: ManifestFlaw | undefined, manifest: string): boolean =>
  flaw !== undefined && (flaw !== 'is missing' || listPacks(manifest).length > 0);
