import { readFileSync } from 'node:fs';
import { userError } from '../failures/user-error.ts';
import { hashOf } from '../record/manifest.ts';
import type { SiteFile } from './scan-site.ts';

/**
 * Reads a file again.
 *
 * @param hash the hash of what it held when the run began.
 * @throws AstroError if it holds something else now.
 */
export function readUnchanged({ file, name }: SiteFile, hash: string | undefined): Buffer {
  const bytes = readFileSync(file);
  if (hashOf(bytes) === hash) return bytes;
  throw userError(
    'output-in-use',
    `${name} was changed while snippets were fetched. Nothing was written.`,
    'Run the command when the generator has ended.',
  );
}
