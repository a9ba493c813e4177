import { readFileSync } from 'node:fs';
import { mayHoldEmbeds } from '../embed/may-hold-embeds.ts';
import { userError } from '../failures/errors.ts';
import { isWrittenSince } from '../files/read.ts';
import type { Manifest, ManifestFile } from '../record/manifest.ts';
import type { Settings } from '../settings/settings.ts';
import type { embedFinder } from './output-state.ts';
import { listSiteFiles, readEmbedding, type ScannableFile, type SiteFile } from './scan-site.ts';
import { OutputVerifier, refuseKey } from './verify-output.ts';

// What a build of a site without embeds needs. It loads a fraction of the code that inlining takes: most of its cost would
// be to load that code.

/** What a build has left, to tell what was written later. */
export interface FinishedSite {
  /** In milliseconds since the epoch. */
  at: number;
  /** Those that were inlined. */
  files: readonly ManifestFile[];
  /** The manifest of the last build. */
  before?: Manifest | undefined;
  /** The manifest to write, if the site needs one. */
  record?: Manifest | undefined;
}

/** A site without embeds, which has just been built. */
export function plainSite(): FinishedSite {
  return { at: Date.now(), files: [] };
}

/**
 * Finishes the build of a site without embeds.
 *
 * @returns `undefined` if a file may contain an embed. Nothing has been changed then.
 * @throws AstroError if the output contains the API key.
 */
export async function finishPlainSite(
  directory: string,
  { apiKey, exclude }: Pick<Settings, 'apiKey' | 'exclude'>,
): Promise<FinishedSite | undefined> {
  const { scannable, others } = listSiteFiles([directory], exclude);
  const verifier = new OutputVerifier(apiKey);
  if (!findEmbedding(scannable, verifier).next().done) return undefined;
  await verifier.read(others);
  await refuseKey(verifier);
  return plainSite();
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
  { at, files, record }: FinishedSite,
): Promise<void> {
  const verifier = new OutputVerifier(apiKey);
  const withEmbed: string[] = [];
  const hashes = new Map(files.map(({ name, hash }) => [name, hash]));
  let holdsEmbed: ReturnType<typeof embedFinder> | undefined;
  const isLate = ({ file }: SiteFile) => isWrittenSince(file, at);
  const { scannable, others, compressed } = listSiteFiles([directory], exclude);
  for (const { file, bytes } of findEmbedding(scannable.filter(isLate), verifier)) {
    const { hashOf } = await import('../record/manifest.ts');
    const { name, kind } = file;
    if (hashes.get(name) === hashOf(bytes)) continue;
    holdsEmbed ??= (await import('./output-state.ts')).embedFinder(record?.snippets ?? []);
    if (holdsEmbed({ name, kind, bytes })) withEmbed.push(name);
  }
  await verifier.read(others.filter(isLate));
  verifier.refuse((names) => `Another integration wrote the API key into ${names}.`);
  if (withEmbed.length > 0) {
    throw userError(
      'late-embed',
      `Another integration wrote an embed into ${withEmbed.join(', ')} after snippets were inlined.`,
    );
  }
  if (hashes.size === 0) return;
  const { hashOf } = await import('../record/manifest.ts');
  const { hashOfCopy, withoutSuffix } = await import('./side-products/page-copies.ts');
  const isStale = (copy: SiteFile) => {
    if (!hashes.has(withoutSuffix(copy.name))) return false;
    const page = readFileSync(withoutSuffix(copy.file));
    return hashOfCopy(copy, [page]) !== hashOf(page);
  };
  const stale = compressed.filter(isStale).map(({ name }) => name);
  if (stale.length === 0) return;
  throw userError(
    'stale-compressed-file',
    `${stale.join(', ')} ${stale.length === 1 ? 'does' : 'do'} not decompress to the file beside it.`,
  );
}

/** Checks files for the key, and finds those that may contain embeds. */
function* findEmbedding(
  files: readonly ScannableFile[],
  verifier: OutputVerifier,
): Generator<{ file: ScannableFile; bytes: Buffer }> {
  for (const file of files) {
    const bytes = readEmbedding(file);
    verifier.check(file, bytes);
    if (bytes !== undefined && mayHoldEmbeds(bytes, file.kind)) yield { file, bytes };
  }
}
