import { listPlaces } from '../failures/places.ts';
import { describeLaterIntegrations, finalizeFiles } from '../output/file-states.ts';
import { findCopies } from '../output/page-copies.ts';
import type { Manifest } from '../record/manifest.ts';
import { writeManifest } from '../record/manifest-file.ts';
import { removeManifest } from '../record/record-paths.ts';
import type { GeneratedSite } from './generated-site.ts';

/**
 * Writes the manifest of a site whose snippets are inlined, with its files as later steps have left them.
 *
 * @param inlinedAt when snippets were inlined, in ms since the epoch; absent if no later step changes files
 */
export async function recordSite(site: GeneratedSite, inlined: Manifest, inlinedAt?: number): Promise<void> {
  const { manifestFile, directory, previousManifest, fetcher, logger, astro } = site;
  // Without a manifest, no `check` can say that nothing has changed.
  if (fetcher.showsChildren) {
    return removeManifest(manifestFile, 'The last build shows children instead of snippets.');
  }

  const root = astro?.search.source.folders.root;
  const mayHaveCopies = root !== undefined && inlinedAt !== undefined;
  const copies = mayHaveCopies ? findCopies(root, directory, inlined, inlinedAt) : undefined;
  const files = await finalizeFiles(inlined, inlinedAt, previousManifest);
  const laterIntegrations = astro?.laterIntegrations;

  const changedFiles = files.filter(({ changedAfterInlining }) => changedAfterInlining);
  if (changedFiles.length > 0) {
    const places = listPlaces(changedFiles.map(({ name }) => name));
    const them = changedFiles.length === 1 ? 'it' : 'them';
    logger.warn(
      `${describeLaterIntegrations({ laterIntegrations })} changed ${places} after snippets were inlined. Only a build can update ${them}: publish with \`astro-snippets check --exec\`, not with a refresh.`,
    );
  }
  writeManifest(manifestFile, { ...inlined, files, laterIntegrations, outputCopies: copies });
}
