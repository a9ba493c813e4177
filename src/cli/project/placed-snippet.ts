import { fileKind } from '../../files/file-kind.ts';
import type { SnippetUsage } from '../../record/changes.ts';
import type { Manifest } from '../../record/manifest.ts';
import { publishedUrl } from '../../settings/site-urls.ts';
import type { PlacedSnippet, ShownFile } from '../json-output.ts';

/** A file of the output as documents of `--json` name it. @param file its path in the output, with slashes */
export function toShownFile({ urls }: Pick<Manifest, 'urls'>, file: string): ShownFile {
  return { file, url: publishedUrl(file, fileKind(file) === 'html', urls) };
}

/**
 * A snippet as documents of `--json` show it: facts about it stand between what was asked for and where it is
 * shown.
 */
export function toPlacedSnippet<Facts>(
  manifest: Pick<Manifest, 'urls'>,
  { recorded, pages, collections }: SnippetUsage,
  facts: Facts,
): PlacedSnippet & Facts {
  const { id, params } = recorded;
  return { id, params, ...facts, pages: pages.map((file) => toShownFile(manifest, file)), collections };
}
