import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type UserError, userError } from '../failures/errors.ts';
import { reasonOf } from '../text/clean-text.ts';
import { statsOf } from './read.ts';

/**
 * Writes a file, and makes its folder. A reader sees the old or the new bytes, even if the process is
 * killed. Permissions stay.
 *
 * @param temporary the path that is written, then renamed. In the output, a later run has to find it by its name.
 * @throws UserError if the file cannot be written.
 */
export function writeAtomically(
  file: string,
  bytes: Uint8Array | string,
  temporary = `${file}.${randomUUID()}.tmp`,
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

/** Gives a file the permissions of another one, if that exists: the umask can take some when a file is made. */
export function copyMode(from: string, to: string): void {
  const mode = statsOf(from)?.mode;
  // Some file systems have no permissions, and refuse to change them.
  if (mode && mode !== statSync(to).mode) chmodSync(to, mode & 0o777);
}

const temporarySuffix = '.snippets.tmp';

/** The temporary path for a file of the output. What a killed process left is found by this fixed name. */
export const temporaryFile = (file: string): string => file + temporarySuffix;

/** Whether a file was left by a process that was killed while it wrote. */
export const isTemporary = (name: string): boolean => name.endsWith(temporarySuffix);

/** @param outcome what became of the file, as a sentence. */
export const writeError = (file: string, error: unknown, outcome: string): UserError =>
  userError('unwritable-file', `${file} could not be written: ${reasonOf(error)}. ${outcome}`);
