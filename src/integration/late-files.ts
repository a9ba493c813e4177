import { readFileSync } from 'node:fs';
import { userError } from '../failures/errors.ts';
import { embedFinder } from '../output/compare-output.ts';
import { hashOfCopy, withoutSuffix } from '../output/compressed.ts';
import type { ScannableFile, SiteFile } from '../output/site-files.ts';
import { hashOf, type Manifest } from '../record/manifest.ts';

/** @param late files that were written after inlining, and may hold embeds. */
export function refuseLateFiles(late: ScannableFile[], compressed: SiteFile[], inlined?: Manifest): void {
  const hashes = new Map(inlined?.files.map(({ name, hash }) => [name, hash]));
  const holdsEmbed = embedFinder(inlined?.snippets);
  const withEmbed = late.filter(({ file, name, kind }) => {
    const bytes = readFileSync(file);
    return hashes.get(name) !== hashOf(bytes) && holdsEmbed({ name, kind, bytes });
  });
  if (withEmbed.length > 0) {
    const what = `Another integration wrote an embed into ${namesOf(withEmbed)} after snippets were inlined.`;
    throw userError('late-embed', what);
  }
  const stale = compressed.filter((copy) => {
    if (!hashes.has(withoutSuffix(copy.name))) return false;
    const page = readFileSync(withoutSuffix(copy.file));
    return hashOfCopy(copy, [page]) !== hashOf(page);
  });
  if (stale.length > 0) {
    const what = `${namesOf(stale)} ${stale.length === 1 ? 'does' : 'do'} not decompress to the file beside it.`;
    throw userError('stale-compressed-file', what);
  }
}

const namesOf = (files: readonly SiteFile[]) => files.map(({ name }) => name).join(', ');
