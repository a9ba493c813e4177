import type { SnippetRequest } from '../client/snippet-request.ts';
import type { Variant } from '../client/variants.ts';
import type { ImageUse } from '../content/images.ts';
import type { CollectionEntry } from '../failures/places.ts';
import type { SnippetFlaw, SnippetWarning } from '../failures/snippet-warning.ts';
import type { EnvironmentFiles } from '../settings/environment.ts';
import type { HtmlRules } from '../settings/options.ts';
import type { ImageSettings, Settings } from '../settings/settings.ts';
import type { SiteUrls } from '../settings/site-urls.ts';
import type { KeptAnswer } from '../snippets/answer-cache.ts';
import type { FetchedSnippet } from '../snippets/snippet-fetcher.ts';
import type { RecordedNames } from '../snippets/snippet-names.ts';
import { cleanLines } from '../text/clean-text.ts';
import { containsKnownKey } from '../text/known-keys.ts';
import { hashOf } from './hash-of.ts';

/**
 * The record of a built site: which snippets are in which files and collections. `check` compares its
 * contents with the service, and `refresh` updates the files that show old contents. Without a usable
 * manifest, neither works until the next build.
 *
 * Messages and guides call the manifest the record of a build.
 *
 * Times that are numbers are in milliseconds since the epoch; those that are strings are ISO 8601. Hashes are
 * of {@link hashOf}. Snippets are referred to by their indexes in `snippets`.
 */
export interface Manifest {
  /** When the site was built. */
  builtAt: string;
  /** When the site was last refreshed; absent if not since the build. */
  refreshedAt?: string | undefined;
  /**
   * The folder with the pages: Astro's `outDir`, or a folder inside. The file has this and the next one as relative
   * paths, so all can be moved.
   */
  output: string;
  /** The folders to which adapters copied the output. A refresh updates them as well. */
  outputCopies?: string[] | undefined;
  /** How Astro writes the site's URLs; absent if another generator wrote the pages. */
  urls?: SiteUrls | undefined;
  /** How the service was reached. Environment variables override its URLs, unless `urlOptions` names them. */
  settings: RecordedSettings;
  /** Where environment variables were read, relative to the project's folder; absent without Astro. */
  environment?: EnvironmentFiles | undefined;
  /** The rules that were applied to contents. A refresh applies them again. */
  rules: RecordedRules;
  /** The classes for which CSS was made (the option `classes`). Contents with other classes need a build. */
  classes?: readonly string[] | undefined;
  /** Where snippets are edited, by their ids, for `report`; absent without the option `editUrl`. */
  editUrls?: Readonly<Record<string, string>> | undefined;
  /** The names of snippets, by their ids, as far as they are known. */
  names?: RecordedNames | undefined;
  /** The edit links of pages, by the ids of snippets; absent if pages have none. */
  linked?: Readonly<Record<string, EditLink>> | undefined;
  /** The file with the pages as they were generated; absent if no page shows a snippet. */
  pack?: RecordedPack | undefined;
  /** Every snippet of the site. If the service has new content for one, the site is out of date. */
  snippets: RecordedSnippet[];
  /** What the site showed before the last build or refresh, for `report`. */
  previous?: Snapshot | undefined;
  /** The files that show snippets. */
  files: RecordedFile[];
  /** The other files that were in the output when snippets were inlined: not made from pages with snippets. */
  unrelated: UnrelatedFile[];
  /** The collection entries that are snippets. Their pages are not known, so a change needs a build. */
  collections: RecordedEntry[];
  /** The integrations that may have changed files after snippets were inlined. */
  laterIntegrations?: string[] | undefined;
  /** Whether the command of `--after` has yet to succeed: the next refresh runs it even without changes. */
  afterPending?: true | undefined;
}

