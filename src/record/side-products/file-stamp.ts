import { statSync } from 'node:fs';
import { hashOfFile } from '../manifest.ts';
import type { DerivedKind } from './derived-files.ts';

/** What tells a file that was written again from one that was left alone. */
export interface FileStamp extends WriteStamp {
  hash: string;
}

export interface WriteStamp {
  /** Changes whenever the file is written, even with the same bytes. */
  written: string;
}

/** `undefined` if there is no such file. */
export function stampOf(file: string): FileStamp | undefined {
  const stamp = writeStampOf(file);
  return stamp && { ...stamp, hash: hashOfFile(file) };
}

/** The same without reading the file. */
export function writeStampOf(file: string): WriteStamp | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (found === undefined || !found.isFile()) return undefined;
  const { ino, mtimeNs, ctimeNs } = found;
  return { written: [ino, mtimeNs, ctimeNs].join(' ') };
}

/**
 * Whether a file has been renewed since its bytes with this hash are out of date. A search index may be the same again,
 * if it was written since `before`; a file that still contains a page's old revision may not. A list of revisions that is
 * gone, like one with a digest in its name, is out of date no longer.
 */
export function isRenewed(
  { kind, hash }: { kind: DerivedKind; hash: string | undefined },
  before: WriteStamp | undefined,
  now: FileStamp | undefined,
): boolean {
  if (now === undefined) return kind === 'revision';
  return now.hash !== hash || (kind === 'search-index' && now.written !== before?.written);
}
