import { createHash, hash } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { z } from 'zod';
import { type SnippetRequest, toRequest } from '../client/snippet-request.ts';
import type { ImageUse } from '../html/images.ts';
import { piecesOf } from '../read-file.ts';
import { type CollectionEntry, entryName } from '../snippets/collection-entry.ts';
import type { FetchedSnippet } from '../snippets/fetch-snippets.ts';
import { writeAtomically } from '../write-atomically.ts';

const index = z.int().min(0);

/** Where variables were read, besides `process.env`. If it is absent, in the folder of the project for `production`. */
const environmentSchema = z.object({
  mode: z.string(),
  /** The folder of the `.env` files from that of the project, if it is another; `false` if there were none. */
  directory: z.union([z.string(), z.literal(false)]).optional(),
});

/** A file of the output that shows snippets: a page, a feed, JSON or other text. */
export interface ManifestFile {
  /** Its path in the output folder, with slashes. */
  name: string;
  /** The hash of the whole file. */
  hash: string;
  /** The snippets of its embeds, in the order of the file, by their indexes in the manifest. */
  shows: readonly number[];
  /** Where the pack has the file as it was generated: its first byte there, and how many there are. */
  at: number;
  length: number;
  /** Its size and when it was written, in bytes and milliseconds since the epoch: where both stay, so does its hash. */
  size: number;
  time: number;
  /** The snippets whose embeds in this file are all optional. */
  optional?: readonly number[] | undefined;
  /** The hashes of contents that it shows, where these are not those of the snippets; `null` for children. */
  older?: Readonly<Record<string, string | null>> | undefined;
  /**
   * The hashes of what a refresh or `inline` that is in progress, or was killed, makes of it and of its copies; the last
   * one shows what the snippets say. The file, and each copy, is in one of these states or the recorded one.
   */
  next?: readonly string[] | undefined;
  /** Files of the output that hold the same, such as `200.html`; by their names. */
  copies?: readonly string[] | undefined;
  /** The hashes of what it was before, latest first. */
  past?: readonly string[] | undefined;
}

const moreSchema = z.object({
  optional: z.array(index).readonly().optional(),
  older: z.record(z.string(), z.string().nullable()).optional(),
  next: z.array(z.string()).readonly().optional(),
  copies: z.array(z.string()).readonly().optional(),
  past: z.array(z.string()).readonly().optional(),
});

// An array, since the names of its fields would be a fifth of the manifest.
type WrittenFile = [
  name: string,
  hash: string,
  shows: readonly number[],
  numbers: readonly [at: number, length: number, size: number, time: number],
  more?: z.infer<typeof moreSchema>,
];

// Files are checked without zod, which takes several times as long for so many.
const filesSchema = z
  .custom<WrittenFile[]>((value) => Array.isArray(value) && value.every(isWrittenFile))
  .transform((files) =>
    files.map(([name, hash, shows, [at, length, size, time], more]): ManifestFile => {
      return { name, hash, shows, at, length, size, time, ...more };
    }),
  );

