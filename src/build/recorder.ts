import {
  asBefore,
  contentRecord,
  hashOf,
  type Manifest,
  type ManifestFile,
  type RecordedSnippet,
} from '../record/manifest.ts';
import { packWriter } from '../record/pack.ts';
import type { Settings } from '../settings/settings.ts';
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

export function siteRecorder(site: InlinedSite, uses: readonly SnippetUse[], snippets: FetchedSnippets) {
  const { containsKey } = site.verifier;
  const pack = packWriter(site.manifest);
  const recorded: RecordedSnippet[] = [];
  const indexes = new Map<string, number>();
  const files: ManifestFile[] = [];
  /** The index of a snippet, which is added if it is new. */
  const indexOf = (shown: RecordedSnippet): number => {
    const index = indexes.get(shown.key) ?? recorded.push(shown) - 1;
    indexes.set(shown.key, index);
    // An entry of a collection is HTML.
    if (!shown.asText) delete recorded[index]?.asText;
    return index;
  };
  for (const { request, asHtml } of uses) {
    const snippet = snippets.get(request.key);
    indexOf({
      ...request,
      content: snippet && contentRecord(snippet, containsKey),
      missing: site.fetcher.missing.has(request.key) || undefined,
      asText: !asHtml || undefined,
    });
  }
  const collections = (site.collected ?? []).map(({ collection, entry, request, snippet }) => {
    const content = contentRecord(snippet, containsKey);
    return { collection, entry, snippet: indexOf({ ...request, content }), content: content.hash };
  });
  return {
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
      files.push(recordedFile);
    },
    finish(more: Pick<Manifest, 'inlinedAt' | 'linked'>): Manifest {
      const { settings, environment, directory, search, before, urls, classes } = site;
      const { renderBaseUrl, retrieveBaseUrl, urlOptions, ca, concurrency, timeout, patience } = settings;
      return {
        builtAt: new Date().toISOString(),
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
        rules: recordedRules(settings),
        classes,
        ...more,
        pack: pack.finish(),
        snippets: recorded,
        before: before && asBefore(before),
        files,
        collections,
      };
    },
  };
}

export function recordedRules({ html, images, editLinks }: Settings): Manifest['rules'] {
  const { sanitize, classes: _, ...rules } = html;
  return {
    ...rules,
    sanitizes: sanitize !== undefined,
    editLinks: editLinks ? scriptSource() : undefined,
    images,
  };
}
