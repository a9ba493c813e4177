import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, posix, relative, resolve, sep } from 'node:path';
import type { Manifest } from '../../record/manifest.ts';
import { isWrittenSince } from '../../written-since.ts';

/** A folder with the built site: the output, or a copy that an adapter made of it. */
export interface SiteFolder {
  directory: string;
  /** How people know it: its path from where they are, with slashes. */
  shown: string;
  /** A copy's path, relative to the manifest's folder. */
  copy?: string | undefined;
}

/** Where adapters put a copy of the output, relative to the project: @astrojs/vercel. */
const copyFolders = ['.vercel/output/static'];

/**
 * The folders that a refresh has to keep up to date. A copy that does not exist any more is left out.
 *
 * @param cwd where people are; by default, in the folder of the record.
 */
export function siteFolders(
  file: string,
  manifest: Pick<Manifest, 'output' | 'copies'>,
  cwd: string = dirname(file),
): SiteFolder[] {
  const folderOf = (path: string): SiteFolder => {
    const directory = resolve(dirname(file), path);
    return { directory, shown: shownPath(cwd, directory) };
  };
  const copies = (manifest.copies ?? []).map((copy) => ({ ...folderOf(copy), copy }));
  return [folderOf(manifest.output), ...copies.filter(({ directory }) => existsSync(directory))];
}

/** How people know a file of a folder: in the output by its path there, in a copy by its path from where they are. */
export function shownName({ copy, shown }: SiteFolder, name: string): string {
  return copy === undefined ? name : posix.join(shown, name);
}

/** A path from the folder that people are in, with slashes. */
export function shownPath(cwd: string, path: string): string {
  return (relative(cwd, path) || '.').split(sep).join('/');
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
