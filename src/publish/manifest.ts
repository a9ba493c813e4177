import { hash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { z } from 'zod';

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
});

const pageSchema = stateSchema.extend({
  name: z.string(),
  /** What a refresh that was under way would have made of it. A file may be in either state. */
  next: stateSchema.optional(),
});

const schema = z.object({
  version: z.literal(1),
  builtAt: z.iso.datetime(),
  /** The output, as a path from the manifest's own folder. */
  output: z.string(),
  /** How the service was reached; the key is not among it. */
  settings: z.object({
    renderBaseUrl: z.string().optional(),
    retrieveBaseUrl: z.string().optional(),
    ca: z.union([z.string(), z.array(z.string())]).optional(),
    concurrency: z.int(),
  }),
  snippets: z.array(z.object({ id: z.int(), params: z.string().optional() })),
  pages: z.array(pageSchema),
});

/** The record of the last build: which snippets are on which pages, and at which bytes. */
export type Manifest = z.infer<typeof schema>;
export type ManifestPage = z.infer<typeof pageSchema>;
export type ManifestEmbed = z.infer<typeof embedSchema>;
export type PageState = z.infer<typeof stateSchema>;

/** Where a project keeps it: in Astro's cache directory, which is never published. */
export function manifestFile(cacheDirectory: string): string {
  return join(cacheDirectory, 'astro-snippets', 'manifest.json');
}

export const hashOf = (bytes: Buffer | string): string => hash('sha256', bytes, 'base64url');

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

/**
 * Whoever reads the file reads all of the old bytes or all of the new ones, whenever this is killed.
 *
 * @param temporary what is written first. Where it could stay behind in the output, its name has to be known.
 */
export async function writeAtomically(
  file: string,
  bytes: Buffer | string,
  temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`,
): Promise<void> {
  try {
    await writeFile(temporary, bytes);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
