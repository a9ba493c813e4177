import { hash } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { z } from 'zod';
import { type SnippetRequest, toRequest } from '../client/snippet-request.ts';
import { layerNames } from '../embed/layers.ts';
import type { FetchedSnippet } from '../snippets/fetch-snippets.ts';
import { writeAtomically } from '../write-atomically.ts';

const embedSchema = z.object({
  /** The index of the snippet in `snippets`. */
  snippet: z.int().min(0),
  /** The bytes of the page that the content occupies. */
  start: z.int().min(0),
  end: z.int().min(0),
  /** How the content is written there. */
  form: z.object({
    as: z.enum(['html', 'text']),
    layers: z.array(z.enum(layerNames)),
    paragraph: z.object({ before: z.string(), after: z.string() }).optional(),
    /** What a refresh needs to apply the same rules. */
    around: z.string().optional(),
  }),
  /** The hash of the content; absent where the children are shown. */
  content: z.string().optional(),
});

const stateSchema = z.object({
  /** The hash of the whole file. */
  hash: z.string(),
  embeds: z.array(embedSchema),
  /** The elements that set the page's policy, each as it was before hashes were added; as Latin-1. */
  policies: z.array(z.object({ start: z.int().min(0), end: z.int().min(0), tag: z.string() })).optional(),
});

const pageSchema = stateSchema.extend({
  name: z.string(),
  /** What a refresh that is in progress, or was killed, makes of it. The file is in either state. */
  next: stateSchema.optional(),
});

const contentSchema = z.object({
  /** The hash of what the service sent. */
  hash: z.string(),
  variant: z.enum(['render', 'retrieve']),
  /** When the service sent it, in milliseconds since the epoch. */
  fetchedAt: z.number(),
  /** Its size as UTF-8. */
  bytes: z.int(),
  /** How long the service took. */
  milliseconds: z.number(),
  /** What a Content Security Policy has to allow for it. */
  sources: z.array(z.string()).optional(),
});

const requestSchema = z.object({ id: z.int(), params: z.string().optional() });

const schema = z.object({
  version: z.literal(4),
  builtAt: z.iso.datetime(),
  /** When a refresh last changed the site since the build. */
  refreshedAt: z.iso.datetime().optional(),
  /** The output folder, relative to the manifest's own folder. */
  output: z.string(),
  /** How the service was reached. The key is not included. */
  settings: z.object({
    renderBaseUrl: z.string().optional(),
    retrieveBaseUrl: z.string().optional(),
    ca: z.union([z.string(), z.array(z.string())]).optional(),
    concurrency: z.int(),
  }),
  /** The rules for HTML. A function cannot be recorded, so only a build can sanitize. */
  rules: z.object({
    sanitizes: z.boolean(),
    scripts: z.enum(['allow', 'strip', 'error']),
    strict: z.boolean(),
    policy: z.enum(['none', 'warn', 'hash']),
  }),
  /** What the site shows; without content where the snippet could not be fetched. */
  snippets: z.array(requestSchema.extend({ content: contentSchema.optional() })),
  /** What it showed before the last build or refresh. */
  before: z
    .object({
      at: z.iso.datetime(),
      snippets: z.array(requestSchema.extend({ hash: z.string().optional() })),
    })
    .optional(),
  pages: z.array(pageSchema),
});

/** The record of the last build: which snippets are in which files of the output, and at which bytes. */
export type Manifest = z.infer<typeof schema>;
type RecordedRequest = z.infer<typeof requestSchema>;
export type ManifestContent = z.infer<typeof contentSchema>;
export type ManifestPage = z.infer<typeof pageSchema>;
export type ManifestEmbed = z.infer<typeof embedSchema>;
export type PageState = z.infer<typeof stateSchema>;

export const hashOf = (bytes: Buffer | string): string => hash('sha256', bytes, 'base64url');

/** The requests of the recorded snippets, in their order. */
export function requestsOf({ snippets }: { snippets: readonly RecordedRequest[] }): SnippetRequest[] {
  return snippets.map(({ id, params }) => toRequest(id, params));
}

/** What is recorded of a content. */
export function contentRecord(snippet: FetchedSnippet): ManifestContent {
  const { content, variant, milliseconds, fetchedAt = Date.now(), inlineCode } = snippet;
  const bytes = Buffer.byteLength(content);
  return { hash: hashOf(content), variant, fetchedAt, bytes, milliseconds, sources: sourceNames(inlineCode) };
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

/** The names of the pages that show each snippet, in the order of the snippets and of the pages. */
export function pagesOf({ snippets, pages }: Manifest): Set<string>[] {
  const shownOn = snippets.map(() => new Set<string>());
  for (const { name, embeds } of pages) for (const { snippet } of embeds) shownOn[snippet]?.add(name);
  return shownOn;
}

/** The output folder of a manifest. */
export function outputOf(file: string, { output }: Manifest): string {
  return resolve(dirname(file), output);
}

/** How a manifest records an output folder: relative, so that both can be moved together. */
export function outputFrom(file: string, directory: string): string {
  return relative(dirname(file), directory);
}

/** Reads a manifest. `undefined` if it is absent, cut off, changed, or written by another version. */
export async function readManifest(file: string): Promise<Manifest | undefined> {
  try {
    const parsed = schema.safeParse(JSON.parse(await readFile(file, 'utf8')));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

export async function writeManifest(file: string, manifest: Manifest): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeAtomically(file, JSON.stringify(manifest));
}

/** Removes the record of a build whose output is about to be overwritten. */
export async function removeManifest(file: string): Promise<void> {
  await rm(file, { force: true });
}
