import type { RefreshedPage } from '../build/refresh.ts';
import { fileKind } from '../files/kinds.ts';
import { type ChangedSnippet, type Changes, hashShown, type Shown } from '../record/changes.ts';
import type { Manifest, ManifestContent } from '../record/manifest.ts';
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
  { request: { id, params }, newHash, ...places }: ChangedSnippet,
): CheckOutput['changed'][number] {
  const missing = newHash === undefined ? true : undefined;
  return { id, params, missing, newHash, ...shownPlaces(manifest, places) };
}

/** What changes in files, in each of them every snippet once. */
export function writtenFiles(
  { manifest, hashes }: Pick<Changes, 'hashes'> & { manifest: Manifest },
  pages: readonly RefreshedPage[],
): WrittenFile[] {
  return pages.map(({ page, changed }) => ({
    ...shownFile(manifest, page.name),
    snippets: changed.flatMap((index) => {
      const { id, params } = manifest.snippets[index] ?? {};
      const oldHash = hashShown(manifest, page, index);
      return id === undefined ? [] : [{ id, params, oldHash, newHash: hashes[index] }];
    }),
  }));
}
