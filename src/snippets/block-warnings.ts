import type { PlaceOf } from '../failures/embed-notes.ts';
import { lineFinder } from '../files/lines.ts';
import { isBlockLevel } from '../markup/start-tags.ts';
import { andMore } from './embed-messages.ts';
import type { FileEmbed } from './read-embeds.ts';

/** Finds blocks in paragraphs with other text, which browsers end there. */
export function blockFinder(htmlOf: (key: string) => string | undefined, placeOf: PlaceOf = () => '') {
  const known = new Map<string, boolean>();
  const isBlock = (key: string) => {
    if (!known.has(key)) known.set(key, isBlockLevel(htmlOf(key) ?? ''));
    return known.get(key);
  };
  const found = new Map<number, { first: string; others: number }>();
  return {
    add(name: string, page: Buffer, embeds: readonly FileEmbed[]): void {
      for (const { request, start, format, inParagraph, paragraph } of embeds) {
        if (!inParagraph || paragraph || format.as !== 'html' || format.layers.length > 0) continue;
        if (!isBlock(request.key)) continue;
        const places = found.get(request.id);
        if (places) places.others += 1;
        else found.set(request.id, { first: `${name}:${lineFinder(page)(start)}`, others: 0 });
      }
    },
    /** One for each snippet, with its first place. */
    warnings: (): string[] =>
      [...found].map(([id, { first, others }]) => {
        const place = placeOf({ id: String(id) });
        return `${first}${andMore(others)}: the content of snippet ${id} is a block, such as <p> or <div>, inside a paragraph with other text. A browser ends the paragraph there. Put the embed into its own paragraph.${place && ` Snippet ${id} is ${place}.`}`;
      }),
  };
}
