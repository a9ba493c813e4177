import { existsSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { userError } from '../failures/errors.ts';
import { contains, realPathOf, shownPath } from '../files/paths.ts';
import { isTemporary } from '../files/write.ts';
import type { GeneratedSite } from '../inlining/generated-site.ts';
import { distinctFiles, type ListedFiles, listSiteFiles, type SiteFile } from '../output/site-files.ts';

/** The folder that a generator has written, and the one to publish with snippets. Paths are absolute. */
export interface FolderInlining extends Pick<GeneratedSite, 'settings' | 'logger' | 'manifestFile'> {
  /** The folder from which messages show paths. */
  cwd: string;
  /** The folder that the generator has written. */
  from: string;
  /** The folder to publish: the same as `from`, or another, to which all files of `from` are written. */
  to: string;
}

/** The files of a folder. */
export interface FolderFiles extends ListedFiles {
  /** The names of symbolic links to pages of the folder, each with the name of its page. */
  aliases: ReadonlyMap<string, string>;
}

/** Whether a file is in the folder to publish: an earlier run may have inlined snippets into it. */
export const isPublished = ({ file, name }: SiteFile, { to }: FolderInlining): boolean =>
  file === join(to, name);

/**
 * Lists the files of the site to publish: those of the generator, and others that earlier runs have left in
 * the output. A symbolic link to another page of the folder is no page of its own. Removes the temporary files
 * of a run that was killed.
 */
export function listFiles(inlining: FolderInlining): FolderFiles {
  const { from, to, manifestFile, settings } = inlining;
  const isRecord = (file: string) => file.startsWith(dirname(manifestFile) + sep);
  const folders = from === to || !existsSync(to) ? [from] : [from, to];

  const files = listSiteFiles(folders, settings.exclude, (siteFile) => {
    const { file, name } = siteFile;
    if (isTemporary(name)) {
      rmSync(file, { force: true });
      return true;
    }
    const source = join(from, name);
    const hasSource = file !== source && existsSync(source) && !isRecord(source);
    // A published file is left out if the generator has a file of that name, which replaces it.
    return isRecord(file) || (hasSource && isPublished(siteFile, inlining));
  });
  const { files: scannable, aliases } = distinctFiles(files.scannable);
  return { ...files, scannable, aliases };
}

/** Checks the folders. @throws UserError if one is inside the other, or the record would be published */
export function refuseFolders({ cwd, from, to, manifestFile }: FolderInlining): void {
  const output = realPathOf(to);
  const input = realpathSync(from);
  if (from !== to && (contains(input, output) || contains(output, input))) {
    throw userError(
      'unusable-output',
      `The output folder ${shownPath(cwd, to)} and ${shownPath(cwd, from)} overlap.`,
    );
  }
  if (contains(to, manifestFile) || dirname(manifestFile) === from) {
    throw userError(
      'unusable-output',
      `The record of this run, ${shownPath(cwd, manifestFile)}, would be published.`,
      'Run the command in a folder above the output folder, or pass a file outside of it to --manifest.',
    );
  }
}
