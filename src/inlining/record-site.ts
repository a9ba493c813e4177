import { listPlaces } from '../failures/places.ts';
import { describeLaterIntegrations, toUnrelatedFiles } from '../output/file-states.ts';
import { type FinalFiles, finalizeFiles, type LaterFiles } from '../output/final-files.ts';
import type { OutputListing } from '../output/output-listing.ts';
import { findCopies } from '../output/page-copies.ts';
import { refuseStaleCopies } from '../output/stale-copies.ts';
import type { Manifest } from '../record/manifest.ts';
import { writeManifest } from '../record/manifest-file.ts';
import { removeManifest } from '../record/record-paths.ts';
import type { GeneratedSite } from './generated-site.ts';

/**
 * Writes the manifest of a site whose snippets are inlined, with its files as later steps have left them.
 *
 * @param listing the files of the output when snippets were inlined, without those that are other files now
 * @param later what other integrations may have written since; `undefined` if there are none
 * @throws UserError if a compressed file is not that of its page
 */
export async function recordSite(
  site: GeneratedSite,
  inlined: Manifest,
  listing: OutputListing,
  later: LaterFiles | undefined,
): Promise<void> {
  const { manifestFile, directory, previousManifest, fetcher, astro } = site;
  const final = await finalizeFiles(inlined, later && { ...later, listing }, previousManifest);
  if (later) refuseStaleCopies(later.compressed, { ...inlined, files: final.files });
  // Without a manifest, no `check` can say that nothing has changed.
  if (fetcher.showsChildren) {
    return removeManifest(manifestFile, 'The last build shows children instead of snippets.');
  }

  const { files } = final;
  const outputCopies =
    astro && later
      ? findCopies(astro.search.source.folders.root, directory, files, astro.earlierCopy)
      : undefined;
  const laterIntegrations = astro?.laterIntegrations;
  logLaterChanges(site, final);
  const unrelated = toUnrelatedFiles(listing, files);
  writeManifest(manifestFile, { ...inlined, files, unrelated, laterIntegrations, outputCopies });
}

/** Says which files other integrations have changed, moved or removed after snippets were inlined. */
function logLaterChanges({ logger, astro }: GeneratedSite, { files, moved, removed }: FinalFiles): void {
  const integrations = describeLaterIntegrations({ laterIntegrations: astro?.laterIntegrations });
  const onlyBuild = (names: readonly string[]) =>
    `Only a build can update ${names.length === 1 ? 'it' : 'them'}: publish with \`astro-snippets check --exec\`, not with a refresh.`;

  const changed = files.flatMap(({ name, changedAfterInlining }) => (changedAfterInlining ? name : []));
  if (changed.length > 0) {
    logger.warn(
      `${integrations} changed ${listPlaces(changed)} after snippets were inlined. ${onlyBuild(changed)}`,
    );
  }
  if (moved.size > 0) {
    const moves = Array.from(moved, ([from, to]) => `${from} to ${to}`);
    logger.info(`${integrations} moved ${listPlaces(moves)} after snippets were inlined.`);
  }
  if (removed.length > 0) {
    logger.warn(
      `${integrations} removed ${listPlaces(removed)} after snippets were inlined. If the content is elsewhere now: ${onlyBuild(removed)}`,
    );
  }
}
