import { mayHoldEmbeds } from '../embed/may-hold-embeds.ts';
import type { Settings } from '../settings/settings.ts';
import type { FinishedSite } from './check-late-files.ts';
import { inTurns } from './in-turns.ts';
import { listSiteFiles, readEmbedding } from './scan-site.ts';
import { OutputVerifier, refuseKey } from './verify-output.ts';

/**
 * Finishes the build of a site without embeds, with a fraction of the code that inlining takes: most of its cost would
 * be to load that code.
 *
 * @returns `undefined` if a file may contain an embed. Nothing has been changed then.
 * @throws AstroError if the output contains the API key.
 */
export async function finishPlainSite(
  directory: string,
  { apiKey, exclude }: Pick<Settings, 'apiKey' | 'exclude'>,
): Promise<FinishedSite | undefined> {
  const { scannable, others } = listSiteFiles(directory, exclude);
  const verifier = new OutputVerifier(apiKey);
  let isPlain = true;
  await inTurns(scannable, (file) => {
    if (!isPlain) return;
    const bytes = readEmbedding(file);
    isPlain = bytes === undefined || !mayHoldEmbeds(bytes, file.kind);
    verifier.check(file, bytes);
  });
  if (!isPlain) return undefined;
  await verifier.read(others);
  await refuseKey(verifier);
  return plainSite();
}

/** A site without embeds, which has just been built. */
export function plainSite(): FinishedSite {
  return { at: Date.now(), hashes: new Map(), quoted: new Set() };
}
