import type { Manifest, RecordedFile, UnrelatedFile } from '../record/manifest.ts';
import type { OutputListing } from './output-listing.ts';

/** The number of earlier hashes recorded for a file, to recognize one that was rolled back. */
const maxPreviousHashes = 3;

/**
 * The part of a file's record that says which bytes it has. A file of the output is in one of these states:
 *
 * - As the record says, by `size` and `modifiedAt`, or else by `hash`. A file with one of the
 *   `expectedHashes` counts as well: a killed run has written it.
 * - Missing: a later step of the build has removed it, or something else has since.
 * - Rolled back to one of the `previousHashes`.
 * - Written again by the generator, and without snippets: the file holds embeds.
 * - Changed by another program, so its hash is not on record. It may still show the recorded contents.
 */
export type FileState = Pick<RecordedFile, 'size' | 'modifiedAt' | 'hash' | 'previousHashes'>;

/** What the file system says of a file, in bytes and in milliseconds since the epoch, as `Stats` have it. */
export interface FileStats {
  size: number;
  mtimeMs: number;
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
