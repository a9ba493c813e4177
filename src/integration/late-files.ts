import { readFileSync } from 'node:fs';
import { userError } from '../failures/errors.ts';
import { embedFinder } from '../output/compare-output.ts';
import { hashOfCopy, withoutSuffix } from '../output/compressed.ts';
import type { ScannableFile, SiteFile } from '../output/site-files.ts';
import { hashOf, type Manifest } from '../record/manifest.ts';

/**
 * Fails if other integrations wrote an embed after inlining, or if a compressed file is not that of its page.
 *
 * @param late files that were written after inlining, and may hold embeds
 * @param compressed all compressed files of the output
 * @param inlined the manifest, if the site shows snippets
 * @throws UserError if a file holds an embed, or if a compressed file differs from the file beside it
 */
export function refuseLateFiles(
  late: readonly ScannableFile[],
  compressed: readonly SiteFile[],
  inlined: Manifest | undefined,
): void {
  const hashes = new Map(inlined?.files.map(({ name, hash }) => [name, hash]));

  const holdsEmbed = embedFinder(inlined?.snippets);
  const withEmbed = late.filter(({ file, name, kind }) => {
    const bytes = readFileSync(file);
    // A file with the hash on record was written again without a change, so it holds no new embed.
    return hashes.get(name) !== hashOf(bytes) && holdsEmbed({ name, kind, bytes });
  });
  if (withEmbed.length > 0) {
    const message = `Another integration wrote an embed into ${namesOf(withEmbed)} after snippets were inlined.`;
    throw userError('late-embed', message);
  }

  const stale = compressed.filter((copy) => {
    if (!hashes.has(withoutSuffix(copy.name))) return false;
    const page = readFileSync(withoutSuffix(copy.file));
    return hashOfCopy(copy, [page]) !== hashOf(page);
  });
  if (stale.length > 0) {
    const verb = stale.length === 1 ? 'does' : 'do';
    const message = `${namesOf(stale)} ${verb} not decompress to the file beside it.`;
    throw userError('stale-compressed-file', message);
  }
}

const namesOf = (files: readonly SiteFile[]) => files.map(({ name }) => name).join(', ');
