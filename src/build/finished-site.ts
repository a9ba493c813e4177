import { rm } from 'node:fs/promises';
import { mayHoldEmbeds } from '../embed/element.ts';
import { isWrittenSince } from '../files/read.ts';
import type { Manifest } from '../record/manifest.ts';
import type { Settings } from '../settings/settings.ts';
import {
  listSiteFiles,
  OutputVerifier,
  readEmbedding,
  type ScannableFile,
  type SiteFile,
} from './scan-site.ts';

// What a build of a site without embeds needs. It loads a fraction of the code that inlining takes: most of its cost would
// be to load that code.

/** What a build has left, to tell what was written later. */
export interface FinishedSite {
  /** In milliseconds since the epoch. */
  at: number;
  /** What was inlined, as the manifest has it; `undefined` for a site that needs no manifest. */
  inlined?: Manifest | undefined;
  record?(): Promise<void>;
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
  if (scannable.some(mayEmbed(verifier))) return undefined;
  await verifier.read(others);
  await refuseKey(verifier);
  return { at: Date.now() };
}

/** @throws AstroError if the output contains the API key. The files that contain it are removed. */
export async function refuseKey(verifier: OutputVerifier): Promise<void> {
  for (const { file } of verifier.withKey) await rm(file, { force: true });
  verifier.refuse((names) => `The API key was found in ${names}. These files were removed.`);
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
  { at, inlined }: FinishedSite,
): Promise<void> {
  const verifier = new OutputVerifier(apiKey);
  const isLate = ({ file }: SiteFile) => isWrittenSince(file, at);
  const { scannable, others, compressed } = listSiteFiles([directory], exclude);
  const embedding = scannable.filter(isLate).filter(mayEmbed(verifier));
  await verifier.read(others.filter(isLate));
  verifier.refuse((names) => `Another integration wrote the API key into ${names}.`);
  if (embedding.length === 0 && inlined === undefined) return;
  const { refuseLateFiles } = await import('./output-state.ts');
  refuseLateFiles(embedding, compressed, inlined);
}

/** Tells files that may contain embeds. Each is checked for the key. */
function mayEmbed(verifier: OutputVerifier): (file: ScannableFile) => boolean {
  return (file) => {
    const bytes = readEmbedding(file);
    verifier.check(file, bytes);
    return bytes !== undefined && mayHoldEmbeds(bytes);
  };
}