function isWrittenFile(file: unknown): file is WrittenFile {
  if (!Array.isArray(file)) return false;
  const [name, hash, shows, numbers, more] = file;
  if (typeof name !== 'string' || typeof hash !== 'string') return false;
  if (![shows, numbers].every((list) => Array.isArray(list) && list.every(isIndex))) return false;
  return numbers.length === 4 && (more === undefined || moreSchema.safeParse(more).success);
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** A file as the schema reads it. */
function writtenFile({ name, hash, shows, at, length, size, time, ...more }: ManifestFile): WrittenFile {
  const written: WrittenFile = [name, hash, shows, [at, length, size, time]];
  if (Object.values(more).some((value) => value !== undefined)) written.push(more);
  return written;
}

const imageSchema: z.ZodType<ImageUse> = z.object({
  url: z.string(),
  /** Its name in the folder of assets; absent if it could not be downloaded. */
  file: z.string().optional(),
  width: z.int().optional(),
  height: z.int().optional(),
});

const contentSchema = z.object({
  /** The hash of what the service sent. */
  hash: z.string(),
  /** What it sent, to compare it with what it sends later; absent if that has the API key in it. */
  text: z.string().optional(),
  variant: z.enum(['render', 'retrieve']),
  /** When the service sent it, in milliseconds since the epoch. */
  fetchedAt: z.number(),
  /** Its size as UTF-8. */
  bytes: z.int(),
  /** How long the service took. */
  milliseconds: z.number(),
  /** What a Content Security Policy has to allow for it. */
  sources: z.array(z.string()).optional(),
  /** Its classes, if the site makes CSS for them. */
  classes: z.array(z.string()).optional(),
  /** Its images of the hosts that the site names. */
  images: z.array(imageSchema).optional(),
});

const requestSchema = z.object({ id: z.int(), params: z.string().optional() });

const version = 10;
const packSchema = z.object({
  id: z.string(),
  /** In bytes. */
  length: index,
  /** The version of this package that has read these pages. Another one may find other embeds in them. */
  version: z.string(),
});

const versionSchema = z.object({ version: z.int() });

const manifestSchema = z.object({
  builtAt: z.iso.datetime(),
  /** When the build began to inline snippets, in milliseconds since the epoch: what is older was not made from pages. */
  inlinedAt: z.number(),
  /** When a refresh last changed the site since the build. */
  refreshedAt: z.iso.datetime().optional(),
  /** The output folder, relative to the manifest's own folder. */
  output: z.string(),
  /** Astro's `outDir`, where an adapter has its pages in a folder of that; relative to the manifest's own folder. */
  outDir: z.string().optional(),
  /** Copies of it that adapters made, relative to the manifest's own folder. */
  copies: z.array(z.string()).optional(),
  /** How Astro writes the URLs of the site; absent where another generator has written the files. */
  urls: z
    .object({
      site: z.string().optional(),
      base: z.string(),
      trailingSlash: z.enum(['always', 'never', 'ignore']),
    })
    .optional(),
  /** How the service was reached. The key is not included. */
  settings: z.object({
    renderBaseUrl: z.string().optional(),
    retrieveBaseUrl: z.string().optional(),
    /** The URLs that were options, and win over the environment; absent if none was. */
    urlOptions: z.array(z.enum(['renderBaseUrl', 'retrieveBaseUrl'])).optional(),
    environment: environmentSchema.optional(),
    ca: z.union([z.string(), z.array(z.string())]).optional(),
    concurrency: z.int(),
    /** As the option is written. */
    timeout: z.string().optional(),
  }),
  /** The rules for HTML. A function cannot be recorded, so only a build can sanitize. */
  rules: z.object({
    sanitizes: z.boolean(),
    scripts: z.enum(['allow', 'strip', 'error']),
    strict: z.boolean(),
    policy: z.enum(['none', 'warn', 'hash']),
    /** The source of the script for edit links, as a policy names it, if pages have it. */
    editLinks: z.string().optional(),
    links: z.object({ base: z.string(), trailingSlash: z.enum(['always', 'never', 'ignore']) }).optional(),
    images: z
      .object({
        hosts: z.array(z.string()),
        assets: z.object({
          folder: z.string(),
          prefix: z.union([z.string(), z.record(z.string(), z.string())]),
        }),
      })
      .optional(),
  }),
  /** The classes for which CSS was made, if the site makes CSS for those of snippets. */
  classes: z.array(z.string()).optional(),
  /** Where each snippet is edited, by its id, if pages have edit links. */
  editUrls: z.record(z.string(), z.string()).optional(),
  /** The file beside this one that has the pages as they were generated; absent if no file shows a snippet. */
  pack: packSchema.optional(),
  /** What the site shows; without content where the snippet could not be fetched. */
  snippets: z.array(
    requestSchema.extend({
      content: contentSchema.optional(),
      /** Whether the snippet does not exist, so that its embeds, which are optional, show their children. */
      missing: z.literal(true).optional(),
      /** Whether all of its embeds show its text, to which no rules for HTML apply. */
      asText: z.literal(true).optional(),
    }),
  ),
  /** What it showed before the last build or refresh. */
  before: z
    .object({
      at: z.iso.datetime(),
      snippets: z.array(requestSchema.extend({ hash: z.string().optional() })),
    })
    .optional(),
  files: filesSchema,
  /** The entries of collections that show snippets, each with the hash of the content that it shows. */
  collections: z.array(
    z.object({ collection: z.string(), entry: z.string(), snippet: index, content: z.string() }),
  ),
  /** Whether the command of `refresh --after` has yet to succeed: from before pages are written until it has. */
  pending: z.literal(true).optional(),
});

const schema = manifestSchema.refine(({ snippets, files, collections }) => {
  const isSnippet = (snippet: number) => snippet < snippets.length;
  return (
    files.every(({ shows }) => shows.every(isSnippet)) &&
    collections.every(({ snippet }) => isSnippet(snippet))
  );
});

/** The record of the last build: which snippets are in which files and collections. */
export type Manifest = z.infer<typeof manifestSchema>;
export type RecordedEnvironment = z.infer<typeof environmentSchema>;
export type RecordedPack = z.infer<typeof packSchema>;
type RecordedRequest = z.infer<typeof requestSchema>;
export type ManifestContent = z.infer<typeof contentSchema>;

// 128 bits tell contents and files apart. The other 128 would be a sixth of the manifest.
const hashLength = 22;

export function hashOf(bytes: Buffer | string): string {
  return hash('sha256', bytes, 'base64url').slice(0, hashLength);
}

/** The hash of a file of any size, even of one that does not fit into memory. */
export function hashOfFile(file: string): string {
  const pieces = createHash('sha256');
  for (const piece of piecesOf(file, 0)) pieces.update(piece);
  return pieces.digest('base64url').slice(0, hashLength);
}

/** The requests of the recorded snippets, in their order. */
export function requestsOf({ snippets }: { snippets: readonly RecordedRequest[] }): SnippetRequest[] {
  return snippets.map(({ id, params }) => toRequest(id, params));
}

/**
 * What is recorded of a content.
 *
 * @param containsKey tells contents that are not kept, as no file but `.env` may have the API key.
 */
export function contentRecord(
  snippet: FetchedSnippet,
  containsKey: (text: string) => boolean,
): ManifestContent {
  const { content, variant, milliseconds, fetchedAt = Date.now(), inlineCode, images, classes } = snippet;
  const bytes = Buffer.byteLength(content);
  return {
    hash: hashOf(content),
    text: containsKey(content) ? undefined : content,
    variant,
    fetchedAt,
    bytes,
    milliseconds,
    sources: sourceNames(inlineCode),
    images: images?.length ? [...images] : undefined,
    classes: classes?.length ? [...classes] : undefined,
  };
}

/** The names of all images that snippets show, each once. */
export function imageFiles(
  contents: Iterable<{ images?: readonly ImageUse[] | undefined } | undefined>,
): Set<string> {
  const images = [...contents].flatMap((content) => content?.images ?? []);
  return new Set(images.flatMap(({ file }) => file ?? []));
}

/** What is recorded of the sources that a policy has to allow. */
export function sourceNames(code: FetchedSnippet['inlineCode']): string[] | undefined {
  return code && [...code.scripts, ...code.styles];
}

/** What a manifest passes on to the next one. */
export function asBefore({ builtAt, refreshedAt, snippets }: Manifest): Manifest['before'] {
  return {
    at: refreshedAt ?? builtAt,
    snippets: snippets.map(({ id, params, content }) => ({ id, params, hash: content?.hash })),
  };
}

/** Where a snippet is shown. */
export interface Shown {
  /** The names of files of the output, each once. */
  pages: string[];
  collections: CollectionEntry[];
}

/** Where a snippet is shown that the site does not show. */
export const nowhere: Readonly<Shown> = { pages: [], collections: [] };

/** The hash of the content of a snippet that a file shows; `undefined` where it shows children. */
export function hashShown(
  { snippets }: Pick<Manifest, 'snippets'>,
  { older = {} }: ManifestFile,
  snippet: number,
): string | undefined {
  const hash = snippet in older ? older[snippet] : snippets[snippet]?.content?.hash;
  return hash ?? undefined;
}

/**
 * Finds the snippets of which a file shows another content than it would now.
 *
 * @param now the hashes of the contents, in the order of the snippets; `undefined` where children are shown.
 * @returns a function that returns their indexes, each once.
 */
export function outdatedFinder(
  manifest: Pick<Manifest, 'snippets'>,
  now: readonly (string | undefined)[],
): (file: ManifestFile) => number[] {
  const isChanged = manifest.snippets.map(({ content }, index) => content?.hash !== now[index]);
  return (file) => {
    if (file.older === undefined && !file.shows.some((index) => isChanged[index])) return [];
    return [...new Set(file.shows)].filter((index) => hashShown(manifest, file, index) !== now[index]);
  };
}

/**
 * Where each snippet is shown, in the order of the snippets.
 *
 * @param now leaves out places that show these contents; see {@link outdatedFinder}.
 */
export function shownOn(manifest: Manifest, now?: readonly (string | undefined)[]): Shown[] {
  const shown = manifest.snippets.map((): Shown => ({ pages: [], collections: [] }));
  const snippetsOf = now === undefined ? ({ shows }: ManifestFile) => shows : outdatedFinder(manifest, now);
  for (const file of manifest.files) {
    for (const index of snippetsOf(file)) {
      const pages = shown[index]?.pages;
      // A file may show a snippet twice.
      if (pages !== undefined && pages.at(-1) !== file.name) pages.push(file.name);
    }
  }
  for (const { collection, entry, snippet, content } of manifest.collections) {
    if (now === undefined || content !== now[snippet])
      shown[snippet]?.collections.push({ collection, entry });
  }
  return shown;
}

/** The names of all places of a snippet, for people. */
export function namesOf({ pages, collections }: Shown): string[] {
  return [...pages, ...collections.map(entryName)];
}

/** The output folder of a manifest. */
export function outputOf(file: string, { output }: Manifest): string {
  return resolve(dirname(file), output);
}

/** The folder that a build empties: the output, or one that contains it. */
export function outDirOf(file: string, { output, outDir = output }: Manifest): string {
  return resolve(dirname(file), outDir);
}

/** How a manifest records an output folder: relative, so that both can be moved together. */
export function outputFrom(file: string, directory: string): string {
  return relative(dirname(file), directory);
}

/** Why there is no manifest to use. */
export type ManifestFlaw = 'absent' | 'damaged' | 'other-version';

export type FoundManifest =
  | { manifest: Manifest; flaw?: undefined }
  | { manifest?: undefined; flaw: ManifestFlaw };

/** Reads a manifest, or finds out why it cannot be used: it is absent, or cut off, or written by another version. */
export async function readManifest(file: string): Promise<FoundManifest> {
  let written: unknown;
  try {
    written = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    return { flaw: (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'absent' : 'damaged' };
  }
  const versioned = versionSchema.safeParse(written);
  if (versioned.success && versioned.data.version !== version) return { flaw: 'other-version' };
  // Used once, and compiling a parser would take longer.
  const { data } = schema.safeParse(written, { jitless: true });
  return versioned.success && data !== undefined ? { manifest: data } : { flaw: 'damaged' };
}

export async function writeManifest(file: string, manifest: Manifest): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const files = manifest.files.map(writtenFile);
  const written: z.input<typeof schema> & { version: number } = { version, ...manifest, files };
  await writeAtomically(file, JSON.stringify(written));
}

/** Removes the record of a build whose output is about to be overwritten. */
export async function removeManifest(file: string): Promise<void> {
  await rm(file, { force: true });
}
