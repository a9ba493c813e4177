import { userError } from './user-error.ts';

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
 * Explains an error of the file system for people. Other errors are returned as they are.
 *
 * @param outcome what became of the file, as a sentence.
 */
export function writeError(file: string, error: unknown, outcome: string): unknown {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const reason = reasons[code];
  if (!/^E[A-Z]+$/.test(code)) return error;
  return userError(
    'unwritable-file',
    `${file} could not be written: ${reason === undefined ? message : `${reason} (${code})`}. ${outcome}`,
  );
}
