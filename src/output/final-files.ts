import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileKind } from '../files/file-kind.ts';
import { statsOf } from '../files/read.ts';
import { forEachYielding } from '../files/turns.ts';
import { hashOf } from '../record/hash-of.ts';
import type { Manifest, RecordedFile } from '../record/manifest.ts';
import { canonicalPath } from '../settings/site-urls.ts';
import { type FileStats, toFileState } from './file-states.ts';
import type { OutputListing } from './output-listing.ts';
import type { SiteFile } from './site-files.ts';

/** The files of an output that the steps of a build after inlining, such as a minifier, have written. */
export interface LaterFiles {
  /** The files that they wrote, or may have written. */
  late: readonly SiteFile[];
  /** All compressed files, which may be from before. */
  compressed: readonly SiteFile[];
}

interface LaterOutput extends LaterFiles {
  /** The files as they were when snippets were inlined. */
  listing: OutputListing;
}

/** The files of a record at the end of a build. */
export interface FinalFiles {
  files: RecordedFile[];
  /** The new names of the files that later steps have moved, by their old names. */
  moved: ReadonlyMap<string, string>;
  /** The names of the files that later steps have removed, or replaced by other files on record. */
  removed: readonly string[];
}

/** A file on record, and what is at its path at the end of the build. */
interface FoundFile {
  recorded: RecordedFile;
  /** `undefined` if there is no file. */
  found: { stats: FileStats; hash: string } | undefined;
}

/**
 * Updates the names, hashes, sizes and times of a new record to what later steps of the build have made of the
 * files. A file that is not where it was is looked for by its bytes. If it is not found, it stays on record, as
 * a later step may have put its content anywhere. Hashes of the last build become previous.
 *
 * @param later `undefined` if no step followed
 */
export async function finalizeFiles(
  { output, files }: Manifest,
  later: LaterOutput | undefined,
  previousManifest?: Manifest,
): Promise<FinalFiles> {
  const previousFiles = new Map(previousManifest?.files.map((file) => [file.name, file]));
  // Records are changed in place: copies would take as much memory again.
  const setState = (file: RecordedFile, stats: FileStats, hash: string) =>
    Object.assign(file, toFileState(stats, hash, previousFiles.get(file.name)));

  const displaced: FoundFile[] = [];
  await forEachYielding(files, (recorded) => {
    const { name, size, modifiedAt, hash } = recorded;
    if (!later) {
      setState(recorded, { size, mtimeMs: modifiedAt }, hash);
      return;
    }
    const found = findFile(join(output, name), recorded, later.listing);
    if (found?.hash === hash) setState(recorded, found.stats, hash);
    else displaced.push({ recorded, found });
  });
  if (!later || displaced.length === 0) return { files, moved: new Map(), removed: [] };

  const displacedNames = new Set(displaced.map(({ recorded }) => recorded.name));
  const inPlace = new Set(files.flatMap(({ name }) => (displacedNames.has(name) ? [] : name)));
  const candidates = later.late.filter(({ name }) => !inPlace.has(name));
  const moved = findMoved(displaced, candidates);
  const takenNames = new Set(moved.values().map(({ name }) => name));
  const replaced = new Set<RecordedFile>();
  const removed: string[] = [];
  const newNames = new Map<string, string>();
  for (const { recorded, found } of displaced) {
    const { name, hash } = recorded;
    const target = moved.get(recorded);
    const stats = target && statsOf(target.file);
    if (target && stats) {
      newNames.set(name, target.name);
      // With another extension, embeds are found in another way, so that a refresh would make another file.
      if (fileKind(target.name) !== fileKind(name)) recorded.changedAfterInlining = true;
      recorded.name = target.name;
      setState(recorded, stats, hash);
    } else if (found && !takenNames.has(name)) {
      recorded.changedAfterInlining = true;
      setState(recorded, found.stats, found.hash);
    } else {
      removed.push(name);
      if (found) replaced.add(recorded);
      else recorded.removedAfterInlining = true;
    }
  }
  return { files: files.filter((file) => !replaced.has(file)), moved: newNames, removed };
}

function findFile(path: string, { name, hash }: RecordedFile, listing: OutputListing): FoundFile['found'] {
  const stats = statsOf(path);
  if (!stats) return undefined;
  return { stats, hash: listing.mayHaveChanged(name, stats) ? hashOf(readFileSync(path)) : hash };
}

/** Finds the files that have the bytes of displaced ones, each for one of them. */
function findMoved(
  displaced: readonly FoundFile[],
  candidates: readonly SiteFile[],
): Map<RecordedFile, SiteFile> {
  const moved = new Map<RecordedFile, SiteFile>();
  // Without a missing file, nothing was moved: later steps have changed the files where they are.
  if (displaced.every(({ found }) => found)) return moved;
  const sizes = new Set(displaced.map(({ recorded }) => recorded.size));
  const filesByHash = Map.groupBy(
    candidates.filter(({ file }) => sizes.has(statsOf(file)?.size ?? -1)),
    ({ file }) => hashOf(readFileSync(file)),
  );
  for (const { recorded } of displaced) {
    const sameBytes = filesByHash.get(recorded.hash) ?? [];
    const target = sameBytes.find(({ name }) => pageOf(name) === pageOf(recorded.name)) ?? sameBytes[0];
    if (!target) continue;
    moved.set(recorded, target);
    sameBytes.splice(sameBytes.indexOf(target), 1);
  }
  return moved;
}

/** What the files of one page have in common: `about` for `about.html` and `about/index.html`. */
const pageOf = (name: string) =>
  canonicalPath(name, fileKind(name) === 'html', { trailingSlash: 'never', format: 'file' });
