import { hashSource } from '../content/hash-source.ts';
import type { SnippetWarning } from '../failures/snippet-warning.ts';
import { hashOf } from '../record/hash-of.ts';
import {
  type Manifest,
  type RecordedFile,
  type RecordedSnippet,
  toRecordedContent,
  toRecordedFlaws,
  toSnapshot,
} from '../record/manifest.ts';
import { PackWriter } from '../record/pack.ts';
import type { Settings } from '../settings/settings.ts';
import type { FetchedSnippets } from '../snippets/snippet-fetcher.ts';
import type { SnippetNames } from '../snippets/snippet-names.ts';
import type { SnippetUse } from '../snippets/snippet-use.ts';
import { linkSnippets, panelScript, recordedEditUrls } from './edit-links/edit-links.ts';
import type { CollectedSnippet, GeneratedSite } from './generated-site.ts';
import type { WrittenPage } from './inline-page.ts';
import type { ScannedSite } from './scan-site.ts';

/**
 * Makes the manifest of a site while its pages are inlined: each page adds its record, and the rest is known
 * from the start. The pages as generated go into a pack, one new file beside the manifest.
 */
export class SiteRecorder {
  readonly #uses: readonly SnippetUse[];
  readonly #record: Manifest;
  /** The indexes of recorded snippets, by the keys of their requests. */
  readonly #indexes: Map<string, number>;
  readonly #pack: PackWriter;
  readonly #names: SnippetNames;
  readonly #settings: Settings;

  constructor(site: GeneratedSite, { uses }: ScannedSite, snippets: FetchedSnippets) {
    const { settings, directory, previousManifest, fetcher, astro } = site;
    const linked = linkSnippets(settings, uses, (id) => fetcher.names.of(id));
    const recordedSnippets = uses.map(({ request, asHtml, asUrl, inTemplate }): RecordedSnippet => {
      const snippet = snippets.get(request.key);
      return {
        ...request,
        content: snippet && toRecordedContent(snippet, linked?.[request.id]?.name),
        missing: fetcher.missing.has(request.key) || undefined,
        asText: !asHtml || undefined,
        asUrl: asUrl || undefined,
        inTemplate: inTemplate || undefined,
        flaws: toRecordedFlaws(snippet?.flaws),
      };
    });
    this.#uses = uses;
    this.#names = fetcher.names;
    this.#settings = settings;
    this.#indexes = new Map(recordedSnippets.map(({ key }, index) => [key, index]));
    this.#pack = new PackWriter(site.manifestFile);
    this.#record = {
      builtAt: new Date().toISOString(),
      output: directory,
      urls: astro && site.urls,
      settings: recordedSettings(settings),
      environment: astro?.environment,
      rules: recordedRules(settings),
      classes: astro?.classes?.written,
      linked,
      snippets: recordedSnippets,
      previous: previousManifest && toSnapshot(previousManifest),
      files: [],
      unrelated: [],
      collections: [],
    };
    for (const entry of astro?.collected ?? []) this.#addEntry(entry);
  }

  get rules(): Manifest['rules'] {
    return this.#record.rules;
  }

  get linked(): Manifest['linked'] {
    return this.#record.linked;
  }

  /** Records a page, and adds the page as it was generated to the pack. */
  add(name: string, { inlinedPage, leftovers = [], stats }: WrittenPage): void {
    const { generated, bytes, embeds } = inlinedPage;
    const shows = embeds.map(({ request }) => this.#indexes.get(request.key) ?? 0);
    const { packOffset, packLength } = this.#pack.add(generated);
    const { size, mtimeMs } = stats;
    const modifiedAt = Math.floor(mtimeMs);
    const file: RecordedFile = { name, shows, hash: hashOf(bytes), packOffset, packLength, size, modifiedAt };

    // `#uses` and the first recorded snippets are in the same order, so an index fits both.
    const optional = shows.filter((index) => this.#uses[index]?.optionalPlaces?.has(name));
    if (optional.length > 0) file.optional = [...new Set(optional)];

    for (const { snippet, hash } of leftovers) {
      const index = this.#indexOf(snippet);
      shows.push(index);
      const isCurrent = hash === this.#record.snippets[index]?.content?.hash;
      if (!isCurrent) file.staleContentHashes = { ...file.staleContentHashes, [index]: hash ?? null };
    }
    this.#record.files.push(file);
  }

  /**
   * Completes the pack.
   *
   * @param warnings what is wrong with snippets where they stand on pages
   * @returns the manifest, not yet written.
   */
  finish(warnings: readonly SnippetWarning[]): Manifest {
    for (const [key, ofSnippet] of Map.groupBy(warnings, ({ request }) => request.key)) {
      const recorded = this.#record.snippets[this.#indexes.get(key) ?? -1];
      const flaws = toRecordedFlaws(undefined, ofSnippet) ?? [];
      if (recorded) recorded.flaws = [...(recorded.flaws ?? []), ...flaws];
    }
    const ids = this.#record.snippets.map(({ id }) => id);
    // Names that have arrived too late for the edit links are known by the next build.
    this.#record.names = this.#names.ofAll(ids);
    this.#record.editUrls = recordedEditUrls(this.#settings, ids);
    this.#record.pack = this.#pack.finish();
    return this.#record;
  }

  #addEntry({ collection, entry, request, snippet }: CollectedSnippet) {
    const content = toRecordedContent(snippet);
    const index = this.#indexOf({ ...request, content, flaws: toRecordedFlaws(snippet.flaws) });
    this.#record.collections.push({ collection, entry, snippet: index, content: content.hash });
  }

  /** The index of a recorded snippet. One that is not on record yet, as no embed shows it, is added. */
  #indexOf(snippet: RecordedSnippet) {
    const { snippets } = this.#record;
    const index = this.#indexes.get(snippet.key) ?? snippets.push(snippet) - 1;
    this.#indexes.set(snippet.key, index);
    // An entry of a collection shows a snippet as HTML, so `asText` is removed even if all embeds show text.
    if (!snippet.asText) delete snippets[index]?.asText;
    return index;
  }
}

function recordedSettings(settings: Settings): Manifest['settings'] {
  const { renderBaseUrl, retrieveBaseUrl, urlOptions, caOption, concurrency, timeout, patience } = settings;
  return { renderBaseUrl, retrieveBaseUrl, urlOptions, ca: caOption, concurrency, timeout, patience };
}

function recordedRules(settings: Settings): Manifest['rules'] {
  const { links, scripts, strict, policy, classes, images } = settings;
  const sanitizes = settings.sanitize !== undefined;
  const editLinks = settings.editLinks ? hashSource(panelScript()) : undefined;
  return { links, scripts, strict, policy, classes, sanitizes, editLinks, images };
}
