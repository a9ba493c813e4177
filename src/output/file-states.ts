import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { statsOf } from '../files/read.ts';
import { forEachYielding } from '../files/turns.ts';
import { hashOf, type Manifest, type RecordedFile, type UnrelatedFile } from '../record/manifest.ts';
import type { OutputListing } from './output-listing.ts';

/** The number of earlier hashes recorded for a file, to recognize one that was rolled back. */
const maxPreviousHashes = 3;

/**
 * The part of a file's record that says which bytes it has. A file of the output is in one of these states:
 *
 * - As the record says, by `size` and `modifiedAt`, or else by `hash`. A file with one of the
 *   `expectedHashes` counts as well: a killed run has written it.
 * - Missing, or rolled back to one of the `previousHashes`.
 * - Written again by the generator, and without snippets: the file holds embeds.
 * - Changed by another program, so its hash is not on record. It may still show the recorded contents.
 */
export type FileState = Pick<RecordedFile, 'size' | 'modifiedAt' | 'hash' | 'previousHashes'>;

/** What the file system says of a file, in bytes and in milliseconds since the epoch, as `Stats` have it. */
type FileStats = { size: number; mtimeMs: number };

/**
 * Updates the hashes, sizes and times of a new record to what later steps of the build, such as a minifier,
 * have made of the files. Files that they deleted are left out. Hashes of the last build become previous.
 *
 * @param inlined the files of the output when snippets were inlined; `undefined` if no step followed
 */
export async function finalizeFiles(
  { output, files }: Manifest,
  inlined: OutputListing | undefined,
  previousManifest?: Manifest,
): Promise<RecordedFile[]> {
  const previousFiles = new Map(previousManifest?.files.map((file) => [file.name, file]));
  const finalized: RecordedFile[] = [];
  // Records are changed in place: copies would take as much memory again.
  const finalize = (file: RecordedFile, stats: FileStats, hash: string) => {
    finalized.push(Object.assign(file, toFileState(stats, hash, previousFiles.get(file.name))));
  };

  await forEachYielding(files, (file) => {
    if (!inlined) {
      finalize(file, { size: file.size, mtimeMs: file.modifiedAt }, file.hash);
      return;
    }
    const path = join(output, file.name);
    const stats = statsOf(path);
    if (!stats) return;

    const hash = inlined.mayHaveChanged(file.name, stats) ? hashOf(readFileSync(path)) : file.hash;
    if (hash !== file.hash) file.changedAfterInlining = true;
    finalize(file, stats, hash);
  });
  return finalized;
}

/** The listed files that show no snippet, as they are recorded. */
export function toUnrelatedFiles(listing: OutputListing, recorded: readonly RecordedFile[]): UnrelatedFile[] {
  const recordedNames = new Set(recorded.map(({ name }) => name));
  const unrelated: UnrelatedFile[] = [];
  for (const [name, { size, mtimeMs }] of listing.entries()) {
    if (!recordedNames.has(name)) unrelated.push([name, size, Math.floor(mtimeMs)]);
  }
  return unrelated;
}

/**
 * Whether a file has the size and time on record, so that it need not be read. Times in whole seconds tell
 * nothing: tools set the same one for all files of every build, and some file systems have no others.
 */
export function hasRecordedState({ size, modifiedAt }: RecordedFile, stats: FileStats): boolean {
  return stats.size === size && Math.floor(stats.mtimeMs) === modifiedAt && stats.mtimeMs % 1_000 !== 0;
}

/** Whether a file is as it was when snippets were inlined. Copying may cut or round the time of a file. */
export function isUnrelated([, size, modifiedAt]: UnrelatedFile, stats: FileStats): boolean {
  const isSameTime = stats.mtimeMs >= modifiedAt && stats.mtimeMs <= modifiedAt + 1;
  const isCutToSeconds = stats.mtimeMs === Math.floor(modifiedAt / 1_000) * 1_000;
  return stats.size === size && (isSameTime || isCutToSeconds);
}

/** What to record of a file that was just written. The hashes on record become previous, latest first. */
export function toFileState(
  { size, mtimeMs }: FileStats,
  hash: string,
  lastRecord?: RecordedFile,
): FileState {
  const earlierHashes = lastRecord ? [lastRecord.hash, ...(lastRecord.previousHashes ?? [])] : [];
  const previousHashes = earlierHashes.filter((earlier) => earlier !== hash).slice(0, maxPreviousHashes);
  return {
    size,
    modifiedAt: Math.floor(mtimeMs),
    hash,
    previousHashes: previousHashes.length === 0 ? undefined : previousHashes,
  };
}

/** The hashes that a file may have if only we wrote it: as recorded, or from a killed refresh or `inline`. */
export const possibleHashes = ({ hash, expectedHashes = [] }: RecordedFile): Set<string> =>
  new Set([hash, ...expectedHashes]);

/** Names the integrations that may have changed files after inlining, as the subject of a sentence. */
export function describeLaterIntegrations({ laterIntegrations = [] }: Partial<Manifest>): string {
  const names = new Intl.ListFormat('en', { type: 'disjunction' }).format(laterIntegrations);
  return names || 'Another integration';
}
