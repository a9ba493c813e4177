import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compose } from '../embed/index.ts';
import type { SourcedSnippet } from '../snippet-source.ts';
import { writeAtomically } from '../write-atomically.ts';
import {
  asBefore,
  contentOf,
  hashOf,
  type Manifest,
  type ManifestEmbed,
  type ManifestPage,
  outputOf,
  type PageState,
  writeManifest,
} from './manifest.ts';

export interface Refreshed {
  /** Pages that were brought up to date. */
  written: string[];
  /** Pages that hold a changed snippet, but are not as the build left them: a minifier ran, say, or they are gone. */
  modified: string[];
}

/**
 * Finds out which state each page is in, where a refresh was ended in the middle: the one before it, or the one
 * after. Every page is whole in either; what was half written beside it is removed.
 */
export async function settle(file: string, manifest: Manifest): Promise<Manifest> {
  const output = outputOf(file, manifest);
  const pages = await Promise.all(
    manifest.pages.map(async ({ next, ...page }): Promise<ManifestPage> => {
      if (next === undefined) return page;
      await rm(temporaryOf(join(output, page.name)), { force: true });
      const bytes = await readFile(join(output, page.name)).catch(() => undefined);
      return bytes !== undefined && hashOf(bytes) === next.hash ? { ...page, ...next } : page;
    }),
  );
  return { ...manifest, pages };
}

/**
 * Puts the contents into just the pages whose snippets have changed. Each page is replaced as a whole, and the
 * manifest says beforehand what is going to be, so that it can be ended at any moment.
 *
 * @param contents of the manifest's snippets, in its order.
 * @param skipModified goes on with the other pages where some are not as the build left them; otherwise nothing
 * is written then.
 */
export async function refresh(
  file: string,
  manifest: Manifest,
  contents: readonly SourcedSnippet[],
  { skipModified = false, dryRun = false } = {},
): Promise<Refreshed> {
  const output = outputOf(file, manifest);
  const hashes = contents.map(({ content }) => hashOf(content));
  const isOld = ({ embeds }: PageState) => embeds.some(({ snippet, content }) => content !== hashes[snippet]);
  const modified: string[] = [];
  const work: { page: ManifestPage; next: PageState; bytes: Buffer }[] = [];
  for (const page of manifest.pages.filter(isOld)) {
    const before = await readFile(join(output, page.name)).catch(() => undefined);
    if (before === undefined || hashOf(before) !== page.hash) modified.push(page.name);
    else work.push({ page, ...splice(before, page.embeds, contents, hashes) });
  }
  const written = work.map(({ page }) => page.name);
  if (dryRun || written.length === 0 || (modified.length > 0 && !skipModified)) {
    return { written: dryRun ? written : [], modified };
  }
  const nexts = new Map(work.map(({ page, next }) => [page, next]));
  const pages = manifest.pages.map((page) => ({ ...page, next: nexts.get(page) }));
  await writeManifest(file, { ...manifest, pages });
  for (const { page, bytes } of work) {
    const target = join(output, page.name);
    await writeAtomically(target, bytes, temporaryOf(target));
  }
  await writeManifest(file, {
    ...manifest,
    refreshedAt: new Date().toISOString(),
    snippets: manifest.snippets.map((snippet, index) => {
      const content = contents[index];
      return content === undefined ? snippet : { ...snippet, content: contentOf(content) };
    }),
    before: asBefore(manifest),
    pages: manifest.pages.map((page) => ({ ...page, ...nexts.get(page) })),
  });
  return { written, modified };
}

/** Known beforehand, so that one which a kill left behind is found and removed. */
function temporaryOf(page: string): string {
  return `${page}.refresh.tmp`;
}

/** The page with the new contents in it, and what the manifest says of it then. */
function splice(
  before: Buffer,
  embeds: readonly ManifestEmbed[],
  contents: readonly SourcedSnippet[],
  hashes: readonly string[],
): { next: PageState; bytes: Buffer } {
  const pieces: Buffer[] = [];
  const after: ManifestEmbed[] = [];
  let read = 0;
  let written = 0;
  for (const embed of embeds) {
    const { asText, paragraph } = embed;
    const form = paragraph === undefined ? { asText } : { asText, paragraph };
    const bytes = compose(contents[embed.snippet]?.content ?? '', form);
    pieces.push(before.subarray(read, embed.start), bytes);
    const start = written + embed.start - read;
    written = start + bytes.length;
    read = embed.end;
    after.push({ ...embed, start, end: written, content: hashes[embed.snippet] });
  }
  pieces.push(before.subarray(read));
  const bytes = Buffer.concat(pieces);
  return { bytes, next: { hash: hashOf(bytes), embeds: after } };
}
