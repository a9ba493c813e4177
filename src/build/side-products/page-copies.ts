import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ManifestFile } from '../../record/manifest.ts';
import { compress, decompress, type Suffix, suffixes } from './encodings.ts';
import { type SiteFolder, shownName } from './site-folders.ts';

/** A file that holds a page and nothing else: compressed, in a copy of the output, or both. */
export interface PageCopy {
  /** Its path on disk. */
  file: string;
  /** How people know it. */
  name: string;
  /** Absent if it is not compressed. */
  suffix?: Suffix | undefined;
}

/** The files that exist besides the page itself. A page that a copy lacks counts, since a build would put it there. */
export function listPageCopies(
  folders: readonly SiteFolder[],
  { name: page, copies = [] }: Pick<ManifestFile, 'name' | 'copies'>,
): PageCopy[] {
  const same = folders
    .slice(0, 1)
    .flatMap(({ directory }) =>
      copies
        .map((name): PageCopy => ({ file: join(directory, name), name }))
        .filter(({ file }) => statSync(file, { throwIfNoEntry: false })?.isFile()),
    );
  const others = folders.flatMap((folder): PageCopy[] => {
    const plain = { file: join(folder.directory, page), name: shownName(folder, page) };
    const compressed = suffixes
      .map((suffix) => ({ file: `${plain.file}${suffix}`, name: `${plain.name}${suffix}`, suffix }))
      .filter(({ file }) => statSync(file, { throwIfNoEntry: false })?.isFile());
    return folder.copy === undefined ? compressed : [plain, ...compressed];
  });
  return [...same, ...others];
}

/** Reads the page out of a copy of it. `undefined` if it holds something that is longer, or no page at all. */
export function readPageCopy({ file, suffix }: PageCopy, maxLength: number): Buffer | undefined {
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) return undefined;
  if (suffix !== undefined) return decompress(readFileSync(file), suffix, maxLength);
  return size > maxLength ? undefined : readFileSync(file);
}

/** What a copy of a page has to contain. */
export function pageCopyOf(page: Buffer, { suffix }: PageCopy): Buffer | Promise<Buffer> {
  return suffix === undefined ? page : compress(page, suffix);
}

/** Why a file is no copy of a page: the end of a sentence that begins with the file's name. */
export function notACopy({ suffix }: PageCopy, page: string): string {
  return suffix === undefined ? `is not a copy of ${page}` : `does not decompress to ${page}`;
}
