import { count } from '../client/format.ts';
import { isBlockLevel } from '../embed/html-scanner.ts';
import { type FileEmbed, lineFinder } from './file-embeds.ts';

/** A page before its snippets are inlined. */
export interface PageWithEmbeds {
  /** How people know it. */
  name: string;
  embeds: readonly FileEmbed[];
  /** Its bytes. Only called for a page that gets a warning. */
  read(): Buffer;
}

/**
 * Warns about each snippet with block-level content in a paragraph that contains something else, too: a browser ends the
 * paragraph there. One warning for each snippet, with its first place.
 *
 * @param htmlOf the HTML of a snippet by the key of its request; `undefined` if it has none.
 */
export function blockWarnings(
  pages: Iterable<PageWithEmbeds>,
  htmlOf: (key: string) => string | undefined,
): string[] {
  const isBlock = new Map<string, boolean>();
  const found = new Map<number, { place: string; times: number }>();
  for (const { name, embeds, read } of pages) {
    for (const { request, start, form, inParagraph, paragraph } of embeds) {
      if (!inParagraph || paragraph !== undefined || form.as !== 'html' || form.layers.length > 0) continue;
      const { id, key } = request;
      if (!isBlock.has(key)) isBlock.set(key, isBlockLevel(htmlOf(key) ?? ''));
      if (isBlock.get(key) !== true) continue;
      const known = found.get(id);
      if (known === undefined) found.set(id, { place: `${name}:${lineFinder(read())(start)}`, times: 1 });
      else known.times += 1;
    }
  }
  return [...found].map(
    ([id, { place, times }]) =>
      `${place}${times > 1 ? ` and ${count(times - 1, 'more time')}` : ''}: the content of snippet ${id} is a block, such as <p> or <div>, inside a paragraph with other text. A browser ends the paragraph there. Put the embed into a paragraph of its own.`,
  );
}
