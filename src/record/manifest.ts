import { createHash, hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { z } from 'zod';
import { type SnippetRequest, toRequest } from '../client/snippet-request.ts';
import { piecesOf } from '../files/read.ts';
import { temporaryFile, writeAtomically } from '../files/write.ts';
import type { ImageUse } from '../html/images.ts';
import type { FetchedSnippet } from '../snippets/fetch-snippets.ts';

const index = z.int().min(0);

const moreSchema = z.object({
  /** The snippets whose embeds in this file are all optional. */
  optional: z.array(index).optional(),
  /** The hashes of contents that it shows, where these are not those of the snippets; `null` for children. */
  older: z.record(z.string(), z.string().nullable()).optional(),
  /**
   * The hashes of what a refresh or `inline` that is in progress, or was killed, makes of it and of its copies; the last
   * one shows what the snippets say. The file, and each copy, is in one of these states or the recorded one.
   */
  next: z.array(z.string()).optional(),
  /** Files of the output that hold the same, such as `200.html`; by their names. */
  copies: z.array(z.string()).optional(),
  /** The hashes of what it was before, latest first. */
  past: z.array(z.string()).optional(),
});

/** A file of the output that shows snippets: a page, a feed, JSON or other text. */
export interface ManifestFile extends z.infer<typeof moreSchema> {
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
}

/** As an array, since the names of the fields would be a fifth of the manifest. */
function writtenFile({ name, hash, shows, at, length, size, time, ...more }: ManifestFile) {
  const isPlain = Object.values(more).every((value) => value === undefined);
  return [name, hash, shows, [at, length, size, time], ...(isPlain ? [] : [more])] as const;
}

/** Without zod, which takes several times as long for so many. */
function fileOf([name, hash, shows, numbers, more]: ReturnType<typeof writtenFile>): ManifestFile {
  const [at, length, size, time] = numbers;
  return { name, hash, shows, at, length, size, time, ...(more && moreSchema.parse(more)) };
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
    /** Where variables were read, besides `process.env`. If it is absent, in the folder of the project for `production`. */
    environment: z
      .object({
        mode: z.string(),
        /** The folder of the `.env` files from that of the project, if it is another; `false` if there were none. */
        directory: z.union([z.string(), z.literal(false)]).optional(),
      })
      .optional(),
    ca: z.union([z.string(), z.array(z.string())]).optional(),
    concurrency: z.int(),
    /** As the options are written. */
    timeout: z.string().optional(),
    patience: z.string().optional(),
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
  pack: z
    .object({
      id: z.string(),
      /** In bytes. */
      length: index,
      /** The version of this package that has read these pages. Another one may find other embeds in them. */
      version: z.string(),
    })
    .optional(),
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
  files: z.custom<ReturnType<typeof writtenFile>[]>(Array.isArray).transform((files) => files.map(fileOf)),
  /** The entries of collections that show snippets, each with the hash of the content that it shows. */
  collections: z.array(
    z.object({ collection: z.string(), entry: z.string(), snippet: index, content: z.string() }),
  ),
  /** Whether the command of `refresh --after` has yet to succeed: from before pages are written until it has. */
  pending: z.literal(true).optional(),
});

const schema = manifestSchema.refine(({ snippets, files, collections }) => {
  const isSnippet = (index: number) => snippets[index] !== undefined;
  return (
    collections.every(({ snippet }) => isSnippet(snippet)) &&
    files.every(
      ({ name, hash, shows, at, length, size, time }) =>
        typeof name === 'string' &&
        typeof hash === 'string' &&
        shows.every(isSnippet) &&
        [at, length, size, time].every(Number.isSafeInteger),
    )
  );
});

/** The record of the last build: which snippets are in which files and collections. */
export type Manifest = z.infer<typeof manifestSchema>;
export type RecordedEnvironment = NonNullable<Manifest['settings']['environment']>;
export type RecordedPack = NonNullable<Manifest['pack']>;
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

/** The requests of the recorded snippets, in their order. None without a record. */
export function requestsOf(manifest: { snippets: readonly RecordedRequest[] } | undefined): SnippetRequest[] {
  return manifest?.snippets.map(({ id, params }) => toRequest(id, params)) ?? [];
}

/** The recorded snippets by the keys of their requests. None without a record. */
export function snippetsByKey<Recorded extends RecordedRequest>(
  manifest: { snippets: readonly Recorded[] } | undefined,
): Map<string, Recorded> {
  return new Map(manifest?.snippets.map((one) => [toRequest(one.id, one.params).key, one]));
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
  try {
    const written = JSON.parse(await readFile(file, 'utf8'));
    if (written.version !== version) return { flaw: 'version' in written ? 'other-version' : 'damaged' };
    // Used once, and compiling a parser would take longer.
    return { manifest: schema.parse(written, { jitless: true }) };
  } catch (error) {
    return { flaw: (error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT' ? 'absent' : 'damaged' };
  }
}

export async function writeManifest(file: string, manifest: Manifest): Promise<void> {
  const files = manifest.files.map(writtenFile);
  // A known name: what a killed process has left is written over.
  await writeAtomically(file, JSON.stringify({ version, ...manifest, files }), temporaryFile(file));
}
