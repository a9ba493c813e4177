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

/** A page that holds a changed snippet, as it is and as it is to be. */
export interface RefreshedPage {
  page: ManifestPage;
  before: Buffer;
  after: Buffer;
  next: PageState;
}

export interface Refresh {
  pages: RefreshedPage[];
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
 * Makes of each page whose snippets have changed what a build would, and writes nothing.
 *
 * @param contents of the manifest's snippets, in its order.
 */
export async function planRefresh(
  file: string,
  manifest: Manifest,
  contents: readonly SourcedSnippet[],
): Promise<Refresh> {
  const output = outputOf(file, manifest);
  const hashes = contents.map(({ content }) => hashOf(content));
  const isOld = ({ embeds }: PageState) => embeds.some(({ snippet, content }) => content !== hashes[snippet]);
  const refresh: Refresh = { pages: [], modified: [] };
  for (const page of manifest.pages.filter(isOld)) {
    const before = await readFile(join(output, page.name)).catch(() => undefined);
    if (before === undefined || hashOf(before) !== page.hash) refresh.modified.push(page.name);
    else refresh.pages.push({ page, before, ...splice(before, page.embeds, contents, hashes) });
  }
  return refresh;
}

/**
 * Puts the pages in place of the old ones. Each is replaced as a whole, and the manifest says beforehand what is
 * going to be, so that it can be ended at any moment.
 */
export async function writeRefresh(
  file: string,
  manifest: Manifest,
  contents: readonly SourcedSnippet[],
  { pages: refreshed }: Refresh,
): Promise<void> {
  const output = outputOf(file, manifest);
  const nexts = new Map(refreshed.map(({ page, next }) => [page, next]));
  const pages = manifest.pages.map((page) => ({ ...page, next: nexts.get(page) }));
  await writeManifest(file, { ...manifest, pages });
  for (const { page, after } of refreshed) {
    const target = join(output, page.name);
    await writeAtomically(target, after, temporaryOf(target));
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
): { next: PageState; after: Buffer } {
  const pieces: Buffer[] = [];
  const embedsAfter: ManifestEmbed[] = [];
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
    embedsAfter.push({ ...embed, start, end: written, content: hashes[embed.snippet] });
  }
  pieces.push(before.subarray(read));
  const after = Buffer.concat(pieces);
  return { after, next: { hash: hashOf(after), embeds: embedsAfter } };
}
