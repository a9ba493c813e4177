import { hash } from 'node:crypto';
import type { SnippetRequest } from '../client/snippet-request.ts';
import type { Variant } from '../client/variants.ts';
import type { ImageUse } from '../content/images.ts';
import type { CollectionEntry } from '../failures/places.ts';
import type { EnvironmentFiles } from '../settings/environment.ts';
import type { HtmlRules } from '../settings/options.ts';
import type { ImageSettings, Settings } from '../settings/settings.ts';
import type { SiteUrls } from '../settings/site-urls.ts';
import type { KeptAnswer } from '../snippets/answer-cache.ts';
import type { FetchedSnippet } from '../snippets/snippet-fetcher.ts';
import { containsKnownKey } from '../text/known-keys.ts';

/**
 * The record of a built site: which snippets are in which files and collections. `check` compares its
 * contents with the service, and `refresh` updates the files that show other contents. Without a usable
 * manifest, only a build helps.
 *
 * Texts for people call this the record of a build.
 *
 * Times that are numbers are in milliseconds since the epoch; those that are strings are ISO 8601. Hashes are
 * of {@link hashOf}. Snippets are referred to by their indexes in `snippets`.
 */
export interface Manifest {
  /** When the site was built. */
  builtAt: string;
  /** When inlining began. An older file of the output was not made from its pages. */
  inlinedAt: number;
  /** When the site was last refreshed; absent since the build. */
  refreshedAt?: string | undefined;
  /** The folder with the pages. In the file, this and the next two are relative: both can be moved. */
  output: string;
  /** The folder that a build empties, Astro's `outDir`. An adapter may have the pages in a folder inside. */
  outDir: string;
  /** Folders that adapters copied the output to. A refresh updates them as well. */
  outputCopies?: string[] | undefined;
  /** How Astro writes the site's URLs; absent if another generator wrote the pages. */
  urls?: SiteUrls | undefined;
  /** How the service was reached. The environment replaces a URL, unless `urlOptions` names it. */
  settings: RecordedSettings;
  /** Where variables were read, from the project's folder; absent without Astro. */
  environment?: EnvironmentFiles | undefined;
  /** What was done to contents. A refresh does the same. */
  rules: RecordedRules;
  /** The classes for which CSS was made (the option `classes`). Contents with other classes need a build. */
  classes?: readonly string[] | undefined;
  /** The edit links of pages, by the ids of snippets; absent if pages have none. */
  linked?: Readonly<Record<string, EditLink>> | undefined;
  /** The pages as they were generated; absent if none shows a snippet. */
  pack?: RecordedPack | undefined;
  /** Every snippet of the site. New content means that the site has changed. */
  snippets: RecordedSnippet[];
  /** What the site showed before the last build or refresh, for `report`. */
  previous?: Snapshot | undefined;
  /** The files that show snippets. Other files of the output are in no record. */
  files: RecordedFile[];
  /** The entries of collections that are snippets. A change needs a build: their pages are not known. */
  collections: RecordedEntry[];
  /** The integrations that may have changed files after snippets were inlined. */
  laterIntegrations?: string[] | undefined;
  /** Whether the command of `refresh --after` has yet to succeed, even if the next refresh has no changes. */
  afterPending?: true | undefined;
}

/** The settings with which a command asks the service again. */
export type RecordedSettings = Pick<
  Settings,
  'renderBaseUrl' | 'retrieveBaseUrl' | 'urlOptions' | 'ca' | 'concurrency' | 'timeout' | 'patience'
>;

/** The rules for contents that a site has. */
export interface RecordedRules extends Omit<HtmlRules, 'sanitize'> {
  /** Whether the site sanitizes contents. Only a build can: a function cannot be recorded. */
  sanitizes: boolean;
  /** The hash of the script for edit links, as a policy names it; absent if pages have none. */
  editLinks?: string | undefined;
  /** The hosts whose images the site serves itself; absent if there are none. */
  images?: ImageSettings | undefined;
}

/** What an edit link of a page says about its snippet. */
export interface EditLink {
  url?: string | undefined;
  /** The snippet's name, which only variant A sends. */
  name?: string | undefined;
}

/** A pack beside the manifest. If that is missing or does not fit, a refresh needs a build. */
export interface RecordedPack {
  /** Part of the name of the pack's file. Another id is the pack of another record. */
  id: string;
  /** The size in bytes. A pack of another size was cut off. */
  length: number;
  /** The version of this package that read the pages. Another one may find other embeds in them. */
  version: string;
}

/** A snippet that the site shows, with the params that it was asked for with. */
export interface RecordedSnippet extends SnippetRequest {
  /** What the site shows; absent if embeds show their children instead. */
  content?: RecordedContent | undefined;
  /** Whether the snippet does not exist. All its embeds are optional then, and show their children. */
  missing?: true | undefined;
  /** Whether all embeds show the snippet's text, to which no rules for HTML apply. */
  asText?: true | undefined;
}

