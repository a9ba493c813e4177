import { type Manifest, pagesOf } from '../publish/manifest.ts';
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
export function reportRows(manifest: Manifest): ReportRow[] {
  const { snippets, before } = manifest;
  const shownOn = pagesOf(manifest);
  const shownBefore = new Map(before?.snippets.map((one) => [snippetKey(one.id, one.params), one.hash]));
  const rows = snippets.map(({ id, params, content }, index): ReportRow => {
    const key = snippetKey(id, params);
    const isNew = before !== undefined && !shownBefore.has(key);
    const isSame = shownBefore.get(key) === content?.hash;
    const change = before === undefined ? 'unknown' : isNew ? 'added' : isSame ? 'same' : 'changed';
    return { id, params, change, content, pages: [...(shownOn[index] ?? [])] };
  });
  const shown = new Set(snippets.map(({ id, params }) => snippetKey(id, params)));
  const gone = (before?.snippets ?? [])
    .filter(({ id, params }) => !shown.has(snippetKey(id, params)))
    .map(({ id, params }): ReportRow => ({ id, params, change: 'gone', content: undefined, pages: [] }));
  return [...rows, ...gone];
}
