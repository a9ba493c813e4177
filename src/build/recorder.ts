import {
  asBefore,
  contentRecord,
  hashOf,
  type Manifest,
  type ManifestFile,
  type RecordedSnippet,
} from '../record/manifest.ts';
import { packWriter } from '../record/pack.ts';
import type { FetchedSnippets } from '../snippets/fetch-snippets.ts';
import type { SnippetUse } from '../snippets/file-embeds.ts';
import { scriptSource } from './edit-links/edit-links.ts';
import type { MadePage } from './inline-page.ts';
import type { InlinedSite } from './inline-snippets.ts';

/** What a file still shows of an earlier run, without an embed: a later step has changed the file. */
export interface LeftSnippet {
  snippet: RecordedSnippet;
  /** Of the content that it shows; `undefined` where it shows children. */
  hash: string | undefined;
}

/** Makes a record, which gets its files one after the other. */
export function siteRecorder(site: InlinedSite, uses: readonly SnippetUse[], snippets: FetchedSnippets) {
  const { verifier, fetcher, settings, environment, directory, search, before, urls, collected = [] } = site;
  const { renderBaseUrl, retrieveBaseUrl, urlOptions, ca, concurrency, timeout, patience } = settings;
  const { sanitize, classes: _, ...rules } = settings.html;
  const { containsKey } = verifier;
  const recorded = uses.map(({ request, asHtml }): RecordedSnippet => {
    const snippet = snippets.get(request.key);
    return {
      ...request,
      content: snippet && contentRecord(snippet, containsKey),
      missing: fetcher.missing.has(request.key) || undefined,
      asText: !asHtml || undefined,
    };
  });
  const indexes = new Map(recorded.map(({ key }, index) => [key, index]));
  /** The index of a snippet, which is added if it is new. */
  const indexOf = (shown: RecordedSnippet): number => {
    const index = indexes.get(shown.key) ?? recorded.push(shown) - 1;
    indexes.set(shown.key, index);
    // An entry of a collection is HTML.
    if (!shown.asText) delete recorded[index]?.asText;
    return index;
  };
  const record: Manifest = {
    builtAt: '',
    inlinedAt: 0,
    output: directory,
    outDir: search?.source.folders.outDir ?? directory,
    urls: search && urls,
    settings: {
      renderBaseUrl,
      retrieveBaseUrl,
      urlOptions,
      environment,
      ca,
      concurrency,
      timeout: `${timeout}ms`,
      patience: `${patience}ms`,
    },
    rules: {
      ...rules,
      sanitizes: sanitize !== undefined,
      editLinks: settings.editLinks ? scriptSource() : undefined,
      images: settings.images,
    },
    classes: site.classes,
    snippets: recorded,
    before: before && asBefore(before),
    files: [],
    collections: collected.map(({ collection, entry, request, snippet }) => {
      const content = contentRecord(snippet, containsKey);
      return { collection, entry, snippet: indexOf({ ...request, content }), content: content.hash };
    }),
  };
  const pack = packWriter(site.manifest);
  return {
    rules: record.rules,
    add(name: string, { generated, file, embeds }: MadePage, left: readonly LeftSnippet[]): void {
      const shows = embeds.map(({ request }) => indexes.get(request.key) ?? 0);
      const { at, length } = pack.add(generated);
      const recordedFile: ManifestFile = { name, hash: hashOf(file), shows, at, length, size: 0, time: 0 };
      // The first snippets are those of the uses, in their order.
      const optional = [...new Set(shows)].filter((index) => uses[index]?.optionalPlaces?.has(name));
      if (optional.length > 0) recordedFile.optional = optional;
      for (const { snippet, hash } of left) {
        const index = indexOf(snippet);
        shows.push(index);
        if (hash === recorded[index]?.content?.hash) continue;
        recordedFile.older = { ...recordedFile.older, [index]: hash ?? null };
      }
      record.files.push(recordedFile);
    },
    finish: (more: Pick<Manifest, 'inlinedAt' | 'linked'>): Manifest => ({
      ...record,
      ...more,
      builtAt: new Date().toISOString(),
      pack: pack.finish(),
    }),
  };
}