/** The settings that commands such as `check` and `refresh` need to ask the service again. */
export interface RecordedSettings
  extends Pick<
    Settings,
    'renderBaseUrl' | 'retrieveBaseUrl' | 'urlOptions' | 'concurrency' | 'timeout' | 'patience'
  > {
  /** The option `ca`. The file of SNIPPETS_CA_FILE is not on record: it may be renewed. */
  ca?: Settings['caOption'];
}

/** The rules that a site applies to contents, as far as they can be recorded. */
export interface RecordedRules extends Omit<HtmlRules, 'sanitize'> {
  /** Whether the option `sanitize` is set: a function, which no record can have, so changes need a build. */
  sanitizes: boolean;
  /** The hash of the edit links' script for a Content Security Policy; absent if pages have no such links. */
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

/** The pack beside the manifest: the pages as generated, in one file. Without it, a change needs a build. */
export interface RecordedPack {
  /** Part of the pack's file name. A pack with another id belongs to another manifest. */
  id: string;
  /** The size in bytes. A pack of another size counts as cut off, and is not used. */
  length: number;
  /** The version of this package that read the pages. Others may find other embeds, so they reject it. */
  version: string;
}

/** A snippet that the site shows, and the params with which it was requested. */
export interface RecordedSnippet extends SnippetRequest {
  /** What the site shows; absent if embeds show their children instead. */
  content?: RecordedContent | undefined;
  /** Whether the snippet does not exist, so that its embeds, all optional, show their children. */
  missing?: true | undefined;
  /** Whether all embeds show the snippet as text, so that no rules for HTML apply. */
  asText?: true | undefined;
  /** Whether an embed shows the snippet as a whole URL. */
  asUrl?: true | undefined;
  /** Whether an embed is in a script with a template. */
  inTemplate?: true | undefined;
  /** What is wrong with the content, although pages show it; absent if nothing is known to be. */
  flaws?: readonly RecordedFlaw[] | undefined;
}

/** A flaw of a snippet that did not fail the build. */
export interface RecordedFlaw extends SnippetFlaw {
  /** The files where the snippet has the flaw; absent if the flaw is in the content, wherever that is shown. */
  files?: readonly string[] | undefined;
}

/** The content of a snippet, as it was fetched. */
export interface RecordedContent {
  /** The hash of what the service sent. The snippet has changed if the service sends another content. */
  hash: string;
  /**
   * The hash of what pages show: besides the content, the copies of its images and the name in edit links,
   * which may change by themselves. Absent if there are none.
   */
  pageHash?: string | undefined;
  /** What the service sent, to show differences; absent if the API key is in it, which no file may hold. */
  text: string | undefined;
  variant: Variant;
  fetchedAt: number;
  /** The size of the content in UTF-8. */
  bytes: number;
  /** How long the service took to answer, in milliseconds. */
  milliseconds: number;
  /** Hashes of scripts and styles for a Content Security Policy. In headers, new ones need a build. */
  sources: string[] | undefined;
  /** The images from the hosts in the site's settings, with their copies. */
  images: readonly ImageUse[] | undefined;
  /** The classes in the HTML, if the site makes CSS for them. */
  classes: readonly string[] | undefined;
}

/** What a site showed at some time. */
export interface Snapshot {
  /** When the site was built or last refreshed. */
  at: string;
  /** The snippets, each with the hash of its content; without a hash if children were shown. */
  snippets: (SnippetRequest & { hash?: string | undefined })[];
}

/** An entry of a collection, and the snippet that it is. */
export interface RecordedEntry extends CollectionEntry {
  /** The index of the snippet in `snippets`. */
  snippet: number;
  /** The hash of the snippet's content that this entry of a collection shows. */
  content: string;
}

/** A file of the output that shows snippets. */
export interface RecordedFile extends PackedPage {
  /** The path in the output, with slashes. */
  name: string;
  /** The file's hash at the end of the build. If it differs, another program changed the file: left alone. */
  hash: string;
  /**
   * The indexes in `snippets` of the embeds' snippets, in the order of the file; then of those without an
   * embed, left by an earlier run of `inline`.
   */
  shows: number[];
  /** The size and the time of the last change. If neither differs, the file is not read to compare hashes. */
  size: number;
  modifiedAt: number;
  /** The indexes of the snippets whose embeds in this file are all optional. */
  optional?: number[] | undefined;
  /** Hashes of old contents that the file still shows, by the indexes of snippets; `null` for children. */
  staleContentHashes?: Record<string, string | null> | undefined;
  /**
   * The hashes that the file and its copies may have besides `hash`, while a refresh or `inline` is in
   * progress or after it was killed. The last one is the hash with the contents on record.
   */
  expectedHashes?: string[] | undefined;
  /** The names of files with the same bytes, such as `200.html`, which a refresh writes as well. */
  copies?: string[] | undefined;
  /** Earlier hashes, latest first. A file that has one of them was rolled back, and needs a build. */
  previousHashes?: string[] | undefined;
  /** Whether the build changed the file after inlining, as a minifier does. Only a build can update it. */
  changedAfterInlining?: true | undefined;
  /** Whether the build removed the file after inlining. Its content may be anywhere, and need a build. */
  removedAfterInlining?: true | undefined;
}

/** A file that shows no snippet. If its size and time are others now, it may have been made from pages. */
export type UnrelatedFile = readonly [name: string, size: number, modifiedAt: number];

/** Where a page as it was generated is in the pack, in bytes. */
export interface PackedPage {
  /** The offset of the page's checksum, which the page follows. */
  packOffset: number;
  packLength: number;
}

/** Maps snippets by the keys of their requests (id and params). */
export const byKey = <Recorded extends SnippetRequest>(
  snippets: readonly Recorded[] = [],
): Map<string, Recorded> => new Map(snippets.map((snippet) => [snippet.key, snippet]));

/** Tells whether the last record has newer content than a cached answer, as after a refresh elsewhere. */
export function supersededBy(
  previousManifest: Manifest | undefined,
): (request: SnippetRequest, answer: KeptAnswer) => boolean {
  const snippets = byKey(previousManifest?.snippets);
  const askedAt = Date.parse(previousManifest?.refreshedAt ?? previousManifest?.builtAt ?? '');
  return ({ key }, { content, fetchedAt }) => {
    const { content: shown, missing } = snippets.get(key) ?? {};
    // The snippet did not exist when the service was last asked, so an older answer is out of date.
    if (missing) return fetchedAt < askedAt;
    return shown !== undefined && fetchedAt < shown.fetchedAt && hashOf(content) !== shown.hash;
  };
}

/** @param name the snippet's name in edit links, if pages have these */
export function toRecordedContent(snippet: FetchedSnippet, name?: string): RecordedContent {
  const { content, variant, milliseconds, fetchedAt = Date.now(), inlineCode, images, classes } = snippet;
  const copies = images?.map(({ copy }) => copy?.file);
  return {
    hash: hashOf(content),
    pageHash: copies?.some(Boolean) || name ? hashOf(JSON.stringify([content, copies, name])) : undefined,
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

/** The flaws to record of a snippet: those of its content, and those where it stands on pages. */
export function toRecordedFlaws(
  contentFlaws: readonly SnippetFlaw[] = [],
  onPages: readonly SnippetWarning[] = [],
): RecordedFlaw[] | undefined {
  const flaws = [
    ...contentFlaws.map(({ code, message, line }) => ({ code, message: cleanLines(message), line })),
    ...onPages.map(({ code, message, line, places }) => {
      return { code, message: cleanLines(message), line, files: places };
    }),
  ];
  return flaws.length > 0 ? flaws : undefined;
}

/** What the next manifest keeps of this one, as its `previous`. */
export function toSnapshot({ builtAt, refreshedAt, snippets }: Manifest): Snapshot {
  return {
    at: refreshedAt ?? builtAt,
    snippets: snippets.map(({ id, params, key, content }) => ({ id, params, key, hash: content?.hash })),
  };
}
