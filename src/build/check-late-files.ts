import { readFileSync } from 'node:fs';
import { mayHoldEmbeds } from '../embed/may-hold-embeds.ts';
import { userError } from '../failures/user-error.ts';
import type { Manifest } from '../record/manifest.ts';
import type { Settings } from '../settings/settings.ts';
import { isWrittenSince } from '../written-since.ts';
import { listSiteFiles, readEmbedding, type SiteFile } from './scan-site.ts';
import { suffixOf } from './side-products/encodings.ts';
import { readPageCopy } from './side-products/page-copies.ts';
import { OutputVerifier } from './verify-output.ts';

/** What a build has left, to tell what was written later. */
export interface FinishedSite {
  /** In milliseconds since the epoch. */
  at: number;
  /** The hash of each file that was inlined, by its name. */
  hashes: ReadonlyMap<string, string>;
  /** The keys of embeds inside contents, which stay in the output. */
  quoted: ReadonlySet<string>;
  /** The manifest of the last build. */
  before?: Manifest | undefined;
  /** The manifest to write, if the site needs one. */
  record?: Manifest | undefined;
}

/**
 * Checks the files that other integrations wrote after snippets were inlined. They are not inlined: copies, compressed
 * files and lists for service workers exist by then.
 *
 * @throws AstroError if one contains an embed or the API key, or if a compressed file was made before snippets were
 * inlined.
 */
export async function checkLateFiles(
  directory: string,
  { apiKey, exclude }: Pick<Settings, 'apiKey' | 'exclude'>,
  { at, hashes, quoted }: FinishedSite,
): Promise<void> {
  const verifier = new OutputVerifier(apiKey);
  const withEmbed: string[] = [];
  const isLate = ({ file }: SiteFile) => isWrittenSince(file, at);
  const { scannable, others, compressed } = listSiteFiles(directory, exclude);
  for (const file of scannable.filter(isLate)) {
    const bytes = readEmbedding(file);
    verifier.check(file, bytes);
    if (bytes === undefined || !mayHoldEmbeds(bytes, file.kind)) continue;
    // Loaded only here: a site without embeds needs neither.
    const { hashOf } = await import('../record/manifest.ts');
    const { readEmbeds } = await import('../snippets/file-embeds.ts');
    if (hashes.get(file.name) === hashOf(bytes)) continue;
    const { embeds, invalid } = readEmbeds({ ...file, bytes }, new Map());
    const isFound = embeds.some(({ request }) => !quoted.has(request.key)) || invalid.length > 0;
    if (isFound) withEmbed.push(file.name);
  }
  await verifier.read(others.filter(isLate));
  if (verifier.withKey.length > 0) {
    const names = verifier.withKey.map(({ name }) => name).join(', ');
    throw userError('published-key', `Another integration wrote the API key into ${names}.`);
  }
  if (withEmbed.length > 0) {
    throw userError(
      'late-embed',
      `Another integration wrote an embed into ${withEmbed.join(', ')} after snippets were inlined.`,
    );
  }
  const stale = compressed.filter((file) => isOtherPage(file, hashes)).map(({ name }) => name);
  if (stale.length === 0) return;
  throw userError(
    'stale-compressed-file',
    `${stale.join(', ')} ${stale.length === 1 ? 'does' : 'do'} not decompress to the file beside it.`,
  );
}

/** Whether a compressed file holds something else than the file with snippets beside it. */
function isOtherPage({ file, name }: SiteFile, hashes: FinishedSite['hashes']): boolean {
  const suffix = suffixOf(name);
  if (suffix === undefined || !hashes.has(name.slice(0, -suffix.length))) return false;
  const page = readFileSync(file.slice(0, -suffix.length));
  return !readPageCopy({ file, name, suffix }, page.length)?.equals(page);
}
