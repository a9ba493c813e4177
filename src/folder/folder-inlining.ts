import { existsSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { userError } from '../failures/errors.ts';
import { contains, shownPath } from '../files/paths.ts';
import { isTemporary } from '../files/write.ts';
import type { GeneratedSite } from '../inlining/generated-site.ts';
import { listSiteFiles, type SiteFiles } from '../output/site-files.ts';

export interface FolderInlining extends Pick<GeneratedSite, 'settings' | 'logger' | 'manifest'> {
  /** Where paths that are shown begin. */
  cwd: string;
  from: string;
  /** The folder to publish: the same, or another that gets all of it. */
  to: string;
}

/** With what earlier runs left in the output: it is published, too. */
export function listFiles({ from, to, manifest, settings }: FolderInlining): SiteFiles {
  const isRecord = (file: string) => file.startsWith(dirname(manifest) + sep);
  const folders = from === to || !existsSync(to) ? [from] : [from, to];
  return listSiteFiles(folders, settings.exclude, ({ file, name }) => {
    // Left by a process that was killed.
    if (isTemporary(name)) rmSync(file, { force: true });
    const source = join(from, name);
    const isReplaced = file !== source && file === join(to, name) && existsSync(source) && !isRecord(source);
    return isTemporary(name) || isReplaced || isRecord(file);
  });
}

/** @throws AstroError if one folder is inside the other, or if the record would be published. */
export function refuseFolders({ cwd, from, to, manifest }: FolderInlining): void {
  const output = existsSync(to) ? realpathSync(to) : to;
  const input = realpathSync(from);
  if (from !== to && (contains(input, output) || contains(output, input))) {
    throw userError(
      'unusable-output',
      `The output folder ${shownPath(cwd, to)} and ${shownPath(cwd, from)} overlap.`,
    );
  }
  if (contains(to, manifest) || dirname(manifest) === from) {
    throw userError(
      'unusable-output',
      `The record of this run, ${shownPath(cwd, manifest)}, would be published.`,
      'Run the command in a folder above the output folder, or pass a file outside of it to --manifest.',
    );
  }
}
