import type { PlaceOf } from '../failures/embed-notes.ts';
import { lineFinder } from '../files/lines.ts';
import { isBlockLevel } from '../markup/start-tags.ts';
import { andMore } from './embed-messages.ts';
import type { FileEmbed } from './read-embeds.ts';

/** Warns about snippets that are blocks, such as `<div>`, in a paragraph with text: browsers end it there. */
export class BlockWarnings {
  readonly #htmlOf: (key: string) => string | undefined;
  readonly #placeOf: PlaceOf | undefined;
  /** Whether a snippet's content is a block, by the key of its request. */
  readonly #isBlock = new Map<string, boolean>();
  /** The file and line of a snippet's first such embed, and the number of others, by the snippet's id. */
  readonly #places = new Map<number, { first: string; others: number }>();

  /** @param htmlOf the content of a snippet as pages show it, by the key of its request */
  constructor(htmlOf: (key: string) => string | undefined, placeOf?: PlaceOf) {
    this.#htmlOf = htmlOf;
    this.#placeOf = placeOf;
  }

  add(name: string, page: Buffer, embeds: readonly FileEmbed[]): void {
    for (const { request, start, format, inParagraph, paragraph } of embeds) {
      // A `paragraph` contains nothing but the embed, so a block replaces it, and needs no warning.
      const isAmongText = inParagraph && !paragraph;
      const isElement = format.as === 'html' && format.layers.length === 0;
      if (!isAmongText || !isElement || !this.#isBlockLevel(request.key)) continue;

      const places = this.#places.get(request.id);
      if (places) places.others += 1;
      else this.#places.set(request.id, { first: `${name}:${lineFinder(page)(start)}`, others: 0 });
    }
  }

  /** The warnings, one for each snippet, with its first place. */
  warnings(): string[] {
    return [...this.#places].map(([id, { first, others }]) => {
      const source = this.#placeOf?.({ id: String(id) });
      return `${first}${andMore(others)}: the content of snippet ${id} is a block, such as <p> or <div>, inside a paragraph with other text. A browser ends the paragraph there. Put the embed into its own paragraph.${source ? ` Snippet ${id} is ${source}.` : ''}`;
    });
  }

  #isBlockLevel(key: string): boolean {
    let isBlock = this.#isBlock.get(key);
    if (isBlock === undefined) {
      isBlock = isBlockLevel(this.#htmlOf(key) ?? '');
      this.#isBlock.set(key, isBlock);
    }
    return isBlock;
  }
}
