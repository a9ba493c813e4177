import { closeSync, fstatSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs';
import { writeError } from '../failures/write-error.ts';
import { readBytes } from '../read-file.ts';
import type { RewriteFile } from './inline-snippets.ts';

/**
 * Writes a file in place. It is not read before the build ends, and writing a temporary file and renaming it takes
 * many times longer.
 */
export const overwrite: RewriteFile = ({ file, name }, kept, change) => {
  const descriptor = openSync(file, 'r+');
  try {
    const before = kept ?? readBytes(descriptor, fstatSync(descriptor).size);
    const changed = change(before);
    try {
      write(descriptor, changed, before.length);
    } catch (error) {
      // Part of the new page and part of the old one.
      rmSync(file, { force: true });
      throw writeError(name, error, 'It was removed.');
    }
  } finally {
    closeSync(descriptor);
  }
};

function write(descriptor: number, bytes: Buffer, lengthBefore: number): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(descriptor, bytes, written, bytes.length - written, written);
  }
  if (bytes.length < lengthBefore) ftruncateSync(descriptor, bytes.length);
}
