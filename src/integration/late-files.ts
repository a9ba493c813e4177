import { existsSync, readFileSync } from 'node:fs';
import { userError } from '../failures/errors.ts';
import { fileKind } from '../files/file-kind.ts';
import { type EmbedFinder, embedFinder } from '../output/compare-output.ts';
import { readCopy, withoutSuffix } from '../output/compressed.ts';
import type { ScannableFile, SiteFile } from '../output/site-files.ts';
import { hashOf } from '../record/hash-of.ts';
import type { Manifest } from '../record/manifest.ts';

/**
 * Fails if another integration wrote an embed after inlining, or compressed one before and removed the original,
 * so that no snippet was inlined into it.
 *
 * @param late files that were written after inlining, and may hold embeds
 * @param compressed all compressed files of the output
 * @param inlined the manifest, if the site shows snippets
 * @throws UserError if a file holds an embed
 */
export function refuseLateEmbeds(
  late: readonly ScannableFile[],
  compressed: readonly SiteFile[],
  inlined: Manifest | undefined,
): void {
  const hashes = new Set(inlined?.files.map(({ hash }) => hash));
  const holdsEmbed = embedFinder(inlined?.snippets);
  const withEmbed = late.filter(({ file, name, kind }) => {
    const bytes = readFileSync(file);
    // A file with a hash on record was written again or moved without a change, so it holds no new embed.
    return !hashes.has(hashOf(bytes)) && holdsEmbed({ name, kind, bytes });
  });
  if (withEmbed.length > 0) {
    const message = `Another integration wrote an embed into ${namesOf(withEmbed)} after snippets were inlined.`;
    throw userError('late-embed', message);
  }

  const orphans = compressed.filter((copy) => holdsOnlyEmbed(copy, holdsEmbed));
  if (orphans.length > 0) {
    const verb = orphans.length === 1 ? 'holds' : 'hold';
    const message = `${namesOf(orphans)} ${verb} an embed, and the file that was compressed is gone.`;
    throw userError('stale-compressed-file', message);
  }
}

/** The most bytes that a compressed file without its original may hold to be searched for embeds. */
const maxOriginalSize = 60 * 1024 * 1024;

/** Whether a compressed file, without the file that was compressed, holds an embed. */
function holdsOnlyEmbed(copy: SiteFile, holdsEmbed: EmbedFinder): boolean {
  const name = withoutSuffix(copy.name);
  const kind = fileKind(name);
  if (kind === 'binary' || kind === 'code' || kind === 'compressed') return false;
  if (existsSync(withoutSuffix(copy.file))) return false;
  const bytes = readCopy(copy, maxOriginalSize);
  return bytes !== undefined && holdsEmbed({ name, kind, bytes });
}

const namesOf = (files: readonly SiteFile[]) => files.map(({ name }) => name).join(', ');
