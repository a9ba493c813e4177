import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { reasonOf } from '../client/clean-text.ts';
import { type UserError, userError } from '../failures/errors.ts';

const suffix = '.snippets.tmp';

/**
 * Replaces a file as a whole, or writes it for the first time, with its folder: a reader sees all of the old bytes or all
 * of the new ones, even if the process is killed. Its permissions stay.
 *
 * @param temporary the file that is written first. In the output, it needs a name by which it is found if it is left there.
 */
export function writeAtomically(
  file: string,
  bytes: Uint8Array | string,
  temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`,
): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(temporary, bytes);
    copyMode(file, temporary);
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

export function isTemporary(name: string): boolean {
  return name.endsWith(suffix);
}

/** @param outcome what became of the file, as a sentence. */
export function writeError(file: string, error: unknown, outcome: string): UserError {
  return userError('unwritable-file', `${file} could not be written: ${reasonOf(error)}. ${outcome}`);
}
