import { existsSync, readFileSync } from 'node:fs';
import { shownPath } from '../files/paths.ts';
import type { InlinedPage, LeftoverSnippet } from '../inlining/inline-page.ts';
import { findDisplayed } from '../output/compare-output.ts';
import { possibleHashes } from '../output/file-states.ts';
import type { ScannableFile } from '../output/site-files.ts';
import { displayedHash } from '../record/changes.ts';
import { hashOf, type Manifest, type ManifestFile, type RecordedSnippet } from '../record/manifest.ts';
import { readManifest } from '../record/manifest-file.ts';
import { PackReader } from '../record/pack.ts';
import { listPacks } from '../record/record-paths.ts';
import type { FolderInlining } from './folder-inlining.ts';

type LastRun = Awaited<ReturnType<typeof openLastRun>>;

/** Reads what the last run left, and has its files made from what was generated. */
export async function openLastRun(
  { cwd, manifest, logger }: FolderInlining,
  scannable: readonly ScannableFile[],
): Promise<{
  record: Manifest | undefined;
  files: Map<string, ManifestFile>;
  kept: Map<string, string>;
  pack: PackReader | undefined;
}> {
  const file = lastRecordFile(manifest);
  const { manifest: record, flaw } = await readManifest(file);
  const found = record?.pack && new PackReader(manifest, record.pack);
  const pack = found?.flaw ? undefined : found;
  // Its pages are kept beside its record.
  const isLost = flaw && (flaw !== 'is missing' || listPacks(manifest).length > 0);
  if (isLost || pack !== found) {
    const what = isLost
      ? `The record of the last run at ${shownPath(cwd, file)} ${flaw}.`
      : `The files of the last run as they were generated ${found?.flaw}.`;
    logger.warn(
      `${what} Files that were inlined then stay as they are, and are not in the new record, unless they are written again.`,
    );
  }
  const files = new Map(record?.files.map((file) => [file.name, file]));
  /** The hashes of files that are as it left them. */
  const kept = new Map<string, string>();
  for (const file of pack ? scannable : []) {
    const known = files.get(file.name);
    if (!known) continue;
    const hash = hashOf(readFileSync(file.file));
    // If it was killed, it has written the file, or has not.
    if (!possibleHashes(known).has(hash)) continue;
    kept.set(file.name, hash);
    Object.assign(file, { generated: () => pack?.read(known) });
  }
  return { record, files, kept, pack };
}

/** For a record that is not what the folder holds. */
export const unfinishedPath = (manifest: string) => `${manifest}.unfinished`;

export const lastRecordFile = (manifest: string): string =>
  [manifest, unfinishedPath(manifest)].find(existsSync) ?? manifest;

/** What a file with new embeds, which a later step has changed, still shows of the last run. */
export function findLeftovers(
  { record, files, kept, pack }: LastRun,
  name: string,
  { generated, embeds }: InlinedPage,
): LeftoverSnippet[] {
  const file = files.get(name);
  if (!record || !file) return [];
  const embedded = new Set(embeds.map(({ request }) => request.key));
  const others = [...new Set(file.shows)].filter((at) => !embedded.has(record.snippets[at]?.key ?? ''));
  if (others.length === 0 || (!kept.has(name) && pack?.read(file).equals(generated))) return [];
  return findDisplayed(generated, others, file, record).map((index) => ({
    snippet: record.snippets[index] as RecordedSnippet,
    hash: displayedHash(record, file, index),
  }));
}
