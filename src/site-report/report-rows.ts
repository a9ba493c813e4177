import type { Manifest } from '../publish/manifest.ts';
import { snippetKey } from '../wanted/snippet-key.ts';

/** What happened to a snippet since the build or refresh before. Unknown where there is no record of one. */
export type Change = 'added' | 'changed' | 'gone' | 'same' | 'unknown';

export interface ReportRow {
  id: number;
  params: string | undefined;
  change: Change;
  /** None where the snippet could not be had, or is gone. */
  content: Manifest['snippets'][number]['content'];
  /** The pages that show it, without repetition. */
  pages: string[];
}

/** One row for each snippet that the site shows, and for each that it showed before and does not any more. */
export function reportRows({ snippets, pages, before }: Manifest): ReportRow[] {
  const shownBefore = new Map(before?.snippets.map((one) => [snippetKey(one.id, one.params), one.hash]));
  const rows = snippets.map(({ id, params, content }): ReportRow => {
    const key = snippetKey(id, params);
    const isNew = before !== undefined && !shownBefore.has(key);
    const isSame = shownBefore.get(key) === content?.hash;
    const change = before === undefined ? 'unknown' : isNew ? 'added' : isSame ? 'same' : 'changed';
    return { id, params, change, content, pages: [] };
  });
  for (const { name, embeds } of pages) {
    for (const index of new Set(embeds.map(({ snippet }) => snippet))) rows[index]?.pages.push(name);
  }
  const shown = new Set(snippets.map(({ id, params }) => snippetKey(id, params)));
  const gone = (before?.snippets ?? [])
    .filter(({ id, params }) => !shown.has(snippetKey(id, params)))
    .map(({ id, params }): ReportRow => ({ id, params, change: 'gone', content: undefined, pages: [] }));
  return [...rows, ...gone];
}
