import { existsSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { userError } from '../failures/errors.ts';
import { contains, shownPath } from '../files/paths.ts';
import { isTemporary } from '../files/write.ts';
import type { GeneratedSite } from '../inlining/generated-site.ts';
import { listSiteFiles, type SiteFile, type SiteFiles } from '../output/site-files.ts';

/** A folder that a generator has written, and where the site with its snippets goes. Paths are absolute. */
export interface FolderInlining extends Pick<GeneratedSite, 'settings' | 'logger' | 'manifestFile'> {
  /** The folder from which messages show paths. */
  cwd: string;
  /** The folder that the generator has written. */
  from: string;
  /** The folder to publish: the same, or another that gets all of its files. */
  to: string;
}

/** Whether a file is in the folder to publish already, where an earlier run may have inlined its snippets. */
export const isPublished = ({ file, name }: SiteFile, { to }: FolderInlining): boolean =>
  file === join(to, name);

/**
 * Lists the files of the site to publish: those of the generator, and what earlier runs have left in the
 * output besides these. Removes the temporary files of a run that was killed.
 */
export function listFiles(inlining: FolderInlining): SiteFiles {
  const { from, to, manifestFile, settings } = inlining;
  const isRecord = (file: string) => file.startsWith(dirname(manifestFile) + sep);
  const folders = from === to || !existsSync(to) ? [from] : [from, to];

  return listSiteFiles(folders, settings.exclude, (siteFile) => {
    const { file, name } = siteFile;
    if (isTemporary(name)) {
      rmSync(file, { force: true });
      return true;
    }
    const source = join(from, name);
    const hasSource = file !== source && existsSync(source) && !isRecord(source);
    // The generator's file replaces the published one.
    return isRecord(file) || (hasSource && isPublished(siteFile, inlining));
  });
}

/** @throws UserError if one folder is inside the other, or if the record would be published */
export function refuseFolders({ cwd, from, to, manifestFile }: FolderInlining): void {
  const output = existsSync(to) ? realpathSync(to) : to;
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
