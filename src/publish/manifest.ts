import { hash } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { z } from 'zod';
import type { PreparedSnippet } from '../html-rules/apply-rules.ts';
import { writeAtomically } from '../write-atomically.ts';

const embedSchema = z.object({
  /** The place of the snippet in `snippets`. */
  snippet: z.int().min(0),
  /** The bytes of the page that its content takes. */
  start: z.int().min(0),
  end: z.int().min(0),
  asText: z.boolean(),
  paragraph: z.object({ before: z.string(), after: z.string() }).optional(),
  /** The hash of the content that stands there; none where it is the embed's children. */
  content: z.string().optional(),
});

const stateSchema = z.object({
  /** The hash of the whole file. */
  hash: z.string(),
  embeds: z.array(embedSchema),
  /** The elements that say the page's policy, and how each was before it allowed what is inlined; as Latin-1. */
  policies: z.array(z.object({ start: z.int().min(0), end: z.int().min(0), tag: z.string() })).optional(),
});

const pageSchema = stateSchema.extend({
  name: z.string(),
  /** What a refresh that was under way would have made of it. A file may be in either state. */
  next: stateSchema.optional(),
});

const contentSchema = z.object({
  /** Of what the service gave. */
  hash: z.string(),
  variant: z.enum(['render', 'retrieve']),
  /** When the service gave it, in milliseconds since the epoch. */
  fetchedAt: z.number(),
  /** Of its UTF-8. */
  bytes: z.int(),
  /** How long the service took to give it. */
  milliseconds: z.number(),
  /** What a Content Security Policy has to allow for it, where there is one that does. */
  sources: z.array(z.string()).optional(),
});

const schema = z.object({
  version: z.literal(3),
  builtAt: z.iso.datetime(),
  /** When a refresh last changed the site; nothing where none did since the build. */
  refreshedAt: z.iso.datetime().optional(),
  /** The output, as a path from the manifest's own folder. */
  output: z.string(),
  /** How the service was reached; the key is not among it. */
  settings: z.object({
    renderBaseUrl: z.string().optional(),
    retrieveBaseUrl: z.string().optional(),
    ca: z.union([z.string(), z.array(z.string())]).optional(),
    concurrency: z.int(),
  }),
  /** The rules for HTML. A function cannot be written down: only a build can do what it does. */
  rules: z.object({
    sanitizes: z.boolean(),
    scripts: z.enum(['allow', 'strip', 'error']),
    strict: z.boolean(),
    policy: z.enum(['none', 'warn', 'hash']),
  }),
  /** What the site shows; without a content where the snippet could not be had. */
  snippets: z.array(
    z.object({ id: z.int(), params: z.string().optional(), content: contentSchema.optional() }),
  ),
  /** What it showed before the build or the refresh that made it so. */
  before: z
    .object({
      at: z.iso.datetime(),
      snippets: z.array(
        z.object({ id: z.int(), params: z.string().optional(), hash: z.string().optional() }),
      ),
    })
    .optional(),
  pages: z.array(pageSchema),
});

/** The record of the last build: which snippets are on which pages, and at which bytes. */
export type Manifest = z.infer<typeof schema>;
export type ManifestContent = z.infer<typeof contentSchema>;
export type ManifestPage = z.infer<typeof pageSchema>;
export type ManifestEmbed = z.infer<typeof embedSchema>;
export type PageState = z.infer<typeof stateSchema>;

export const hashOf = (bytes: Buffer | string): string => hash('sha256', bytes, 'base64url');

/** How a content is written down. */
export function contentOf(snippet: PreparedSnippet): ManifestContent {
  const { content, variant, milliseconds, fetchedAt = Date.now(), inlineCode } = snippet;
  const bytes = Buffer.byteLength(content);
  return { hash: hashOf(content), variant, fetchedAt, bytes, milliseconds, sources: sourceNames(inlineCode) };
}

/** How what a policy has to allow is written down. */
export function sourceNames(code: PreparedSnippet['inlineCode']): string[] | undefined {
  return code && [...code.scripts, ...code.styles];
}

/** What a manifest says to the one after it. */
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

/** The folder that a manifest speaks of. */
export function outputOf(file: string, { output }: Manifest): string {
  return resolve(dirname(file), output);
}

/** How a folder is written down in a manifest: relative, so that both can be moved together. */
export function outputFrom(file: string, directory: string): string {
  return relative(dirname(file), directory);
}

/** Reads a manifest; nothing where there is none, or it was cut, changed, or written by another version. */
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

/** Forgets what was built before, because it is about to be overwritten. */
export async function removeManifest(file: string): Promise<void> {
  await rm(file, { force: true });
}
