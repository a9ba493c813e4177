import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join, posix } from 'node:path';
import { shownPath } from '../files/paths.ts';
import { statsOf, wasWrittenAfter } from '../files/read.ts';
import type { Manifest, ManifestFile } from '../record/manifest.ts';
import { compressionFormats } from './compressed.ts';

export function listPageCopies(
  folders: SiteFolder[],
  { name: page, copies = [] }: ManifestFile,
): {
  file: string;
  name: string;
}[] {
  const compressed = Object.keys(compressionFormats).map((suffix) => page + suffix);
  return folders.flatMap((folder) => {
    const names = folder.isCopy ? compressed : [...copies, ...compressed];
    const found = names.map((name) => copyOf(folder, name)).filter(({ file }) => existsSync(file));
    // Even if missing: a build would put it there.
    return folder.isCopy ? [copyOf(folder, page), ...found] : found;
  });
}

/** People know a file in a copy by its path from where they are. */
export const copyOf = (
  { directory, isCopy, shown }: SiteFolder,
  name: string,
): {
  file: string;
  name: string;
} => ({
  file: join(directory, name),
  name: isCopy ? posix.join(shown, name) : name,
});

export type SiteFolder = ReturnType<typeof siteFolders>[number];

/** The output, and the copies that adapters made of it, if still there. */
export const siteFolders = (
  { output, copies = [] }: Manifest,
  cwd: string,
): {
  directory: string;
  isCopy: boolean;
  shown: string;
}[] =>
  [output, ...copies.filter(existsSync)].map((directory, index) => {
    return { directory, isCopy: index > 0, shown: shownPath(cwd, directory) };
  });

/** Where @astrojs/vercel has put a copy of the output. @param since another build made older copies */
export function findCopies(root: string, output: string, { files }: Manifest, since: number): string[] {
  const folder = join(root, '.vercel/output/static');
  if (!existsSync(folder) || realpathSync(folder) === realpathSync(output)) return [];
  const isCopied = ({ name }: ManifestFile) => {
    const copy = join(folder, name);
    return (
      wasWrittenAfter(statsOf(copy), since) && readFileSync(copy).equals(readFileSync(join(output, name)))
    );
  };
  return files.some(isCopied) ? [folder] : [];
}
