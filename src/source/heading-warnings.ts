import { withoutCodeSpans } from '../embed/code-spans.ts';
import { readMarkdown } from './markdown-sources.ts';
import type { SourceFolders } from './source-files.ts';

/** A heading of Markdown that contains embeds. */
export interface EmbeddingHeading {
  /** Counted from 1. */
  line: number;
  /** The ids of its snippets; `undefined` for one that is written as an expression. */
  ids: (number | undefined)[];
}

/** What matters here of an embed. */
interface EmbedOfPage {
  /** Whether it is in a heading with an id. */
  inHeading: boolean;
  request: { id: number };
}

/** The ids of snippets that are shown in headings with ids. */
export function idsInHeadings(embeds: readonly EmbedOfPage[]): Set<number> {
  return new Set(embeds.filter(({ inHeading }) => inHeading).map(({ request }) => request.id));
}

/**
 * Warns about each embed in a Markdown heading, with its source. Astro writes a heading's slug and its entry in the
 * table of contents before any snippet is fetched. The sources are only searched if a page shows such a heading.
 *
 * @param ids see {@link idsInHeadings}; of all pages.
 */
export async function headingWarnings(ids: ReadonlySet<number>, folders: SourceFolders): Promise<string[]> {
  if (ids.size === 0) return [];
  const shown = new Set<number | undefined>([undefined, ...ids]);
  const warnings: string[] = [];
  for (const { name, text } of await readMarkdown(folders)) {
    for (const { line, ids: written } of embeddingHeadings(text)) {
      if (written.some((id) => shown.has(id))) warnings.push(`${name}:${line} ${warning}`);
    }
  }
  return warnings;
}

const warning =
  'has an embed in a heading. Its slug and its entry in the table of contents are without the snippet: Astro writes them before snippets are fetched. Put the embed into the frontmatter title or below the heading, or write the heading as <h2 id="…">, which has no entry there.';

const frontmatter = /^\ufeff?(---|\+\+\+)[ \t]*\r?\n[\s\S]*?\n\1[ \t]*(?=\r?\n|$)/;
// Also inside a quote or a list.
const heading = /^(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t])*#{1,6}[ \t]/;
const underline = /^[ \t>]*(?:=+|-+)[ \t]*\r?$/;
const tag = /<(?:snippet-embed|snippet)(?=[\s/>])([^>]*)/gi;

/** Finds headings with embeds in Markdown or MDX, except those written as elements. */
export function embeddingHeadings(markdown: string): EmbeddingHeading[] {
  if (!/<snippet/i.test(markdown)) return [];
  const blanked = markdown.replace(frontmatter, (found) => found.replace(/[^\n]/g, ' '));
  const withoutCode = withoutCodeSpans(blanked);
  // Blanked code has lost its line breaks, so lines are cut by their offsets.
  let start = 0;
  const lines = markdown.split('\n').map((line) => {
    const text = withoutCode.slice(start, start + line.length);
    start += line.length + 1;
    return text;
  });
  const found: EmbeddingHeading[] = [];
  for (const [index, text] of lines.entries()) {
    if (!heading.test(text) && !underline.test(lines[index + 1] ?? '')) continue;
    const ids = [...text.matchAll(tag)].map(([, attributes = '']) => {
      const id = /\bid\s*=[\s{"']*(\d+)/i.exec(attributes)?.[1];
      return id === undefined ? undefined : Number(id);
    });
    if (ids.length > 0) found.push({ line: index + 1, ids });
  }
  return found;
}
