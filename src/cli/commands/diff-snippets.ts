import { findChangedSnippets, imageLines } from '../../record/changes.ts';
import type { RefreshPlan } from '../../refresh/plan-refresh.ts';
import { count } from '../../text/format.ts';
import type { RefreshOutput } from '../json-output.ts';
import { toShownFile } from '../project/describe-snippets.ts';
import type { FetchedChanges } from '../project/fetch-changes.ts';

type SnippetDiffs = NonNullable<RefreshOutput['diffs']>;

/** The most lines that a diff may remove or add: the time to find a diff grows with the square of this. */
const maxEditLength = 1_000;

/** Makes a unified diff of each snippet that would change on the planned pages, for `refresh --dry-run`. */
export async function diffSnippets(
  { manifest, fetched, names, currentContents }: FetchedChanges,
  { pages: plannedPages }: RefreshPlan,
): Promise<SnippetDiffs> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff');
  const options = { context: 2, headerOptions: FILE_HEADERS_ONLY, maxEditLength };

  const files = plannedPages.map(({ page }) => page);
  const changedSnippets = findChangedSnippets({ ...manifest, files, collections: [] }, currentContents);
  const diffs: SnippetDiffs = [];
  for (const { recorded, pages, only } of changedSnippets) {
    const { id, params, key } = recorded;
    // If the content is the same, the names of its images are compared.
    const current = fetched.get(key);
    const oldText = only ? imageLines(recorded.content ?? {}) : (recorded.content?.text ?? '');
    const newText = only ? imageLines(current ?? {}) : (current?.content ?? '');
    // A page that the last refresh left out shows older content, which is not on record, so it has no diff.
    if (oldText === newText) continue;

    const patch =
      createTwoFilesPatch('on the site', 'published', oldText, newText, '', '', options) ??
      `--- on the site\n+++ published\nToo different to compare line by line: ${countLines(oldText)} before, ${countLines(newText)} after.\n`;
    // The marker is removed: it is about files, and the content of a snippet need not end with a line break.
    const patchWithoutMarker = patch.replaceAll('\n\\ No newline at end of file', '');
    diffs.push({
      id,
      params,
      name: names?.[id],
      pages: pages.map((name) => toShownFile(manifest, name)),
      patch: patchWithoutMarker,
    });
  }
  return diffs;
}

function countLines(text: string) {
  return count(text.replace(/\n$/, '').split('\n').length, 'line');
}