/** The content of a snippet, as it was fetched. */
export interface RecordedContent {
  /** The hash of what the service sent. Another hash is a change. */
  hash: string;
  /** What the service sent, to show differences; absent if the API key is in it, which no file may hold. */
  text: string | undefined;
  variant: Variant;
  fetchedAt: number;
  /** The size in UTF-8. */
  bytes: number;
  /** How long the service took. */
  milliseconds: number;
  /** The hashes of scripts and styles in a Content Security Policy. In headers, new ones need a build. */
  sources: string[] | undefined;
  /** The images of the hosts that the site names, with the site's copies. */
  images: readonly ImageUse[] | undefined;
  /** The classes in the HTML, if the site makes CSS for them. */
  classes: readonly string[] | undefined;
}

/** What a site showed at some time. */
export interface Snapshot {
  /** When the site was built or last refreshed. */
  at: string;
  /** The snippets, each with the hash of its content; absent if children were shown. */
  snippets: (SnippetRequest & { hash?: string | undefined })[];
}

/** An entry of a collection, and the snippet that it is. */
export interface RecordedEntry extends CollectionEntry {
  /** The index of the snippet. */
  snippet: number;
  /** The hash of the content that the entry shows. */
  content: string;
}

/** A file of the output that shows snippets. */
export interface RecordedFile extends PackedPage {
  /** The path in the output, with slashes. */
  name: string;
  /** The hash after the last integration. A file with another one is not ours: a refresh leaves it alone. */
  hash: string;
  /**
   * The snippets of the embeds, in the order of the file; then those that `inline` found in the file without an
   * embed, left by an earlier run. Indexes of `snippets`.
   */
  shows: number[];
  /** The size and the time of the last change. While both stay, the file is not read to compare its hash. */
  size: number;
  modifiedAt: number;
  /** The snippets whose embeds in this file are all optional. */
  optional?: number[] | undefined;
  /** Hashes of other contents that the file still shows, by the indexes of snippets; `null` for children. */
  staleContentHashes?: Record<string, string | null> | undefined;
  /**
   * The hashes that the file and its copies may have besides `hash`, while a refresh or `inline` is in
   * progress or after it was killed. The last one is of a file that shows the contents on record.
   */
  expectedHashes?: string[] | undefined;
  /** The names of files that hold the same, such as `200.html`. */
  copies?: string[] | undefined;
  /** The hashes of earlier states, latest first. A file that has one was rolled back, and needs a build. */
  previousHashes?: string[] | undefined;
  /** Whether the build changed the file after inlining, as a minifier does. Only a build can update it. */
  changedAfterInlining?: true | undefined;
}

/** The part of a pack that is a page as it was generated, in bytes. */
export interface PackedPage {
  packOffset: number;
  packLength: number;
}

/** The hash of content or of a file. 128 bits suffice; whole hashes would enlarge the manifest by a sixth. */
export const hashOf = (bytes: Buffer | string): string => hash('sha256', bytes, 'base64url').slice(0, 22);

/** Snippets by the keys of their requests. */
export const byKey = <Recorded extends SnippetRequest>(
  snippets: readonly Recorded[] = [],
): Map<string, Recorded> => new Map(snippets.map((snippet) => [snippet.key, snippet]));

/** Tells whether the site has shown newer content than a kept answer, as after a refresh elsewhere. */
export function supersededBy(
  previousManifest: Manifest | undefined,
): (request: SnippetRequest, answer: KeptAnswer) => boolean {
  const snippets = byKey(previousManifest?.snippets);
  const askedAt = Date.parse(previousManifest?.refreshedAt ?? previousManifest?.builtAt ?? '');
  return ({ key }, { content, fetchedAt }) => {
    const { content: shown, missing } = snippets.get(key) ?? {};
    // The snippet did not exist when the service was last asked.
    if (missing) return fetchedAt < askedAt;
    return shown !== undefined && fetchedAt < shown.fetchedAt && hashOf(content) !== shown.hash;
  };
}

export function toRecordedContent(snippet: FetchedSnippet): RecordedContent {
  const { content, variant, milliseconds, fetchedAt = Date.now(), inlineCode, images, classes } = snippet;
  return {
    hash: hashOf(content),
    text: containsKnownKey(content) ? undefined : content,
    variant,
    fetchedAt,
    bytes: Buffer.byteLength(content),
    milliseconds,
    sources: inlineCode && [...inlineCode.scripts, ...inlineCode.styles],
    images,
    classes,
  };
}

/** What the next manifest keeps of a manifest. */
export function toSnapshot({ builtAt, refreshedAt, snippets }: Manifest): Snapshot {
  return {
    at: refreshedAt ?? builtAt,
    snippets: snippets.map(({ id, params, key, content }) => ({ id, params, key, hash: content?.hash })),
  };
}
