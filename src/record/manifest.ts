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
import { isCode, missingNote, removeOtherPacks } from './record-files.ts';

// Changes with these types: no other version is read.
const version = 14;

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
  before?: { at: string; snippets: (SnippetRequest & { hash?: string | undefined })[] } | undefined;
  files: ManifestFile[];
  /** Each with the hash of the content that it shows. */
  collections: (CollectionEntry & { snippet: number; content: string })[];
  /** The integrations that may have changed files later. */
  lateHooks?: string[] | undefined;
  /** Whether the command of `refresh --after` has yet to succeed. */
  pending?: true | undefined;
}

export interface RecordedSnippet extends SnippetRequest {
  /** `undefined` if embeds show their children instead. */
  content?: ManifestContent | undefined;
  /** Whether it does not exist: its embeds are optional. */
  missing?: true | undefined;
  /** Whether all embeds show its text: no rules for HTML apply. */
  asText?: true | undefined;
}

export type ManifestContent = ReturnType<typeof contentRecord>;

export interface ManifestFile {
  /** Its path in the output, with slashes. */
  name: string;
  hash: string;
  /** The snippets of its embeds, in their order, by their indexes. */
  shows: number[];
  /** Where the pack has it: the first byte, and how many. */
  at: number;
  length: number;
  /** When both stay, so does its hash. */
  size: number;
  time: number;
  /** The snippets whose embeds in this file are all optional. */
  optional?: number[] | undefined;
  /** The hashes of contents that it shows instead of the snippets'; `null` for children. */
  older?: Record<string, string | null> | undefined;
  /**
   * The hashes that it and its copies may have after a refresh or `inline` that was killed, or is in progress. The last shows
   * the contents on record.
   */
  next?: string[] | undefined;
  /** Files that hold the same, such as `200.html`. */
  copies?: string[] | undefined;
  /** The hashes of what it was before, latest first. */
  past?: string[] | undefined;
  /** Whether the build changed it after inlining, such as with a minifier. */
  isLate?: true | undefined;
}

/** As an array: the names would be a third of the manifest, and of the time to read it. */
const writtenFile = ({ name, hash, shows, at, length, size, time, ...more }: ManifestFile) =>
  [name, hash, shows, at, length, size, time, more] as const;

function fileOf([name, hash, shows, at, length, size, time, more]: ReturnType<typeof writtenFile>) {
  return { name, hash, shows, at, length, size, time, ...more };
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

export function contentRecord(snippet: FetchedSnippet) {
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

export function asBefore({ builtAt, refreshedAt, snippets }: Manifest) {
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
    if (writtenAs !== version) return { flaw: 'was written by another version of astro-snippets' };
    const fromHere = (path: string) => resolve(dirname(file), path);
    return { manifest: withFolders({ ...manifest, files: files.map(fileOf) }, fromHere) };
  } catch (error) {
    return { flaw: isCode(error, 'ENOENT') ? 'is missing' : 'is damaged' };
  }
}

/** Removes earlier packs, and the note that there is no manifest. */
export function writeManifest(file: string, manifest: Manifest) {
  // A known name, as a killed process may have left it.
  const relocated = withFolders(manifest, (path) => relative(dirname(file), path));
  const written = { version, ...relocated, files: manifest.files.map(writtenFile) };
  writeAtomically(file, JSON.stringify(written), temporaryFile(file));
  rmSync(missingNote(file), { force: true });
  removeOtherPacks(file, manifest);
}

/** What the snippets of a manifest show; `undefined` for children. */
export type Contents = readonly (ManifestContent | undefined)[];

/** `undefined` where the file shows children. */
export function hashShown({ snippets }: Manifest, { older }: ManifestFile, snippet: number) {
  const known = older?.[snippet];
  return known === undefined ? snippets[snippet]?.content?.hash : (known ?? undefined);
}

/** The snippets of a file with other contents now, each once. */
export const outdatedIn = (manifest: Manifest, file: ManifestFile, now: Contents) => [
  ...new Set(file.shows.filter((index) => hashShown(manifest, file, index) !== now[index]?.hash)),
];

export type ShownSnippet = ReturnType<typeof shownOn>[number];

/** The snippets of a manifest, and where each is shown; with `now`, only what changes. */
export function shownOn(manifest: Manifest, now?: Contents) {
  const shown = manifest.snippets.map((recorded, index) => ({
    recorded,
    pages: [] as string[],
    collections: [] as CollectionEntry[],
    /** `undefined` if it no longer exists. */
    newHash: now?.[index]?.hash,
  }));
  for (const file of manifest.files) {
    const indexes = now ? outdatedIn(manifest, file, now) : new Set(file.shows);
    for (const index of indexes) shown[index]?.pages.push(file.name);
  }
  for (const { collection, entry, snippet, content } of manifest.collections) {
    if (!now || content !== now[snippet]?.hash) shown[snippet]?.collections.push({ collection, entry });
  }
  return now ? shown.filter(({ pages, collections }) => pages.length + collections.length > 0) : shown;
}

/** What is fetched. Without children: where the site shows them, it waits for the snippet. */
export function usesOf(manifest: Manifest) {
  const uses = shownOn(manifest).map(({ recorded: request, pages, collections }) => {
    const places = [...pages, ...collections.map(entryName)];
    const optionalPlaces = new Set<string>();
    return { request, places, placesWithoutChildren: places, optionalPlaces, asHtml: !request.asText };
  });
  for (const { name, optional = [] } of manifest.files) {
    for (const index of optional) uses[index]?.optionalPlaces.add(name);
  }
  return uses;
}
