import { randomUUID } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type UserError, userError } from '../failures/errors.ts';
import { listNames } from '../failures/places.ts';
import { reasonOf } from '../text/clean-text.ts';
import { shortName } from './paths.ts';
import { statsOf } from './read.ts';

/**
 * Writes a file, and makes its folder. A reader sees either the old or the new bytes, even if the process is
 * killed. A file that is replaced keeps its permissions, and its owner and group if this process may set them.
 *
 * @param temporary the path that is written, then renamed. In the output, pass `temporaryFile(file)`.
 * @throws UserError if the file cannot be written.
 */
export function writeAtomically(
  file: string,
  bytes: Uint8Array | string,
  temporary: string = join(dirname(file), `${randomUUID()}.tmp`),
): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(temporary, bytes);
    keepAttributes(temporary, file);
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw writeError(file, error, 'It stays as it was.');
  }
}

/**
 * Gives a new file the owner and group of the file that it is going to replace, if that exists, and the
 * permissions, of which the umask may have taken some. Access control lists and extended attributes are lost.
 *
 * @param modeSource the path of the file whose permissions the new file gets
 * @returns whether the owner and group are kept: most processes may only set a group of their own
 */
export function keepAttributes(file: string, replaced: string, modeSource: string = replaced): boolean {
  const own = statSync(file);
  const { uid, gid } = statsOf(replaced) ?? own;
  const hasOwner = own.uid === uid && own.gid === gid;
  // Each attribute is only set for a difference, as that fails on file systems without it.
  const isKept = hasOwner || setOwner(file, uid, gid) || (setOwner(file, own.uid, gid) && own.uid === uid);
  const mode = statsOf(modeSource)?.mode;
  if (mode && mode !== own.mode) chmodSync(file, mode & 0o777);
  return isKept;
}

function setOwner(file: string, uid: number, gid: number): boolean {
  try {
    chownSync(file, uid, gid);
    return true;
  } catch {
    return false;
  }
}

/** The warning about files that have another owner or group than before. */
export const describeOtherOwners = (names: readonly string[]): string =>
  `Owner or group could not be kept, as this user may not set them: ${listNames(names)}. If a server cannot read these files now, change them back, and run the command as their owner.`;

const temporarySuffix = '.snippets.tmp';

/** The temporary path for an output file. It is fixed, so that later runs find what a killed process left. */
export const temporaryFile = (file: string): string =>
  join(dirname(file), shortName(basename(file)) + temporarySuffix);

/** Whether this is the name of a temporary file, as a process that was killed leaves it. */
export const isTemporary = (name: string): boolean => name.endsWith(temporarySuffix);

/** @param outcome a sentence that ends the message, such as "Nothing was changed.". */
export const writeError = (file: string, error: unknown, outcome: string): UserError =>
  userError('unwritable-file', `${file} could not be written: ${reasonOf(error)}. ${outcome}`);
