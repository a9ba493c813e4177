import type { SnippetRequest } from '../client/snippet-request.ts';
import type { CollectionEntry } from '../failures/report.ts';
import {
  asBefore,
  contentRecord,
  hashOf,
  type Manifest,
  type ManifestFile,
  outputFrom,
  type RecordedEnvironment,
} from '../record/manifest.ts';
import type { PackWriter } from '../record/pack.ts';
import type { Settings } from '../settings/settings.ts';
import type { FetchedSnippet, FetchedSnippets } from '../snippets/fetch-snippets.ts';
import type { FileEmbed, SnippetUse } from '../snippets/file-embeds.ts';
import { scriptSource } from './edit-links/page-script.ts';

/** An entry of a collection, and the snippet that it shows. */
export interface CollectedEntry extends CollectionEntry {
  request: SnippetRequest;
  snippet: FetchedSnippet;
}

/** A snippet of an earlier run that a file still shows, without an embed: a later step has changed the file. */
export interface LeftSnippet {
  request: SnippetRequest;
  /** As that run recorded it. */
  snippet: Manifest['snippets'][number];
  /** The hash of the content that the file shows; `undefined` for children. */
  hash: string | undefined;
}

export interface Recorded {
  /** What files show. */
  uses?: readonly SnippetUse[];
  snippets?: FetchedSnippets;
  /** The keys of optional snippets that do not exist. */
  missing?: ReadonlySet<string>;
  collected: readonly CollectedEntry[];
  /** Keeps the pages as they were generated. */
  pack: PackWriter;
  /** Where each snippet is edited, by its id, if pages have edit links. */
  editUrls?: ReadonlyMap<number, string> | undefined;
  /** Tells texts with the API key. */
  containsKey: (text: string) => boolean;
}

/** Collects what a site shows, file by file, for the manifest. */
export class FileRecorder {
  readonly #snippets: Manifest['snippets'] = [];
  readonly #indexes = new Map<string, number>();
  readonly #collections: Manifest['collections'];
  readonly #files: ManifestFile[] = [];
  readonly #pack: PackWriter;
  readonly #editUrls: Manifest['editUrls'];

  constructor({
    uses = [],
    snippets = new Map(),
    missing = new Set(),
    collected,
    pack,
    editUrls,
    containsKey,
  }: Recorded) {
    this.#pack = pack;
    this.#editUrls = editUrls && Object.fromEntries(editUrls);
    for (const { request, asHtml } of uses) {
      const snippet = snippets.get(request.key);
      this.#addSnippet(request, {
        content: snippet && contentRecord(snippet, containsKey),
        ...(missing.has(request.key) && { missing: true }),
        ...(!asHtml && { asText: true }),
      });
    }
    this.#collections = collected.map(({ collection, entry, request, snippet }) => {
      const content = contentRecord(snippet, containsKey);
      return { collection, entry, snippet: this.#addSnippet(request, { content }), content: content.hash };
    });
  }

  /** @param page a page as it was generated, and as it is now or is going to be. */
  add(
    name: string,
    {
      generated,
      file,
      embeds,
      left = [],
    }: {
      generated: Buffer;
      file: Buffer;
      embeds: readonly FileEmbed[];
      left?: readonly LeftSnippet[] | undefined;
    },
  ): void {
    const shows = embeds.map(({ request }) => this.#indexes.get(request.key) ?? 0);
    const older: Record<string, string | null> = {};
    for (const { request, snippet, hash } of left) {
      const index = this.#addSnippet(request, snippet);
      shows.push(index);
      if (hash !== this.#snippets[index]?.content?.hash) older[index] = hash ?? null;
    }
    const recorded: ManifestFile = {
      name,
      hash: hashOf(file),
      shows,
      ...this.#pack.add(generated),
      size: 0,
      time: 0,
      ...(Object.keys(older).length > 0 && { older }),
    };
    if (embeds.some(({ isOptional }) => isOptional)) {
      const required = new Set(shows.filter((_, index) => !embeds[index]?.isOptional));
      const optional = [...new Set(shows)].filter((index) => !required.has(index));
      if (optional.length > 0) recorded.optional = optional;
    }
    this.#files.push(recorded);
  }

  /** The index of a snippet, which is added if it is new. */
  #addSnippet(
    { id, params, key }: SnippetRequest,
    shown: Omit<Manifest['snippets'][number], 'id' | 'params'>,
  ): number {
    const known = this.#indexes.get(key);
    if (known !== undefined) {
      // An entry of a collection is HTML.
      if (!shown.asText) delete this.#snippets[known]?.asText;
      return known;
    }
    const index = this.#snippets.push({ ...shown, id, params }) - 1;
    this.#indexes.set(key, index);
    return index;
  }

  /** Called once, when all files are added. */
  finish(): ShownSite {
    return {
      snippets: this.#snippets,
      files: this.#files,
      collections: this.#collections,
      editUrls: this.#editUrls,
      pack: this.#pack.finish(),
    };
  }
}

/** What a manifest says of what a site shows. */
export type ShownSite = Pick<Manifest, 'snippets' | 'files' | 'collections' | 'editUrls' | 'pack'>;

export interface RecordedSite {
  /** The file of the manifest. */
  manifest: string;
  /** The output folder. */
  directory: string;
  /** The folder that a build empties: the same, or one that contains it. */
  outDir: string;
  /** The manifest of the last build. */
  before: Manifest | undefined;
  /** How Astro writes the URLs of the site; `undefined` where another generator has written the files. */
  urls?: Manifest['urls'];
  /** The classes for which CSS was made, if the site makes CSS for those of snippets. */
  classes?: readonly string[] | undefined;
  settings: Settings;
  environment: RecordedEnvironment;
  /** When snippets began to be inlined, in milliseconds since the epoch. */
  inlinedAt: number;
}

/** The manifest of a site whose snippets are inlined. */
export function siteManifest(
  { manifest, directory, outDir, before, urls, classes, settings, environment, inlinedAt }: RecordedSite,
  shown: ShownSite,
): Manifest {
  const { renderBaseUrl, retrieveBaseUrl, urlOptions, ca, concurrency, timeout, patience } = settings;
  const output = outputFrom(manifest, directory);
  const emptied = outputFrom(manifest, outDir);
  return {
    builtAt: new Date().toISOString(),
    inlinedAt,
    output,
    outDir: emptied === output ? undefined : emptied,
    urls: urls && recordedUrls(urls),
    settings: {
      renderBaseUrl,
      retrieveBaseUrl,
      urlOptions: urlOptions.length === 0 ? undefined : [...urlOptions],
      environment,
      ca,
      concurrency,
      timeout: `${timeout}ms`,
      patience: `${patience}ms`,
    },
    rules: recordedRules(settings),
    classes: classes && [...classes],
    before: before && asBefore(before),
    ...shown,
  };
}

/** The rules for HTML as a manifest has them. */
export function recordedRules({
  html,
  images,
  editLinks,
}: Pick<Settings, 'html' | 'images' | 'editLinks'>): Manifest['rules'] {
  const { sanitize, scripts, strict, policy, links } = html;
  return {
    sanitizes: sanitize !== undefined,
    scripts,
    strict,
    policy,
    // Absent rather than `undefined`, as in a manifest that was read.
    ...(links && { links }),
    ...(editLinks && { editLinks: scriptSource() }),
    ...(images && { images: { hosts: [...images.hosts], assets: images.assets } }),
  };
}

/** Without what decides only how files are named, which is known from their names. */
function recordedUrls({ site, base, trailingSlash }: NonNullable<Manifest['urls']>): Manifest['urls'] {
  return { site, base, trailingSlash };
}
