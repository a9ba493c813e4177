import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { count } from '../client/format.ts';
import { type Changes, shownOn } from './changes.ts';
import type { Manifest, ManifestFile } from './manifest.ts';

// In lines that are removed or added. The time for a comparison grows with its square.
const maxEdits = 1_000;

/** For each way that a snippet changes on these pages, a unified diff of its content. Not safe for a terminal yet. */
export function contentDiffs(
  manifest: Manifest,
  pages: ManifestFile[],
  { fetched, now }: Pick<Changes, 'fetched' | 'now'>,
) {
  const shown = shownOn({ ...manifest, files: pages, collections: [] }, now);
  return shown.flatMap(({ recorded: { id, params, key, content }, pages }) => {
    const before = content?.text ?? '';
    const after = fetched.get(key)?.content ?? '';
    // What a page shows that the last refresh left out is not recorded.
    return before === after ? [] : [{ id, params, pages, patch: patchOf(before, after) }];
  });
}

function patchOf(before: string, after: string): string {
  const patch = createTwoFilesPatch('on the site', 'published', before, after, '', '', {
    context: 2,
    headerOptions: FILE_HEADERS_ONLY,
    maxEditLength: maxEdits,
  });
  // Content is not a file: whether it ends with a line break does not matter.
  if (patch !== undefined) return patch.replaceAll('\n\\ No newline at end of file', '');
  const [was, is] = [before, after].map((text) => count(text.replace(/\n$/, '').split('\n').length, 'line'));
  return `--- on the site\n+++ published\nToo different to compare line by line: ${was} before, ${is} after.\n`;
}
