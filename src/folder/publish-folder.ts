import { rmSync } from 'node:fs';
import type { StagedFiles } from '../files/staged-files.ts';
import type { GeneratedSite } from '../inlining/generated-site.ts';
import { recordSite } from '../inlining/record-site.ts';
import type { Manifest, RecordedFile } from '../record/manifest.ts';
import { writeManifest } from '../record/manifest-file.ts';
import type { FolderInlining } from './folder-inlining.ts';
import { unfinishedPath } from './last-run.ts';
import { copyOtherFiles, listOtherFiles } from './other-files.ts';

/** A folder as a site whose snippets are being inlined. */
export interface FolderSite extends GeneratedSite, FolderInlining {}

/**
 * Writes all files of a folder, and its record. Until then, the record is at the `unfinishedPath`, and has
 * the old and the new hash of each file, as the process may be killed.
 *
 * @param previousHashes the hashes that the files of the record have until they are written, by name
 * @param stagedNames the names of all staged files
 */
export async function publishFolder(
  site: FolderSite,
  record: Manifest,
  staged: StagedFiles,
  previousHashes: ReadonlyMap<string, string>,
  stagedNames: ReadonlySet<string>,
): Promise<void> {
  const { manifestFile, fetcher } = site;
  const others = site.from === site.to ? [] : listOtherFiles(site, stagedNames);
  const unfinishedRecord = unfinishedPath(manifestFile);
  // If embeds show their children, because there is no API key, no record is written.
  if (fetcher.showsChildren) rmSync(unfinishedRecord, { force: true });
  else writeManifest(unfinishedRecord, announceFiles(record, previousHashes));
  rmSync(manifestFile, { force: true });

  await staged.commit();
  await copyOtherFiles(others);
  await recordSite(site, record, site.verifier.takeListing(), undefined);
  rmSync(unfinishedRecord, { force: true });
}

/** Makes a record from before the files are written: their old hashes, and the new ones as expected. */
function announceFiles(record: Manifest, previousHashes: ReadonlyMap<string, string>): Manifest {
  const files = record.files.map(
    (file): RecordedFile => ({
      ...file,
      hash: previousHashes.get(file.name) ?? file.hash,
      expectedHashes: [file.hash],
    }),
  );
  return { ...record, files };
}
