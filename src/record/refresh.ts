import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { compose } from '../embed/inline.ts';
import { replace } from '../embed/replace.ts';
import { allowInTag, sourcesOf } from '../html/content-security-policy.ts';
import type { FetchedSnippet } from '../snippets/fetch-snippets.ts';
import { writeAtomically } from '../write-atomically.ts';
import {
  asBefore,
  contentRecord,
  hashOf,
  type Manifest,
  type ManifestEmbed,
  type ManifestPage,
  outputOf,
  type PageState,
  sourceNames,
  writeManifest,
} from './manifest.ts';

/** A page that shows a changed snippet, as it is and as it is going to be. */
export interface RefreshedPage {
  page: ManifestPage;
  before: Buffer;
  after: Buffer;
  next: PageState;
}

/** A page that shows a changed snippet, and that only a build can update. */
export interface PageToBuild {
  name: string;
  /** The end of a sentence that begins with the name. */
  reason: string;
}

export interface RefreshPlan {
  pages: RefreshedPage[];
  toBuild: PageToBuild[];
}

/**
 * After a refresh that was killed, finds out whether each page is in the state before or after it. Each page is
 * complete in either state. Temporary files are removed.
 */
export async function recover(file: string, manifest: Manifest): Promise<Manifest> {
  const output = outputOf(file, manifest);
  const pages = await Promise.all(
    manifest.pages.map(async ({ next, ...page }): Promise<ManifestPage> => {
      if (next === undefined) return page;
      await rm(temporaryFile(join(output, page.name)), { force: true });
      const bytes = await readFile(join(output, page.name)).catch(() => undefined);
      return bytes !== undefined && hashOf(bytes) === next.hash ? { ...page, ...next } : page;
    }),
  );
  return { ...manifest, pages };
}

/**
 * Computes what a build would make of each page whose snippets have changed. Writes nothing.
 *
 * @param snippets those of the manifest, in its order.
 */
export async function planRefresh(
  file: string,
  manifest: Manifest,
  snippets: readonly FetchedSnippet[],
): Promise<RefreshPlan> {
  const output = outputOf(file, manifest);
  const hashes = snippets.map(({ content }) => hashOf(content));
  const isOld = ({ embeds }: PageState) => embeds.some(({ snippet, content }) => content !== hashes[snippet]);
  const plan: RefreshPlan = { pages: [], toBuild: [] };
  for (const page of manifest.pages.filter(isOld)) {
    const before = await readFile(join(output, page.name)).catch(() => undefined);
    const reason = reasonToBuild(page, before, manifest, snippets);
    if (reason !== undefined) plan.toBuild.push({ name: page.name, reason });
    else if (before !== undefined)
      plan.pages.push({ page, before, ...renew(before, page, snippets, hashes) });
  }
  return plan;
}

/** Why only a build can update a page. */
function reasonToBuild(
  { hash, embeds, policies }: ManifestPage,
  bytes: Buffer | undefined,
  { rules, snippets: recorded }: Manifest,
  snippets: readonly FetchedSnippet[],
): string | undefined {
  if (bytes === undefined || hashOf(bytes) !== hash) return 'was changed after the build';
  if (rules.sanitizes) return 'shows content that only a build sanitizes';
  const shown = embeds.filter(({ form }) => form.as === 'html').map(({ snippet }) => snippet);
  const needsOtherSources = (snippet: number) =>
    String(sourceNames(snippets[snippet]?.inlineCode) ?? []) !==
    String(recorded[snippet]?.content?.sources ?? []);
  if (rules.policy === 'hash' && policies === undefined && shown.some(needsOtherSources)) {
    return 'has its policy in headers, which only a build writes';
  }
  return undefined;
}

/**
 * Writes the pages of a plan. Each is replaced as a whole, and the manifest announces what is going to be written, so
 * that the process can be killed at any moment.
 */
export async function writeRefresh(
  file: string,
  manifest: Manifest,
  snippets: readonly FetchedSnippet[],
  { pages: refreshed }: RefreshPlan,
): Promise<void> {
  const output = outputOf(file, manifest);
  const nexts = new Map(refreshed.map(({ page, next }) => [page, next]));
  const pages = manifest.pages.map((page) => ({ ...page, next: nexts.get(page) }));
  await writeManifest(file, { ...manifest, pages });
  for (const { page, after } of refreshed) {
    const target = join(output, page.name);
    await writeAtomically(target, after, temporaryFile(target));
  }
  await writeManifest(file, {
    ...manifest,
    refreshedAt: new Date().toISOString(),
    snippets: manifest.snippets.map((recorded, index) => {
      const snippet = snippets[index];
      return snippet === undefined ? recorded : { ...recorded, content: contentRecord(snippet) };
    }),
    before: asBefore(manifest),
    pages: manifest.pages.map((page) => ({ ...page, ...nexts.get(page) })),
  });
}

/** A fixed name, so that one left behind by a killed process is found and removed. */
function temporaryFile(page: string): string {
  return `${page}.refresh.tmp`;
}

/** The page with the new contents in it, and its new state for the manifest. */
function renew(
  before: Buffer,
  { embeds, policies = [] }: ManifestPage,
  snippets: readonly FetchedSnippet[],
  hashes: readonly string[],
): { next: PageState; after: Buffer } {
  const composed = embeds.map((embed) => {
    const { start, end, form } = embed;
    const { html = '', text = '' } = snippets[embed.snippet] ?? {};
    return { start, end, bytes: compose({ html, text }, form), embed };
  });
  const sources = sourcesOf(
    embeds.flatMap(({ form, snippet }) => (form.as === 'text' ? [] : (snippets[snippet] ?? []))),
  );
  const allowed = policies.map((policy) => ({ ...policy, bytes: allowInTag(policy.tag, sources) }));
  const pieces = [...composed, ...allowed].sort((a, b) => a.start - b.start);
  const { file: after, places } = replace(before, pieces);
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
