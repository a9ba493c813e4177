import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PendingFile, readManifest, writeManifest } from '../manifest.ts';
import { type ChangingPage, type DerivedFile, findDerivedFiles } from './derived-files.ts';
import { isRenewed, stampOf, writeStampOf } from './file-stamp.ts';
import { listPageCopies, readPageCopy } from './page-copies.ts';
import type { SiteFolder } from './site-folders.ts';

/** A derived file that is, or is going to be, out of date. */
export interface StaleFile extends DerivedFile {
  /** The hash of its bytes that are out of date. */
  hash: string | undefined;
}

const pathOf = ({ folder, name }: Pick<DerivedFile, 'folder' | 'name'>) => join(folder.directory, name);

/** Files that are out of date when these pages are written, and those that are so already. Each once. */
export function staleFiles(
  folders: readonly SiteFolder[],
  pending: readonly PendingFile[] = [],
  pages: readonly ChangingPage[] = [],
): StaleFile[] {
  const found = pages.length === 0 ? [] : findDerivedFiles(folders, pages);
  const stale = found.map((file): StaleFile => ({ ...file, hash: stampOf(pathOf(file))?.hash }));
  const earlier = pending.flatMap(({ copy, ...file }): StaleFile[] => {
    const folder = folders.find((one) => one.copy === copy);
    return folder === undefined
      ? []
      : [{ folder, name: file.name, kind: file.kind, page: file.page, hash: file.hash }];
  });
  return [...new Map([...earlier, ...stale].map((file) => [pathOf(file), file])).values()];
}

/** How the manifest remembers files that a command is going to renew. */
export function pendingFiles(stale: readonly StaleFile[]): PendingFile[] {
  return stale.map(({ folder, name, kind, page, hash }) => ({ copy: folder.copy, name, kind, page, hash }));
}

/** Remembers how files are now. @returns what finds out, later, which of them are out of date still. */
export function watchFiles(stale: readonly StaleFile[]): () => StaleFile[] {
  const before = new Map(stale.map((file) => [file, writeStampOf(pathOf(file))]));
  return () =>
    stale.filter((file) => {
      const now = stampOf(pathOf(file));
      if (!isRenewed(file, before.get(file), now)) return true;
      return now !== undefined && !hasOwnCompressed(file.folder, file.name);
    });
}

/** Whether the compressed files beside a file hold what it does. A server sends them in its place. */
function hasOwnCompressed(folder: SiteFolder, name: string): boolean {
  const compressed = listPageCopies([folder], name).filter(({ suffix }) => suffix !== undefined);
  // Not read in vain: it may be larger than a buffer.
  if (compressed.length === 0) return true;
  const bytes = readFileSync(join(folder.directory, name));
  return compressed.every((copy) => readPageCopy(copy, bytes.length)?.equals(bytes));
}

/**
 * Records that the command of `refresh --after` has succeeded. After one that failed, the record keeps saying what it had
 * to renew, and the next refresh runs it again.
 *
 * @param left what it did not renew.
 */
export async function settle(file: string, left: readonly StaleFile[]): Promise<void> {
  const { manifest } = await readManifest(file);
  if (manifest?.pending === undefined) return;
  await writeManifest(file, { ...manifest, pending: left.length === 0 ? undefined : pendingFiles(left) });
}
