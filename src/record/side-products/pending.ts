import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Manifest, type PendingFile, readManifest, writeManifest } from '../manifest.ts';
import {
  type ChangingPage,
  type DerivedFile,
  type FileStamp,
  findDerivedFiles,
  isRenewed,
  stampOf,
} from './derived-files.ts';
import { listPageCopies, readPageCopy } from './page-copies.ts';
import { type SiteFolder, siteFolders } from './site-folders.ts';

const pathOf = ({ folder, name }: Pick<DerivedFile, 'folder' | 'name'>) => join(folder.directory, name);

/** Files that are out of date when these pages are written, and those that are so already. Each once. */
export function staleFiles(
  folders: readonly SiteFolder[],
  pending: readonly PendingFile[] = [],
  pages: readonly ChangingPage[],
): DerivedFile[] {
  const earlier = pending.flatMap(({ copy, name, kind, page }): DerivedFile[] => {
    const folder = folders.find((one) => one.copy === copy);
    return folder === undefined ? [] : [{ folder, name, kind, page }];
  });
  const found = pages.length === 0 ? [] : findDerivedFiles(folders, pages);
  return [...new Map([...earlier, ...found].map((file) => [pathOf(file), file])).values()];
}

/** How the manifest remembers files that a command is going to renew. */
export function pendingFiles(stale: readonly DerivedFile[]): PendingFile[] {
  return stale.map((file) => {
    const { folder, name, kind, page } = file;
    return { copy: folder.copy, name, kind, page, hash: stampOf(pathOf(file))?.hash };
  });
}

/**
 * What the command of an earlier `refresh --after` has yet to renew. A file with other content was renewed by hand; one
 * with the same content may only have been copied.
 */
export function stillPending(file: string, manifest: Manifest): PendingFile[] | undefined {
  const { pending } = manifest;
  if (pending === undefined || pending.length === 0) return pending;
  const folders = siteFolders(file, manifest);
  const left = pending.filter(({ copy, name, kind, hash }) => {
    const folder = folders.find((one) => one.copy === copy);
    if (folder === undefined) return false;
    const now = stampOf(pathOf({ folder, name }));
    if (now === undefined) return kind === 'search-index';
    return now.hash === hash || !hasOwnCompressed(folder, name);
  });
  return left.length === 0 ? undefined : left;
}

/** Remembers how files are, to find out later which of them a command has renewed. */
export function watchFiles(stale: readonly DerivedFile[]): () => DerivedFile[] {
  const before = new Map<DerivedFile, FileStamp | undefined>(
    stale.map((file) => [file, stampOf(pathOf(file))]),
  );
  return () =>
    stale.filter((file) => {
      const now = stampOf(pathOf(file));
      if (!isRenewed(file.kind, before.get(file), now)) return true;
      return now !== undefined && !hasOwnCompressed(file.folder, file.name);
    });
}

/** Whether the compressed files beside a file hold what it does. A server sends them in its place. */
function hasOwnCompressed(folder: SiteFolder, name: string): boolean {
  const bytes = readFileSync(join(folder.directory, name));
  const compressed = listPageCopies([folder], name).filter(({ suffix }) => suffix !== undefined);
  return compressed.every((copy) => readPageCopy(copy, bytes.length)?.equals(bytes));
}

/**
 * Records that the command of `refresh --after` has succeeded.
 *
 * @param left what it did not renew.
 */
export async function settle(file: string, left: readonly DerivedFile[]): Promise<void> {
  // Read again: the command may have been a build, which has made a record of its own.
  const { manifest } = await readManifest(file);
  if (manifest?.pending === undefined) return;
  await writeManifest(file, { ...manifest, pending: left.length === 0 ? undefined : pendingFiles(left) });
}
