import type { FileKind } from '../embed/found-embed.ts';
import { userError } from '../failures/errors.ts';
import { fileKind } from '../files/file-kind.ts';
import { hashOf } from '../record/hash-of.ts';
import type { Manifest, RecordedFile } from '../record/manifest.ts';
import { embedFinder, findDisplayed } from './compare-output.ts';
import { readCopy, withoutSuffix } from './compressed.ts';
import type { SiteFile } from './site-files.ts';

/**
 * Refuses compressed files that are not those of their pages, as servers send them instead of the pages.
 *
 * @param manifest the record, with its files as they are at the end of the build
 * @throws UserError that names these files
 */
export function refuseStaleCopies(compressed: readonly SiteFile[], manifest: Manifest): void {
  const pages = new Map(manifest.files.map((page) => [page.name, page]));
  const stale = compressed.filter((copy) => {
    const page = pages.get(withoutSuffix(copy.name));
    return page && !isCopyOf(copy, page, manifest);
  });
  if (stale.length === 0) return;
  const verb = stale.length === 1 ? 'does' : 'do';
  const names = stale.map(({ name }) => name).join(', ');
  throw userError('stale-compressed-file', `${names} ${verb} not decompress to the file beside it.`);
}

/** Whether a compressed file holds a page. A later step may have changed one before it removed the page. */
function isCopyOf(copy: SiteFile, page: RecordedFile, manifest: Manifest): boolean {
  const bytes = readCopy(copy, page.size);
  if (!bytes) return false;
  if (hashOf(bytes) === page.hash) return true;
  const { name, shows, removedAfterInlining } = page;
  if (!removedAfterInlining) return false;
  const hasEmbed = embedFinder(manifest.snippets)({ name, bytes, kind: fileKind(name) as FileKind });
  return !hasEmbed && findDisplayed(bytes, shows, page, manifest).length === shows.length;
}
