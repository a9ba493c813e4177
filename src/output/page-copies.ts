import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join, posix } from 'node:path';
import { shownPath } from '../files/paths.ts';
import { statsOf, wasWrittenAfter } from '../files/read.ts';
import type { Manifest, RecordedFile } from '../record/manifest.ts';
import { compressionFormats } from './compressed.ts';
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
 * Lists the files that have to hold the same as a page: compressed ones beside it, copies on record, and the
 * page in each copy of the output, even if that file is missing, as a build would write it.
 */
export function listPageCopies(
  folders: readonly SiteFolder[],
  { name: page, copies = [] }: RecordedFile,
): SiteFile[] {
  const compressed = Object.keys(compressionFormats).map((suffix) => page + suffix);
  return folders.flatMap((folder) => {
    const names = folder.isCopy ? compressed : [...copies, ...compressed];
    const existing = names.map((name) => fileIn(folder, name)).filter(({ file }) => existsSync(file));
    return folder.isCopy ? [fileIn(folder, page), ...existing] : existing;
  });
}

/**
 * Finds the copy of the output that @astrojs/vercel makes in a build.
 *
 * @param inlinedAt when snippets were inlined, in milliseconds since the epoch: an older copy is another
 *   build's
 */
export function findCopies(root: string, output: string, { files }: Manifest, inlinedAt: number): string[] {
  const folder = join(root, '.vercel/output/static');
  if (!existsSync(folder) || realpathSync(folder) === realpathSync(output)) return [];
  const isCopied = ({ name }: RecordedFile) => {
    const copy = join(folder, name);
    if (!wasWrittenAfter(statsOf(copy), inlinedAt)) return false;
    return readFileSync(copy).equals(readFileSync(join(output, name)));
  };
  return files.some(isCopied) ? [folder] : [];
}
