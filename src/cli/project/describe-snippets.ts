import { nameSnippet } from '../../failures/name-snippet.ts';
import { entryName } from '../../failures/places.ts';
import { fileKind } from '../../files/file-kind.ts';
import type { ChangedSnippet, SnippetUsage } from '../../record/changes.ts';
import type { Manifest } from '../../record/manifest.ts';
import { publishedUrl } from '../../settings/site-urls.ts';
import type { NotWritten, PlacedSnippet, ShownFile } from '../json-output.ts';

/** A file of the output as documents of `--json` name it. @param file its path in the output, with slashes */
export function toShownFile({ urls }: Pick<Manifest, 'urls'>, file: string): ShownFile {
  return { file, url: publishedUrl(file, fileKind(file) === 'html', urls) };
}

/** A snippet as documents of `--json` show it: the request, then facts about it, then where it is shown. */
export function toPlacedSnippet<Facts>(
  site: Pick<Manifest, 'urls' | 'names'>,
  { recorded, pages, collections }: SnippetUsage,
  facts: Facts,
): PlacedSnippet & Facts {
  const { id, params } = recorded;
  const name = site.names?.[id];
  return { id, params, name, ...facts, pages: pages.map((file) => toShownFile(site, file)), collections };
}

/**
 * A line for each snippet, and below it a line for each file or collection entry that shows it.
 *
 * @param missing follows the name of a snippet that does not exist
 * @param existing follows the name of any other snippet
 */
export function snippetLines(
  snippets: readonly (PlacedSnippet & Pick<ChangedSnippet, 'only'>)[],
  missing: string,
  existing = '',
): string[] {
  return snippets.map((snippet) => {
    const { pages, collections, only } = snippet;
    const places = [...pages.map(({ file }) => file), ...collections.map(entryName)];
    const state = only ? ` has the same content, but another ${only.replace('images', 'image')}` : existing;
    const heading = `${nameSnippet(snippet, Infinity)}${snippet.missing ? missing : state}`;
    return `${heading}\n    ${places.join('\n    ')}`;
  });
}

/** A line for each file or command that was not updated: a sentence without its period. */
export function notWrittenLines(notWritten: readonly NotWritten[]): string[] {
  return notWritten.map(({ name, reason }) => `${name} ${reason}`);
}
