import { listPlaces } from '../failures/places.ts';
import { describeLaterIntegrations, finalizeFiles, toUnrelatedFiles } from '../output/file-states.ts';
import type { OutputListing } from '../output/output-listing.ts';
import { findCopies } from '../output/page-copies.ts';
import type { Manifest } from '../record/manifest.ts';
import { writeManifest } from '../record/manifest-file.ts';
import { removeManifest } from '../record/record-paths.ts';
import type { GeneratedSite } from './generated-site.ts';

/**
 * Writes the manifest of a site whose snippets are inlined, with its files as later steps have left them.
 *
 * @param listing the files of the output when snippets were inlined, without those that are other files now
 * @param hasLaterSteps whether other integrations may have changed files after snippets were inlined
 */
export async function recordSite(
  site: GeneratedSite,
  inlined: Manifest,
  listing: OutputListing,
  hasLaterSteps: boolean,
): Promise<void> {
  const { manifestFile, directory, previousManifest, fetcher, logger, astro } = site;
  // Without a manifest, no `check` can say that nothing has changed.
  if (fetcher.showsChildren) {
    return removeManifest(manifestFile, 'The last build shows children instead of snippets.');
  }

  const outputCopies =
    astro && hasLaterSteps
      ? findCopies(astro.search.source.folders.root, directory, inlined, astro.earlierCopy)
      : undefined;
  const files = await finalizeFiles(inlined, hasLaterSteps ? listing : undefined, previousManifest);
  const laterIntegrations = astro?.laterIntegrations;

  const changedFiles = files.filter(({ changedAfterInlining }) => changedAfterInlining);
  if (changedFiles.length > 0) {
    const places = listPlaces(changedFiles.map(({ name }) => name));
    const them = changedFiles.length === 1 ? 'it' : 'them';
    logger.warn(
      `${describeLaterIntegrations({ laterIntegrations })} changed ${places} after snippets were inlined. Only a build can update ${them}: publish with \`astro-snippets check --exec\`, not with a refresh.`,
    );
  }
  const unrelated = toUnrelatedFiles(listing, files);
  writeManifest(manifestFile, { ...inlined, files, unrelated, laterIntegrations, outputCopies });
}
