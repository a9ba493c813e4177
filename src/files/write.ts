import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type UserError, userError } from '../failures/errors.ts';
import { reasonOf } from '../text/clean-text.ts';
import { statsOf } from './read.ts';

const temporarySuffix = '.snippets.tmp';

/**
 * Writes a file and its folder: a reader sees the old bytes or the new ones, even if the process is killed. Permissions stay.
 *
 * @param temporary is written first. In the output, it needs a name by which it is found if it is left.
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

/** Gives a file the permissions of another, if it exists: the umask may keep a write from it. */
export function copyMode(from: string, to: string): void {
  const mode = statsOf(from)?.mode;
  // Not all file systems have modes to change.
  if (mode && mode !== statSync(to).mode) chmodSync(to, mode & 0o777);
}

/** A fixed name, so that what a killed process leaves is found and removed. */
export const temporaryFile = (file: string): string => file + temporarySuffix;

export const isTemporary = (name: string): boolean => name.endsWith(temporarySuffix);

/** @param outcome what became of the file, as a sentence */
export const writeError = (file: string, error: unknown, outcome: string): UserError =>
  userError('unwritable-file', `${file} could not be written: ${reasonOf(error)}. ${outcome}`);
