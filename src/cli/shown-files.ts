import type { SnippetRequest } from '../client/snippet-request.ts';
import { fileKind } from '../file-kinds.ts';
import type { ChangedSnippet } from '../record/changes.ts';
import { type Manifest, type ManifestContent, placesIn, requestsOf, type Shown } from '../record/manifest.ts';
import type { RefreshedPage } from '../record/refresh.ts';
import { publishedUrl } from '../settings/site-urls.ts';
import type { CheckOutput, ListOutput, RefreshOutput } from './cli-output.ts';

/** A file of the output, and its URL. */
export type ShownFile = ListOutput['snippets'][number]['pages'][number];

/** A file that a refresh has written, or would write, and what changed in it. */
export type WrittenFile = RefreshOutput['written'][number];

export function shownFile({ urls }: Pick<Manifest, 'urls'>, file: string): ShownFile {
  return { file, url: publishedUrl(file, fileKind(file) === 'html', urls) };
}

/** Where a snippet is shown, for scripts. */
export function shownPlaces(
  manifest: Pick<Manifest, 'urls'>,
  { pages, collections }: Shown,
): Pick<ListOutput['snippets'][number], 'pages' | 'collections'> {
  return { pages: pages.map((file) => shownFile(manifest, file)), collections };
}

/** What is recorded of a content, without what only a refresh needs. */
export function shownContent({
  hash,
  variant,
  fetchedAt,
  bytes,
  milliseconds,
}: ManifestContent): NonNullable<ListOutput['snippets'][number]['content']> {
  return { hash, variant, fetchedAt: new Date(fetchedAt).toISOString(), bytes, milliseconds };
}

/** A snippet that has changed, and the places that show something else, for scripts. */
export function changedSnippet(
  manifest: Pick<Manifest, 'urls'>,
  { request: { id, params }, isMissing, newHash, ...places }: ChangedSnippet,
): CheckOutput['changed'][number] {
  return { id, params, missing: isMissing ? true : undefined, newHash, ...shownPlaces(manifest, places) };
}

/** What changes in files, in each of them every snippet once for each way it changes. */
export function writtenFiles(manifest: Manifest, pages: readonly RefreshedPage[]): WrittenFile[] {
  const requests = requestsOf(manifest);
  return pages.map((page) => writtenFile(manifest, requests, page));
}

function writtenFile(
  manifest: Manifest,
  requests: readonly SnippetRequest[],
  { page, next }: RefreshedPage,
): WrittenFile {
  const snippets = new Map<string, WrittenFile['snippets'][number]>();
  for (const [index, { snippet, content: oldHash }] of placesIn(manifest, page).entries()) {
    const newHash = next.places[index]?.content;
    const request = requests[snippet];
    if (request === undefined || oldHash === newHash) continue;
    const { id, params } = request;
    snippets.set(`${oldHash} ${newHash} ${request.key}`, { id, params, oldHash, newHash });
  }
  return { ...shownFile(manifest, page.name), snippets: [...snippets.values()] };
}
