import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type UserError, userError } from '../failures/errors.ts';
import { contains, realPathOf, shownPath } from '../files/paths.ts';
import { forEachYielding } from '../files/turns.ts';
import { writeError } from '../files/write.ts';
import { refuseMisread } from '../output/site-files.ts';
import type { FolderInlining } from './folder-inlining.ts';

/** A file of the generator without snippets, and how it gets into the folder to publish. */
interface OtherFile {
  kind: 'folder' | 'file' | 'link';
  source: string;
  target: string;
  /** What a symbolic link in the folder to publish leads to. */
  link?: string;
}

/**
 * Lists the generator's other files: neither staged files nor the folder of a record. A symbolic link stays a
 * link: to the published file if it leads to a file of the generator, else to the same place. Only a linked
 * folder with staged files becomes a folder.
 *
 * @throws UserError if one of them cannot be copied
 */
export function listOtherFiles(
  { cwd, from, to, manifestFile }: FolderInlining,
  stagedNames: ReadonlySet<string>,
): OtherFile[] {
  const input = realpathSync(from);
  const output = realPathOf(to);
  const stagedFolders = new Set([...stagedNames].flatMap(foldersOf));
  const others: OtherFile[] = [];

  const listFolder = (folder: string, prefix: string) => {
    for (const found of readdirSync(folder, { withFileTypes: true })) {
      const name = `${prefix}${found.name}`;
      refuseMisread(folder, found.name, name);
      if (stagedNames.has(name) || join(from, name) === dirname(manifestFile)) continue;

      const source = join(folder, found.name);
      const target = join(output, name);
      const entry = stagedFolders.has(name) ? statSync(source) : found;
      if (entry.isSymbolicLink()) others.push({ kind: 'link', source, target, link: linkOf(source, target) });
      else if (entry.isFile()) others.push({ kind: 'file', source, target });
      else if (entry.isDirectory()) {
        others.push({ kind: 'folder', source, target });
        listFolder(source, `${name}/`);
      } else {
        throw userError('unusable-output', `${name} is neither a file nor a folder.`, 'Delete it.');
      }
    }
  };
  const linkOf = (source: string, target: string) => {
    if (!existsSync(source)) return readlinkSync(source);
    const real = realpathSync(source);
    return contains(input, real)
      ? relative(dirname(target), join(output, relative(input, real))) || '.'
      : real;
  };
  listFolder(input, '');

  for (const { kind, target } of others) {
    const existing = lstatSync(target, { throwIfNoEntry: false });
    const isFolder = existing?.isDirectory() ?? false;
    if (existing && isFolder !== (kind === 'folder')) throw inTheWay(cwd, target, existing, kind);
  }
  return others;
}

/** Copies files as they were listed. */
export async function copyOtherFiles(others: readonly OtherFile[]): Promise<void> {
  await forEachYielding(others, ({ kind, source, target, link = '' }) => {
    try {
      if (kind === 'folder') {
        mkdirSync(target, { recursive: true });
        return;
      }
      // A link or a hard link of an earlier run is replaced, so that no other file is written through it.
      rmSync(target, { force: true });
      if (kind === 'link') {
        symlinkSync(link, target, existsSync(source) && statSync(source).isDirectory() ? 'dir' : 'file');
        return;
      }
      copyFileSync(source, target);
      const { atime, mtime } = statSync(source);
      utimesSync(target, atime, mtime);
    } catch (error) {
      throw writeError(target, error, 'The pages are written. Run the command again.');
    }
  });
}

/**
 * Checks that a page can be written to the folder to publish: neither over a folder, nor through a linked
 * folder of an earlier run, which may lead back to the generator's own files.
 *
 * @throws UserError if it cannot
 */
export function refuseTarget({ cwd, to }: FolderInlining, name: string): void {
  for (const folder of foldersOf(name)) {
    const target = join(to, folder);
    const existing = lstatSync(target, { throwIfNoEntry: false });
    if (existing && !existing.isDirectory()) throw inTheWay(cwd, target, existing, 'folder');
  }
  const target = join(to, name);
  const existing = lstatSync(target, { throwIfNoEntry: false });
  if (existing?.isDirectory()) throw inTheWay(cwd, target, existing, 'file');
}

/** The names of the folders above a file, as `de` and `de/blog` of `de/blog/index.html`. */
function foldersOf(name: string): string[] {
  const parts = name.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

function inTheWay(cwd: string, target: string, existing: Stats, kind: OtherFile['kind']): UserError {
  const found = existing.isDirectory() ? 'folder' : existing.isSymbolicLink() ? 'link' : 'file';
  return userError(
    'unusable-output',
    `${shownPath(cwd, target)} is a ${found}, and the generator now has a ${kind} of that name. Nothing was written.`,
    `Delete the ${found}, and run the command again.`,
  );
}
