import { statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { mayHoldEmbeds } from '../embed/element.ts';
import { isSince } from '../files/read.ts';
import type { Manifest } from '../record/manifest.ts';
import type { Settings } from '../settings/settings.ts';
import type { BuildLogger } from './inline-snippets.ts';
import { listSiteFiles, OutputVerifier, readEmbedding, type SiteFile } from './scan-site.ts';

// What a build of a site without embeds needs: to load the code that inlines would be most of its cost.

/** What a build has left, to tell what was written later. */
export interface FinishedSite {
  /** In milliseconds since the epoch. */
  at: number;
  verifier: OutputVerifier;
  /** `undefined` for a site that needs no manifest. */
  inlined?: Manifest | undefined;
  record?: (() => Promise<void>) | undefined;
}

/** Finishes the build of a site without embeds; returns `undefined` if a file may contain one. @throws as `refuseKey`. */
export async function finishPlainSite(
  directory: string,
  { apiKey, exclude }: Pick<Settings, 'apiKey' | 'exclude'>,
): Promise<FinishedSite | undefined> {
  const { scannable, others } = listSiteFiles([directory], exclude);
  const verifier = new OutputVerifier(apiKey);
  if (scannable.some(mayEmbed(verifier))) return undefined;
  await verifier.read(others);
  await refuseKey(verifier);
  return { at: Date.now(), verifier };
}

/** @throws AstroError if the output contains the API key. The files that contain it are removed. */
export async function refuseKey(verifier: OutputVerifier): Promise<void> {
  for (const { file } of verifier.withKey) await rm(file, { force: true });
  verifier.refuse((names) => `The API key was found in ${names}. These files were removed.`);
}

/**
 * Checks the files that other integrations wrote since. Embeds in them are refused, since copies, compressed files and
 * lists for service workers exist by then. So are compressed files that were made before.
 */
export async function checkLateFiles(
  directory: string,
  { exclude }: Pick<Settings, 'exclude'>,
  { at, verifier, inlined }: FinishedSite,
  logger: BuildLogger,
): Promise<void> {
  const isLate = ({ file }: SiteFile) => isSince(statSync(file, { throwIfNoEntry: false }), at);
  const { scannable, others, compressed } = listSiteFiles([directory], exclude);
  const embedding = scannable.filter(isLate).filter(mayEmbed(verifier));
  await verifier.read(others.filter(isLate));
  // Of the whole build: Astro still removed those that it rendered pages with.
  for (const line of verifier.codeWarnings()) logger.warn(line);
  verifier.refuse((names) => `Another integration wrote the API key into ${names}.`);
  if (embedding.length === 0 && inlined === undefined) return;
  const { refuseLateFiles } = await import('./output-state.ts');
  refuseLateFiles(embedding, compressed, inlined);
}

/** Tells files that may contain embeds. Each is checked for the key. */
function mayEmbed(verifier: OutputVerifier): (file: SiteFile) => boolean {
  return (file) => {
    const bytes = readEmbedding(file);
    verifier.check(file, bytes);
    return bytes !== undefined && mayHoldEmbeds(bytes);
  };
}
