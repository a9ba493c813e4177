import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type UserError, userError } from '../failures/errors.ts';
import { reasonOf } from '../text/clean-text.ts';
import { statsOf } from './read.ts';

/**
 * Writes a file, and makes its folder. A reader sees either the old or the new bytes, even if the process is
 * killed. A file that is replaced keeps its permissions.
 *
 * @param temporary the path that is written, then renamed. In the output, pass `temporaryFile(file)`.
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

/** Gives a file the permissions of another one, if that exists. The umask may have taken some. */
export function copyMode(from: string, to: string): void {
  const mode = statsOf(from)?.mode;
  // `chmod` is only called for a difference, as it fails on file systems without permissions.
  if (mode && mode !== statSync(to).mode) chmodSync(to, mode & 0o777);
}

const temporarySuffix = '.snippets.tmp';

/** The temporary path for an output file. It is fixed, so that later runs find what a killed process left. */
export const temporaryFile = (file: string): string => file + temporarySuffix;

/** Whether this is the name of a temporary file, as a process that was killed leaves it. */
export const isTemporary = (name: string): boolean => name.endsWith(temporarySuffix);

/** @param outcome a sentence that ends the message, such as "Nothing was changed.". */
export const writeError = (file: string, error: unknown, outcome: string): UserError =>
  userError('unwritable-file', `${file} could not be written: ${reasonOf(error)}. ${outcome}`);
