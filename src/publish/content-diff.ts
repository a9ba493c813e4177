import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import type { Manifest } from './manifest.ts';
import type { RefreshedPage } from './refresh.ts';

/** How what stands in pages is to change, and on which. */
export interface ContentDiff {
  id: number;
  params: string | undefined;
  pages: string[];
  /** A unified diff, as the service's text has it: not clean enough for a terminal. */
  patch: string;
}

/** Says what a refresh changes: one diff for each snippet, however many pages show it. */
export function diffContents({ snippets }: Manifest, pages: readonly RefreshedPage[]): ContentDiff[] {
  const diffs = new Map<string, ContentDiff>();
  for (const { page, before, after, next } of pages) {
    for (const [index, embed] of page.embeds.entries()) {
      const embedAfter = next.embeds[index];
      const snippet = snippets[embed.snippet];
      if (embedAfter === undefined || snippet === undefined || embed.content === embedAfter.content) continue;
      const was = before.toString('utf8', embed.start, embed.end);
      const is = after.toString('utf8', embedAfter.start, embedAfter.end);
      const key = JSON.stringify([embed.snippet, was, is]);
      const { id, params } = snippet;
      const diff = diffs.get(key) ?? { id, params, pages: [], patch: patchOf(was, is) };
      if (!diff.pages.includes(page.name)) diff.pages.push(page.name);
      diffs.set(key, diff);
    }
  }
  return [...diffs.values()];
}

function patchOf(before: string, after: string): string {
  const patch = createTwoFilesPatch('on the site', 'published', before, after, '', '', {
    context: 2,
    headerOptions: FILE_HEADERS_ONLY,
  });
  // Content is no file: whether it ends with a line break is nothing to tell people.
  return patch.replaceAll('\n\\ No newline at end of file', '');
}
