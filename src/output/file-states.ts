import { readFileSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { statsOf, wasWrittenAfter } from '../files/read.ts';
import { forEachYielding } from '../files/turns.ts';
import { hashOf, type Manifest, type ManifestFile } from '../record/manifest.ts';

// Whether the output is what the record says: it may be gone, rolled back, or built without the integration.

const pastStates = 3;

/**
 * The files of a new record as later steps, such as a minifier, have left them.
 *
 * @param at when they were inlined; `undefined` without later steps
 */
export async function finalizeFiles(
  { output, files }: Manifest,
  at: number | undefined,
  before?: Manifest,
): Promise<ManifestFile[]> {
  const earlier = new Map(before?.files.map((file) => [file.name, file]));
  const sealed: ManifestFile[] = [];
  await forEachYielding(files, (file) => {
    // Not copied: that would take as much memory again.
    const seal = (found: FileStats, hash: string) =>
      void sealed.push(Object.assign(file, toFileState(found, hash, earlier.get(file.name))));
    if (at === undefined) return seal({ size: file.size, mtimeMs: file.modifiedAt }, file.hash);
    const path = join(output, file.name);
    const found = statsOf(path);
    if (!found) return;
    const hash = wasWrittenAfter(found, at) ? hashOf(readFileSync(path)) : file.hash;
    if (hash !== file.hash) file.changedAfterInlining = true;
    seal(found, hash);
  });
  return sealed;
}

/** Who may have changed files later: the beginning of a sentence. */
export const describeLate = ({ laterIntegrations = [] }: Partial<Manifest>): string =>
  new Intl.ListFormat('en', { type: 'disjunction' }).format(laterIntegrations) || 'Another integration';

type FileStats = Pick<Stats, 'size' | 'mtimeMs'>;

export function toFileState(
  { size, mtimeMs }: FileStats,
  hash: string,
  before: ManifestFile | undefined,
): {
  size: number;
  modifiedAt: number;
  hash: string;
  previousHashes: string[] | undefined;
} {
  const states = before ? [before.hash, ...(before.previousHashes ?? [])] : [];
  const previousHashes = states.filter((one) => one !== hash).slice(0, pastStates);
  return {
    size,
    modifiedAt: Math.floor(mtimeMs),
    hash,
    previousHashes: previousHashes.length === 0 ? undefined : previousHashes,
  };
}

export const possibleHashes = ({ hash, expectedHashes = [] }: ManifestFile): Set<string> =>
  new Set([hash, ...expectedHashes]);
