import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { containsKnownKey } from '../client/text.ts';
import { type CollectionEntry, entryName } from '../failures/errors.ts';
import { temporaryFile, writeAtomically } from '../files/files.ts';
import type { HtmlRules } from '../settings/options.ts';
import type { EnvironmentFiles, Settings } from '../settings/settings.ts';
import type { SiteUrls } from '../settings/site-urls.ts';
import type { FetchedSnippet, KeptAnswer } from '../snippets/fetch-snippets.ts';
import { hasErrorCode, missingNote, removeOtherPacks } from './record-files.ts';

// Changes with these types: no other version is read.
const manifestVersion = 15;

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

/** A {@link ManifestFile} as JSON: an array, as the names would be a third of the manifest, and of the time to read it. */
type FileTuple = readonly [
  name: string,
  hash: string,
  shows: number[],
  packOffset: number,
  packLength: number,
  size: number,
  modifiedAt: number,
  more: Partial<ManifestFile>,
];

function toFileTuple(file: ManifestFile): FileTuple {
  const { name, hash, shows, packOffset, packLength, size, modifiedAt, ...more } = file;
  return [name, hash, shows, packOffset, packLength, size, modifiedAt, more];
}

function fromFileTuple(tuple: FileTuple): ManifestFile {
  const [name, hash, shows, packOffset, packLength, size, modifiedAt, more] = tuple;
  return { name, hash, shows, packOffset, packLength, size, modifiedAt, ...more };
}

// 128 bits are enough. The other 128 would be a sixth of the manifest.
export const hashOf = (bytes: Buffer | string) => hash('sha256', bytes, 'base64url').slice(0, 22);

export const byKey = <Recorded extends SnippetRequest>(snippets: readonly Recorded[] = []) =>
  new Map(snippets.map((one) => [one.key, one]));

/** Whether the site has shown something newer than a cached content. */
export function supersededBy(before: Manifest | undefined) {
  const shown = byKey(before?.snippets);
  const askedAt = Date.parse(before?.refreshedAt ?? before?.builtAt ?? '');
  return ({ key }: SnippetRequest, { content, fetchedAt }: KeptAnswer) => {
    const { content: known, missing } = shown.get(key) ?? {};
    if (missing) return fetchedAt < askedAt;
    return known !== undefined && fetchedAt < known.fetchedAt && hashOf(content) !== known.hash;
  };
}

export function toRecordedContent(snippet: FetchedSnippet) {
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

export function toSnapshot({ builtAt, refreshedAt, snippets }: Manifest) {
  const hashes = snippets.map(({ id, params, key, content }) => ({ id, params, key, hash: content?.hash }));
  return { at: refreshedAt ?? builtAt, snippets: hashes };
}

const withFolders = (manifest: Manifest, to: (folder: string) => string) => ({
  ...manifest,
  output: to(manifest.output),
  outDir: to(manifest.outDir),
  copies: manifest.copies?.map(to),
});

/** Its `flaw` is the end of a sentence that begins with its name. */
export async function readManifest(file: string) {
  try {
    const { version: writtenAs, files, ...manifest } = JSON.parse(await readFile(file, 'utf8'));
    if (writtenAs === undefined) return { flaw: 'is damaged' };
    if (writtenAs !== manifestVersion) return { flaw: 'was written by another version of astro-snippets' };
    const fromHere = (path: string) => resolve(dirname(file), path);
    return { manifest: withFolders({ ...manifest, files: files.map(fromFileTuple) }, fromHere) };
  } catch (error) {
    return { flaw: hasErrorCode(error, 'ENOENT') ? 'is missing' : 'is damaged' };
  }
}

/** Removes earlier packs, and the note that there is no manifest. */
export function writeManifest(file: string, manifest: Manifest) {
  // A known name, as a killed process may have left it.
  const relocated = withFolders(manifest, (path) => relative(dirname(file), path));
  const written = { version: manifestVersion, ...relocated, files: manifest.files.map(toFileTuple) };
  writeAtomically(file, JSON.stringify(written), temporaryFile(file));
  rmSync(missingNote(file), { force: true });
  removeOtherPacks(file, manifest);
}

/** What the snippets of a manifest show; `undefined` for children. */
export type Contents = readonly (RecordedContent | undefined)[];

/** `undefined` where the file shows children. */
export function displayedHash({ snippets }: Manifest, { staleContentHashes }: ManifestFile, snippet: number) {
  const known = staleContentHashes?.[snippet];
  return known === undefined ? snippets[snippet]?.content?.hash : (known ?? undefined);
}

/** The snippets of a file with other contents now, each once. */
export const findStaleSnippets = (manifest: Manifest, file: ManifestFile, now: Contents) => [
  ...new Set(file.shows.filter((index) => displayedHash(manifest, file, index) !== now[index]?.hash)),
];

export type SnippetUsage = ReturnType<typeof findUsage>[number];

/** The snippets of a manifest, and where each is shown; with `now`, only what changes. */
export function findUsage(manifest: Manifest, now?: Contents) {
  const shown = manifest.snippets.map((recorded, index) => ({
    recorded,
    pages: [] as string[],
    collections: [] as CollectionEntry[],
    /** `undefined` if it no longer exists. */
    newHash: now?.[index]?.hash,
  }));
  for (const file of manifest.files) {
    const indexes = now ? findStaleSnippets(manifest, file, now) : new Set(file.shows);
    for (const index of indexes) shown[index]?.pages.push(file.name);
  }
  for (const { collection, entry, snippet, content } of manifest.collections) {
    if (!now || content !== now[snippet]?.hash) shown[snippet]?.collections.push({ collection, entry });
  }
  return now ? shown.filter(({ pages, collections }) => pages.length + collections.length > 0) : shown;
}

/** What is fetched. Without children: where the site shows them, it waits for the snippet. */
export function usesFromManifest(manifest: Manifest) {
  const uses = findUsage(manifest).map(({ recorded: request, pages, collections }) => {
    const places = [...pages, ...collections.map(entryName)];
    const optionalPlaces = new Set<string>();
    return { request, places, placesWithoutChildren: places, optionalPlaces, asHtml: !request.asText };
  });
  for (const { name, optional = [] } of manifest.files) {
    for (const index of optional) uses[index]?.optionalPlaces.add(name);
  }
  return uses;
}
