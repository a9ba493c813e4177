import { type CollectionEntry, entryName } from '../../failures/places.ts';
import { fileKind } from '../../files/file-kind.ts';
import type { SnippetUsage } from '../../record/changes.ts';
import type { Manifest } from '../../record/manifest.ts';
import { publishedUrl } from '../../settings/site-urls.ts';
import { cleanText } from '../../text/clean-text.ts';
import type { NotWritten, PlacedSnippet, Request } from '../json-output.ts';

export const shownFile = (
  { urls }: Pick<Manifest, 'urls'>,
  file: string,
): {
  file: string;
  url: string;
} => ({
  file,
  url: publishedUrl(file, fileKind(file) === 'html', urls),
});

export function shownSnippet<Facts>(
  manifest: Manifest,
  shown: SnippetUsage,
  facts: Facts,
): {
  id: number;
  params: string | undefined;
} & Facts & {
    pages: {
      file: string;
      url: string;
    }[];
    collections: CollectionEntry[];
  } {
  const { recorded, pages, collections } = shown;
  const { id, params } = recorded;
  return { id, params, ...facts, pages: pages.map((file) => shownFile(manifest, file)), collections };
}

/** A line for each snippet, which ends with one of these texts; below it, its places. */
export const snippetLines = (snippets: PlacedSnippet[], ifMissing: string, otherwise = ''): string[] =>
  snippets.map((snippet) => {
    const { pages, collections, missing } = snippet;
    const places = [...pages.map(({ file }) => file), ...collections.map(entryName)];
    return `${describeSnippet(snippet)}${missing ? ifMissing : otherwise}\n    ${places.join('\n    ')}`;
  });

export const describeSnippet = ({ id, params }: Request) =>
  `Snippet ${id}${params ? ` ${cleanText(params)}` : ''}`;

export const notWrittenLines = (notWritten: readonly NotWritten[]): string[] =>
  notWritten.map(({ name, reason }) => `${name} ${reason}`);
