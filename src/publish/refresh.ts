import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compose, replace } from '../embed/index.ts';
import type { PreparedSnippet } from '../html-rules/apply-rules.ts';
import { allowInTag } from '../policy/page-policy.ts';
import { sourcesOf } from '../policy/page-sources.ts';
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
  sourceNames,
  writeManifest,
} from './manifest.ts';

/** A page that holds a changed snippet, as it is and as it is to be. */
export interface RefreshedPage {
  page: ManifestPage;
  before: Buffer;
  after: Buffer;
  next: PageState;
}

/** A page that holds a changed snippet, and that only a build can bring up to date. */
export interface PageToBuild {
  name: string;
  /** As the end of a sentence that begins with its name. */
  why: string;
}

export interface Refresh {
  pages: RefreshedPage[];
  toBuild: PageToBuild[];
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
  contents: readonly PreparedSnippet[],
): Promise<Refresh> {
  const output = outputOf(file, manifest);
  const hashes = contents.map(({ content }) => hashOf(content));
  const isOld = ({ embeds }: PageState) => embeds.some(({ snippet, content }) => content !== hashes[snippet]);
  const refresh: Refresh = { pages: [], toBuild: [] };
  for (const page of manifest.pages.filter(isOld)) {
    const before = await readFile(join(output, page.name)).catch(() => undefined);
    const isAsBuilt = before !== undefined && hashOf(before) === page.hash;
    const why = isAsBuilt ? needsBuild(page, manifest, contents) : 'was changed after the build';
    if (before === undefined || why !== undefined) refresh.toBuild.push({ name: page.name, why: why ?? '' });
    else refresh.pages.push({ page, before, ...renew(before, page, contents, hashes) });
  }
  return refresh;
}

/** What a page takes that only a build has. */
function needsBuild(
  { embeds, policies }: ManifestPage,
  { rules, snippets }: Manifest,
  contents: readonly PreparedSnippet[],
): string | undefined {
  const shown = embeds.filter(({ asText }) => !asText).map(({ snippet }) => snippet);
  if (rules.sanitizes && shown.length > 0) return 'shows HTML that only a build sanitises';
  const allowsOthers = (snippet: number) =>
    String(sourceNames(contents[snippet]?.inlineCode) ?? []) !==
    String(snippets[snippet]?.content?.sources ?? []);
  if (rules.policy === 'hash' && policies === undefined && shown.some(allowsOthers)) {
    return 'has its policy in headers, which only a build writes';
  }
  return undefined;
}

/**
 * Puts the pages in place of the old ones. Each is replaced as a whole, and the manifest says beforehand what is
 * going to be, so that it can be ended at any moment.
 */
export async function writeRefresh(
  file: string,
  manifest: Manifest,
  contents: readonly PreparedSnippet[],
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
function renew(
  before: Buffer,
  { embeds, policies = [] }: ManifestPage,
  contents: readonly PreparedSnippet[],
  hashes: readonly string[],
): { next: PageState; after: Buffer } {
  const composed = embeds.map((embed) => {
    const { start, end, asText, paragraph } = embed;
    const { content = '', html = '' } = contents[embed.snippet] ?? {};
    const form = paragraph === undefined ? { asText } : { asText, paragraph };
    return { start, end, bytes: compose(asText ? content : html, form), embed };
  });
  const sources = sourcesOf(embeds.flatMap((embed) => (embed.asText ? [] : (contents[embed.snippet] ?? []))));
  const allowed = policies.map((policy) => ({ ...policy, bytes: allowInTag(policy.tag, sources) }));
  const pieces = [...composed, ...allowed].sort((a, b) => a.start - b.start);
  const { page: after, places } = replace(before, pieces);
  const embedsAfter: ManifestEmbed[] = [];
  const policiesAfter: NonNullable<PageState['policies']> = [];
  for (const [index, place] of places.entries()) {
    const piece = pieces[index];
    if (piece === undefined) continue;
    if ('embed' in piece) {
      embedsAfter.push({ ...piece.embed, ...place, content: hashes[piece.embed.snippet] });
    } else policiesAfter.push({ tag: piece.tag, ...place });
  }
  const next = { hash: hashOf(after), embeds: embedsAfter };
  return { after, next: policiesAfter.length === 0 ? next : { ...next, policies: policiesAfter } };
}
