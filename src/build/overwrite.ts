import { closeSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs';
import { writeError } from '../failures/write-error.ts';
import type { WriteFile } from './inline-files.ts';

/**
 * Writes a file in place. It is not read before the build ends, and writing a temporary file and renaming it takes
 * many times longer.
 */
export const overwrite: WriteFile = ({ file, name }, bytes, { length: lengthBefore }) => {
  const descriptor = openSync(file, 'r+');
  try {
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(descriptor, bytes, written, bytes.length - written, written);
    }
    if (bytes.length < lengthBefore) ftruncateSync(descriptor, bytes.length);
  } catch (error) {
    // Part of the new page and part of the old one.
    rmSync(file, { force: true });
    throw writeError(name, error, 'It was removed.');
  } finally {
    closeSync(descriptor);
  }
};
