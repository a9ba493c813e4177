import { hash } from 'node:crypto';
import type { SnippetRequest } from '../client/snippet-request.ts';
import type { Variant } from '../client/variants.ts';
import type { ImageUse } from '../content/images.ts';
import type { CollectionEntry } from '../failures/places.ts';
import type { EnvironmentFiles } from '../settings/environment.ts';
import type { HtmlRules } from '../settings/options.ts';
import type { Settings } from '../settings/settings.ts';
import type { SiteUrls } from '../settings/site-urls.ts';
import type { KeptAnswer } from '../snippets/answer-cache.ts';
import type { FetchedSnippet } from '../snippets/snippet-fetcher.ts';
import { containsKnownKey } from '../text/known-keys.ts';

/** Which snippets are where. Times that are numbers are in milliseconds since the epoch. */
export interface Manifest {
  builtAt: string;
  /** When inlining began: what is older was not made from pages. */
  inlinedAt: number;
  refreshedAt?: string | undefined;
  /** In the file, this and the next two are relative to it: both can be moved together. */
  output: string;
  /** Astro's `outDir`, which a build empties. Pages may be in a folder in it. */
  outDir: string;
  copies?: string[] | undefined;
  urls?: SiteUrls | undefined;
  settings: Pick<
    Settings,
    'renderBaseUrl' | 'retrieveBaseUrl' | 'urlOptions' | 'ca' | 'concurrency' | 'timeout' | 'patience'
  >;
  /** Where variables were read, from the project's folder; absent without Astro. */
  environment?: EnvironmentFiles | undefined;
  rules: Omit<HtmlRules, 'sanitize'> & {
    /** Only a build can: a function cannot be recorded. */
    sanitizes: boolean;
    /** The hash of their script, if pages have it. */
    editLinks?: string | undefined;
    images?: Settings['images'];
  };
  /** Those for which CSS was made, with the option `classes`. */
  classes?: readonly string[] | undefined;
  /** By ids, with edit links: where a snippet is edited, and its name if variant A sent it. */
  linked?: Readonly<Record<string, { url?: string | undefined; name?: string | undefined }>> | undefined;
  /** The pages as they were generated; absent if none shows a snippet. */
  pack?: { id: string; length: number /** Of this package. */; version: string } | undefined;
  snippets: RecordedSnippet[];
  /** Before the last build or refresh. */
  previous?: { at: string; snippets: (SnippetRequest & { hash?: string | undefined })[] } | undefined;
  files: ManifestFile[];
  /** Each with the hash of the content that it shows. */
  collections: (CollectionEntry & { snippet: number; content: string })[];
  /** The integrations that may have changed files later. */
  laterIntegrations?: string[] | undefined;
  /** Whether the command of `refresh --after` has yet to succeed. */
  pending?: true | undefined;
}

export interface RecordedSnippet extends SnippetRequest {
  /** `undefined` if embeds show their children instead. */
  content?: RecordedContent | undefined;
  /** Whether it does not exist: its embeds are optional. */
  missing?: true | undefined;
  /** Whether all embeds show its text: no rules for HTML apply. */
  asText?: true | undefined;
}

export type RecordedContent = ReturnType<typeof toRecordedContent>;

export interface ManifestFile {
  /** Its path in the output, with slashes. */
  name: string;
  hash: string;
  /** The snippets of its embeds, in their order, by their indexes. */
  shows: number[];
  /** Where the pack has it: the first byte, and how many. */
  packOffset: number;
  packLength: number;
  /** When both stay, so does its hash. */
  size: number;
  modifiedAt: number;
  /** The snippets whose embeds in this file are all optional. */
  optional?: number[] | undefined;
  /** The hashes of contents that it shows instead of the snippets'; `null` for children. */
  staleContentHashes?: Record<string, string | null> | undefined;
  /**
   * The hashes that it and its copies may have after a refresh or `inline` that was killed, or is in progress. The last shows
   * the contents on record.
   */
  expectedHashes?: string[] | undefined;
  /** Files that hold the same, such as `200.html`. */
  copies?: string[] | undefined;
  /** The hashes of what it was before, latest first. */
  previousHashes?: string[] | undefined;
  /** Whether the build changed it after inlining, such as with a minifier. */
  changedAfterInlining?: true | undefined;
}

// 128 bits are enough. The other 128 would be a sixth of the manifest.
export const hashOf = (bytes: Buffer | string): string => hash('sha256', bytes, 'base64url').slice(0, 22);

export const byKey = <Recorded extends SnippetRequest>(
  snippets: readonly Recorded[] = [],
): Map<string, Recorded> => new Map(snippets.map((one) => [one.key, one]));

/** Whether the site has shown something newer than a cached content. */
export function supersededBy(before: Manifest | undefined) {
  const shown = byKey(before?.snippets);
  const askedAt = Date.parse(before?.refreshedAt ?? before?.builtAt ?? '');
  return ({ key }: SnippetRequest, { content, fetchedAt }: KeptAnswer): boolean => {
    const { content: known, missing } = shown.get(key) ?? {};
    if (missing) return fetchedAt < askedAt;
    return known !== undefined && fetchedAt < known.fetchedAt && hashOf(content) !== known.hash;
  };
}

export function toRecordedContent(snippet: FetchedSnippet): {
  /** Of what the service sent. */
  hash: string;
  /** For comparison. No file but `.env` may have the API key. */
  text: string | undefined;
  variant: Variant;
  fetchedAt: number;
  bytes: number;
  milliseconds: number;
  /** What a Content Security Policy has to allow, in its words. */
  sources: string[] | undefined;
  images: readonly ImageUse[] | undefined;
  classes: readonly string[] | undefined;
} {
  const { content, variant, milliseconds, fetchedAt = Date.now(), inlineCode, images, classes } = snippet;
  return {
    /** Of what the service sent. */
    hash: hashOf(content),
    /** For comparison. No file but `.env` may have the API key. */
    text: containsKnownKey(content) ? undefined : content,
    variant,
    fetchedAt,
    bytes: Buffer.byteLength(content),
    milliseconds,
    /** What a Content Security Policy has to allow, in its words. */
    sources: inlineCode && [...inlineCode.scripts, ...inlineCode.styles],
    images,
    classes,
  };
}

export function toSnapshot({ builtAt, refreshedAt, snippets }: Manifest): {
  at: string;
  snippets: {
    id: number;
    params: string | undefined;
    key: string;
    hash: string | undefined;
  }[];
} {
  const hashes = snippets.map(({ id, params, key, content }) => ({ id, params, key, hash: content?.hash }));
  return { at: refreshedAt ?? builtAt, snippets: hashes };
}
