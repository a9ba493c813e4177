import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { isWrittenSince } from '../../written-since.ts';
import type { Manifest } from '../manifest.ts';

/** A folder with the built site: the output, or a copy that an adapter made of it. */
export interface SiteFolder {
  directory: string;
  /** A copy's path, relative to the manifest's folder. */
  copy?: string | undefined;
}

/** Where adapters put a copy of the output, relative to the project: @astrojs/vercel. */
const copyFolders = ['.vercel/output/static'];

/** The folders that a refresh has to keep up to date. A copy that does not exist any more is left out. */
export function siteFolders(file: string, manifest: Pick<Manifest, 'output' | 'copies'>): SiteFolder[] {
  const folderOf = (path: string) => resolve(dirname(file), path);
  const copies = (manifest.copies ?? []).map((copy) => ({ copy, directory: folderOf(copy) }));
  return [
    { directory: folderOf(manifest.output) },
    ...copies.filter(({ directory }) => existsSync(directory)),
  ];
}

/** How people know a file of a folder: in the output by its path there, in a copy by its path from where they are. */
export function shownName({ copy, directory }: SiteFolder, name: string): string {
  return copy === undefined ? name : shownPath(join(directory, name));
}

/** A path from the current folder, with slashes. */
export function shownPath(path: string): string {
  return (relative(process.cwd(), path) || '.').split(sep).join('/');
}

/**
 * Finds copies that adapters have made of the output in this build.
 *
 * @param since in milliseconds since the epoch: a copy that is older is that of another build.
 */
export function findCopies(
  root: string,
  output: string,
  { names, since }: { names: Iterable<string>; since: number },
): string[] {
  const folders = copyFolders
    .map((folder) => join(root, folder))
    .filter((folder) => existsSync(folder) && realpathSync(folder) !== realpathSync(output));
  if (folders.length === 0) return [];
  const files = [...names];
  return folders.filter((folder) =>
    files.some((name) => isCopied(join(output, name), join(folder, name), since)),
  );
}

function isCopied(original: string, copy: string, since: number): boolean {
  return isWrittenSince(copy, since) && readFileSync(copy).equals(readFileSync(original));
}
