import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join, posix } from 'node:path';
import { shownPath } from '../files/paths.ts';
import { statsOf } from '../files/read.ts';
import { hashOf } from '../record/hash-of.ts';
import type { Manifest, RecordedFile } from '../record/manifest.ts';
import { compressionFormats } from './compression-formats.ts';
import { OutputListing } from './output-listing.ts';
import type { SiteFile } from './site-files.ts';

/** A folder that holds the site: the output, or a copy that an adapter has made of it. */
export interface SiteFolder {
  directory: string;
  isCopy: boolean;
  /** Its path from the working directory, as messages show it. */
  shown: string;
}

/** The output, and the copies that adapters made of it, as recorded, if they still exist. */
export function siteFolders({ output, outputCopies = [] }: Manifest, cwd: string): SiteFolder[] {
  const directories = [output, ...outputCopies.filter(existsSync)];
  return directories.map((directory, index) => {
    return { directory, isCopy: index > 0, shown: shownPath(cwd, directory) };
  });
}

/** A file in one of the folders. In a copy of the output, its name is the path from the working directory. */
export function fileIn({ directory, isCopy, shown }: SiteFolder, name: string): SiteFile {
  return { file: join(directory, name), name: isCopy ? posix.join(shown, name) : name };
}

/**
 * Lists the files that have to hold the same as a page: copies on record, compressed files beside the page and
 * its copies, all of them also in each copy of the output, and there the page itself, even if that file is
 * missing, as a build would write it.
 */
export function listPageCopies(
  folders: readonly SiteFolder[],
  { name: page, copies = [] }: RecordedFile,
): SiteFile[] {
  const compressed = [page, ...copies].flatMap((name) =>
    Object.keys(compressionFormats).map((suffix) => name + suffix),
  );
  const names = [...copies, ...compressed];
  return folders.flatMap((folder) => {
    const existing = names.map((name) => fileIn(folder, name)).filter(({ file }) => existsSync(file));
    return folder.isCopy ? [fileIn(folder, page), ...existing] : existing;
  });
}

/** The folder to which @astrojs/vercel copies the output, at the end of a build; `undefined` if there is none. */
function adapterCopy(root: string, output: string): string | undefined {
  const folder = join(root, '.vercel/output/static');
  const isOther = existsSync(folder) && realpathSync(folder) !== realpathSync(output);
  return isOther ? folder : undefined;
}

/** Lists the copy of the output that an earlier build may have left. */
export function listEarlierCopy(root: string, output: string): OutputListing {
  const folder = adapterCopy(root, output);
  return folder === undefined ? new OutputListing() : OutputListing.ofFolder(folder);
}

/**
 * Finds the copy of the output that @astrojs/vercel has made in a build.
 *
 * @param files the pages on record, with their sizes and hashes at the end of the build
 * @param earlier what was in the folder of the copy when snippets were inlined: another build's
 */
export function findCopies(
  root: string,
  output: string,
  files: readonly RecordedFile[],
  earlier: OutputListing,
): string[] {
  const folder = adapterCopy(root, output);
  if (folder === undefined) return [];
  const isCopied = ({ name, size, hash }: RecordedFile) => {
    const copy = join(folder, name);
    const stats = statsOf(copy);
    if (stats?.size !== size || earlier.isAsListed(name, stats)) return false;
    return hashOf(readFileSync(copy)) === hash;
  };
  return files.some(isCopied) ? [folder] : [];
}
