import { existsSync, readFileSync } from 'node:fs';
import type { FileKind } from '../embed/found-embed.ts';
import { listNames } from '../failures/places.ts';
import { fileKind } from '../files/file-kind.ts';
import { shownPath } from '../files/paths.ts';
import { statsOf } from '../files/read.ts';
import type { InlinedPage, LeftoverSnippet } from '../inlining/inline-page.ts';
import { findDisplayed } from '../output/compare-output.ts';
import { isUnrelated, possibleHashes } from '../output/file-states.ts';
import type { ScannableFile } from '../output/site-files.ts';
import { displayedHash } from '../record/changes.ts';
import { hashOf } from '../record/hash-of.ts';
import type { Manifest, RecordedFile, RecordedSnippet } from '../record/manifest.ts';
import { type ManifestFlaw, readManifest } from '../record/manifest-file.ts';
import { PackReader } from '../record/pack.ts';
import { listPacks } from '../record/record-paths.ts';
import type { FolderInlining } from './folder-inlining.ts';

/**
 * The path of a record that does not match its folder's files. At the usual path there is no record then, so
 * that `check` and `refresh` ask for a run of `inline`, which reads this one. It is there while:
 *
 * - The generator has written recorded files again. The record of the last run is moved here before snippets
 *   are fetched. If the run fails, nothing was written, and the record stays here.
 * - The run is writing. The new record is here, with the hashes of each file before and after. If the run is
 *   killed, the next one recognizes files in both states. When all files are written, the record moves to the
 *   usual path.
 */
export const unfinishedPath = (manifest: string): string => `${manifest}.unfinished`;

/** The path of the last run's record, even if that run was not finished. */
export const lastRecordFile = (manifest: string): string =>
  [manifest, unfinishedPath(manifest)].find(existsSync) ?? manifest;

/** What the last run of `inline` left: its record, and the generated version of each file it inlined into. */
export class LastRun {
  /** `undefined` if there is no record that can be read. */
  readonly record: Manifest | undefined;
  /** Hashes of the files that are as the last run left them, by name. Their snippets are inlined again. */
  readonly keptHashes: ReadonlyMap<string, string>;
  /** The names of files whose generated version is damaged, so that snippets cannot be inlined again. */
  readonly damaged: string[] = [];
  /** The files on the record of the last run by name, also by the new names of moved and copied ones. */
  readonly #files: Map<string, RecordedFile>;
  /** Reads the files as they were generated; `undefined` if these are lost. */
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

  /** Whether the last run has inlined snippets into the file of this name. */
  hasFile(name: string): boolean {
    return this.#files.has(name);
  }

  /** Returns the file, together with its generated version if the file is as the last run left it. */
  withGenerated(file: ScannableFile): ScannableFile {
    const recorded = this.#files.get(file.name);
    const pack = this.#pack;
    if (!recorded || !pack || !this.keptHashes.has(file.name)) return file;
    return new KeptFile(file, () => pack.read(recorded));
  }

  /**
   * Finds the snippets of the last run that a file still shows although it has no embed for them: a step
   * after that run has changed the file, and added other embeds.
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
    // If the generator has written the same bytes as before, the file has only embeds, and shows no snippet.
    if (!this.keptHashes.has(name) && this.#pack?.find(file)?.equals(generated)) return [];

    return findDisplayed(generated, otherSnippets, file, record).map((index) => ({
      snippet: record.snippets[index] as RecordedSnippet,
      hash: displayedHash(record, file, index),
    }));
  }

  #hashKeptFiles(published: readonly ScannableFile[]): Map<string, string> {
    const hashes = new Map<string, string>();
    // Without the files as they were generated (the pack), snippets cannot be inlined again.
    if (!this.#pack) return hashes;
    const recordedFiles = [...this.#files.values()];
    const filesByHash = new Map(recordedFiles.map((recorded) => [recorded.hash, recorded]));
    const sizes = new Set(recordedFiles.map(({ size }) => size));
    const unrelatedFiles = new Map(this.record?.unrelated.map((unrelated) => [unrelated[0], unrelated]));
    const mayBeMoved = ({ file, name }: ScannableFile) => {
      const stats = statsOf(file);
      const unrelated = unrelatedFiles.get(name);
      return stats && sizes.has(stats.size) && !(unrelated && isUnrelated(unrelated, stats));
    };
    for (const found of published) {
      const { file, name, kind } = found;
      let recorded = this.#files.get(name);
      if (!recorded && !mayBeMoved(found)) continue;
      const hash = hashOf(readFileSync(file));
      if (!recorded || !possibleHashes(recorded).has(hash)) {
        // A file with the bytes of a recorded one was moved or copied. Another kind of file has other embeds.
        const original = filesByHash.get(hash);
        if (!original) continue;
        recorded = { ...original, name };
        this.#files.set(name, recorded);
        if (fileKind(original.name) !== kind) continue;
      }
      if (this.#pack.find(recorded)) hashes.set(name, hash);
      else this.damaged.push(name);
    }
    return hashes;
  }
}

/** A file as the last run left it. Its generated version, not its own bytes, gets the snippets. */
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

  get realFile(): string | undefined {
    return this.#published.realFile;
  }
}

/** Reads what the last run has left. If something is lost, warns, and the new run goes on without it. */
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
  const lastRun = new LastRun(record, pack?.flaw ? undefined : pack, published);
  if (lastRun.damaged.length > 0)
    loss = `As they were generated, these files are damaged: ${listNames(lastRun.damaged)}.`;
  if (loss) {
    logger.warn(
      `${loss} Files that were inlined then stay as they are, and are not in the new record, unless they are written again.`,
    );
  }
  return lastRun;
}

/** Whether there was a record that cannot be read, or was deleted: then its pack is still there. */
const isLost = (flaw: ManifestFlaw | undefined, manifest: string): boolean =>
  flaw !== undefined && (flaw !== 'is missing' || listPacks(manifest).length > 0);
