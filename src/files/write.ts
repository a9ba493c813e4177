import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { reasonOf } from '../client/clean-text.ts';
import { type UserError, userError } from '../failures/errors.ts';

const suffix = '.snippets.tmp';

/**
 * Replaces a file as a whole, or writes it for the first time, with its folder: a reader sees all of the old bytes or all of the new ones, even if the process is killed.
 * Its permissions stay.
 *
 * @param temporary the file that is written first. In the output folder it needs a known name, so that it can be
 * removed if it is left behind.
 * @throws AstroError that says why the file could not be written.
 */
export async function writeAtomically(
  file: string,
  bytes: Buffer | string,
  temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`,
): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(temporary, bytes);
    copyMode(file, temporary);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw writeError(file, error, 'It stays as it was.');
  }
}

/**
 * The same for many small files that are not published: takes half the time of {@link writeAtomically}, and keeps the
 * process waiting.
 *
 * @throws AstroError that says why the file could not be written.
 */
export function writeSmallFile(file: string, text: string): void {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeFileSync(temporary, text);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw writeError(file, error, 'It stays as it was.');
  }
}

/** Gives a file the permissions of another one, if that exists. When a file is written, the umask takes some away. */
export function copyMode(from: string, to: string): void {
  const mode = statSync(from, { throwIfNoEntry: false })?.mode;
  // Not all file systems have modes to change.
  if (mode !== undefined && mode !== statSync(to).mode) chmodSync(to, mode & 0o777);
}

/** A fixed name for the file that is written first, so that one left behind by a killed process is found and removed. */
export function temporaryFile(file: string): string {
  return file + suffix;
}

/** Whether a file has such a name. */
export function isTemporary(name: string): boolean {
  return name.endsWith(suffix);
}

/** Files of these names in folders. */
export function listTemporaryFiles(folders: readonly string[]): string[] {
  return folders.filter(existsSync).flatMap((folder) =>
    readdirSync(folder)
      .filter(isTemporary)
      .map((name) => join(folder, name)),
  );
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be too large for the disk',
  EROFS: 'the disk is read-only',
  EIO: 'the disk has an error',
  EACCES: 'the permission is missing',
  EPERM: 'the permission is missing',
};

/**
 * Explains for people why a file could not be written.
 *
 * @param outcome what became of the file, as a sentence.
 */
export function writeError(file: string, error: unknown, outcome: string): UserError {
  const { code = '' } = (error ?? {}) as NodeJS.ErrnoException;
  const reason = code in reasons ? `${reasons[code]} (${code})` : reasonOf(error);
  return userError('unwritable-file', `${file} could not be written: ${reason}. ${outcome}`);
}
