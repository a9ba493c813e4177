import { type Nesting, nestings, nestingsIn } from '../embed/nesting.ts';
import type { PlaceOf } from '../failures/embed-notes.ts';
import { lineFinder } from '../files/lines.ts';
import { andMore } from './embed-messages.ts';
import type { FileEmbed } from './read-embeds.ts';

/** Where a snippet does not fit into an element around its embeds: the file and line of the first one. */
interface Misfit {
  id: number;
  nesting: Nesting;
  first: string;
  others: number;
}

/** Warns about snippets inside elements in which browsers do not leave them, such as a link in a link. */
export class NestingWarnings {
  readonly #htmlOf: (key: string) => string | undefined;
  readonly #placeOf: PlaceOf | undefined;
  /** What is in a snippet's content, by the key of its request. */
  readonly #contents = new Map<string, readonly Nesting[]>();
  /** By the snippet's id and what the flaw is. */
  readonly #misfits = new Map<string, Misfit>();

  /** @param htmlOf the content of a snippet as pages show it, by the key of its request */
  constructor(htmlOf: (key: string) => string | undefined, placeOf?: PlaceOf) {
    this.#htmlOf = htmlOf;
    this.#placeOf = placeOf;
  }

  add(name: string, page: Buffer, embeds: readonly FileEmbed[]): void {
    for (const { request, start, format, around, paragraph } of embeds) {
      if (around.length === 0 || format.as !== 'html') continue;
      const { id, key } = request;
      const content = this.#contentOf(key);
      for (const nesting of around) {
        // A `paragraph` contains nothing but the embed, so a block replaces it, and needs no warning.
        const isReplaced = nesting === nestings.blockInParagraph && paragraph;
        if (isReplaced || !content.includes(nesting)) continue;

        const misfit = this.#misfits.get(`${id} ${nesting.message}`);
        if (misfit) misfit.others += 1;
        else {
          const first = `${name}:${lineFinder(page)(start)}`;
          this.#misfits.set(`${id} ${nesting.message}`, { id, nesting, first, others: 0 });
        }
      }
    }
  }

  /** The warnings, one for each snippet and flaw, with its first place. */
  warnings(): string[] {
    return [...this.#misfits.values()].map(({ id, nesting, first, others }) => {
      const source = this.#placeOf?.({ id: String(id) });
      return `${first}${andMore(others)}: the content of snippet ${id} ${nesting.message}${source ? ` Snippet ${id} is ${source}.` : ''}`;
    });
  }

  #contentOf(key: string): readonly Nesting[] {
    const content = this.#contents.get(key) ?? nestingsIn(this.#htmlOf(key) ?? '');
    this.#contents.set(key, content);
    return content;
  }
}
