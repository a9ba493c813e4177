import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { count } from '../client/format.ts';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { type Manifest, placesIn, requestsOf } from './manifest.ts';
import type { Place } from './places.ts';
import type { ComparedPage } from './refresh.ts';

// In lines that are removed or added. The time for a comparison grows with its square, and beyond this it helps no reader.
const maxEdits = 1_000;

/** How the content of a snippet changes on some pages. */
export interface ContentDiff {
  request: SnippetRequest;
  pages: string[];
  /**
   * A unified diff of the service's own text as the pages show it, and as they would, or, if they have too little in common, its header with a line that says so. Not safe for a
   * terminal yet.
   */
  patch: string;
}

export interface ContentDiffs {
  /** Compares a page of a refresh. */
  add(page: ComparedPage): void;
  /** One for each snippet and each way it changes. */
  list(): ContentDiff[];
}

/** Collects the changes of a refresh, page by page. */
export function collectDiffs(manifest: Manifest): ContentDiffs {
  const requests = requestsOf(manifest);
  const diffs = new Map<string, ContentDiff>();
  return {
    add({ page, before, after, next }) {
      for (const [index, place] of placesIn(manifest, page).entries()) {
        const placeAfter = next.places[index];
        const request = requests[place.snippet];
        if (placeAfter === undefined || request === undefined || place.content === placeAfter.content)
          continue;
        const was = textAt(before, place);
        const is = textAt(after, placeAfter);
        const key = JSON.stringify([place.snippet, was, is]);
        const diff = diffs.get(key) ?? {
          request,
          pages: [],
          patch: patchOf(was, is),
        };
        if (diff.pages.at(-1) !== page.name) diff.pages.push(page.name);
        diffs.set(key, diff);
      }
    },
    list: () => [...diffs.values()],
  };
}

/** Without marks, which are not the service's. */
function textAt(page: Buffer, { start, end, form }: Place): string {
  const text = page.toString('utf8', start, end);
  return form.isMarked ? text.replace(/<!--\/?snippet \d+-->/g, '') : text;
}

function patchOf(before: string, after: string): string {
  const patch = createTwoFilesPatch('on the site', 'published', before, after, '', '', {
    context: 2,
    headerOptions: FILE_HEADERS_ONLY,
    maxEditLength: maxEdits,
  });
  if (patch === undefined) {
    const lines = `${count(linesIn(before), 'line')} before, ${count(linesIn(after), 'line')} after`;
    return `--- on the site\n+++ published\nToo different to compare line by line: ${lines}.\n`;
  }
  // Content is not a file: whether it ends with a line break does not matter.
  return patch.replaceAll('\n\\ No newline at end of file', '');
}

function linesIn(text: string): number {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.length - 1 : lines.length;
}
