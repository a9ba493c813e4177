import { hashSource } from '../content/csp.ts';
import { listPlaces } from '../failures/places.ts';
import { describeLaterIntegrations, finalizeFiles } from '../output/file-states.ts';
import { findCopies } from '../output/page-copies.ts';
import {
  hashOf,
  type Manifest,
  type ManifestFile,
  type RecordedSnippet,
  toRecordedContent,
  toSnapshot,
} from '../record/manifest.ts';
import { writeManifest } from '../record/manifest-file.ts';
import { removeManifest } from '../record/missing-note.ts';
import { packWriter } from '../record/pack.ts';
import type { FetchedSnippets } from '../snippets/snippet-fetcher.ts';
import { linkSnippets } from './edit-links/edit-links.ts';
import { panelScript } from './edit-links/panel-script.ts';
import type { GeneratedSite } from './generated-site.ts';
import type { WrittenPage } from './inline-page.ts';
import type { ScannedSite } from './scan-site.ts';

export function siteRecorder(
  site: GeneratedSite,
  { uses, startedAt }: ScannedSite,
  snippets: FetchedSnippets,
): {
  record: Manifest;
  add(name: string, { inlinedPage: { generated, file, embeds }, leftovers, stats }: WrittenPage): void;
  finish(): Manifest;
} {
  const { fetcher, settings, environment, directory, search, previousManifest, collected = [] } = site;
  const { renderBaseUrl, retrieveBaseUrl, urlOptions, ca, concurrency, timeout, patience } = settings;
  const { links, scripts, strict, policy, classes, sanitize, images } = settings;
  const recorded = uses.map(({ request, asHtml }): RecordedSnippet => {
    const snippet = snippets.get(request.key);
    return {
      ...request,
      content: snippet && toRecordedContent(snippet),
      missing: fetcher.missing.has(request.key) || undefined,
      asText: !asHtml || undefined,
    };
  });
  const indexes = new Map(recorded.map(({ key }, index) => [key, index]));
  const indexOf = (shown: RecordedSnippet) => {
    const index = indexes.get(shown.key) ?? recorded.push(shown) - 1;
    indexes.set(shown.key, index);
    // An entry of a collection is HTML.
    if (!shown.asText) delete recorded[index]?.asText;
    return index;
  };
  const pack = packWriter(site.manifest);
  const record: Manifest = {
    builtAt: new Date().toISOString(),
    inlinedAt: startedAt,
    output: directory,
    outDir: search?.source.folders.outDir ?? directory,
    urls: search && site.urls,
    settings: { renderBaseUrl, retrieveBaseUrl, urlOptions, ca, concurrency, timeout, patience },
    environment,
    rules: {
      links,
      scripts,
      strict,
      policy,
      classes,
      sanitizes: sanitize !== undefined,
      editLinks: settings.editLinks ? hashSource(panelScript()) : undefined,
      images,
    },
    classes: site.classes?.written,
    linked: linkSnippets(settings, uses, snippets),
    snippets: recorded,
    previous: previousManifest && toSnapshot(previousManifest),
    files: [],
    collections: collected.map(({ collection, entry, request, snippet }) => {
      const content = toRecordedContent(snippet);
      return { collection, entry, snippet: indexOf({ ...request, content }), content: content.hash };
    }),
  };
  return {
    record,
    add(name: string, { inlinedPage: { generated, file, embeds }, leftovers = [], stats }: WrittenPage) {
      const shows = embeds.map(({ request }) => indexes.get(request.key) ?? 0);
      const { packOffset, packLength } = pack.add(generated);
      const { size = 0, mtimeMs: modifiedAt = 0 } = stats ?? {};
      const recordedFile: ManifestFile = {
        name,
        hash: hashOf(file),
        shows,
        packOffset,
        packLength,
        size,
        modifiedAt,
      };
      // The first snippets are those of the uses.
      const optional = shows.filter((index) => uses[index]?.optionalPlaces?.has(name));
      if (optional.length > 0) recordedFile.optional = [...new Set(optional)];
      for (const { snippet, hash } of leftovers) {
        const index = indexOf(snippet);
        shows.push(index);
        if (hash === recorded[index]?.content?.hash) continue;
        recordedFile.staleContentHashes = { ...recordedFile.staleContentHashes, [index]: hash ?? null };
      }
      record.files.push(recordedFile);
    },
    finish() {
      record.pack = pack.finish();
      return record;
    },
  };
}

/**
 * Records a site as later steps have left it.
 *
 * @param at when snippets were inlined, in milliseconds since the epoch; absent without later steps
 */
export async function recordSite(site: GeneratedSite, inlined: Manifest, at?: number): Promise<void> {
  const { manifest, directory, search, previousManifest, fetcher, laterIntegrations, logger } = site;
  // With a record, a check could say that nothing has changed.
  if (fetcher.showsChildren) {
    return removeManifest(manifest, 'The last build shows children instead of snippets.');
  }
  const root = search?.source.folders.root;
  const copies = root && at !== undefined ? findCopies(root, directory, inlined, at) : undefined;
  const files = await finalizeFiles(inlined, at, previousManifest);
  const late = files.flatMap(({ changedAfterInlining, name }) => (changedAfterInlining ? name : []));
  if (late.length > 0) {
    logger.warn(
      `${describeLaterIntegrations({ laterIntegrations })} changed ${listPlaces(late)} after snippets were inlined. Only a build can update ${late.length === 1 ? 'it' : 'them'}: publish with \`astro-snippets check --exec\`, not with a refresh.`,
    );
  }
  writeManifest(manifest, { ...inlined, files, laterIntegrations, copies });
}
