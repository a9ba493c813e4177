import { type Nesting, nestings, nestingsIn } from '../embed/nesting.ts';
import { nameSnippet } from '../failures/name-snippet.ts';
import {
  type ContentFlaw,
  type SnippetWarning,
  toSnippetFlaw,
  WarningList,
} from '../failures/snippet-warning.ts';
import { lineFinder } from '../files/lines.ts';
import type { FileEmbed } from './read-embeds.ts';

/** The content of a snippet as pages show it, with the snippet's name if that is known. */
export interface NestedSnippet {
  html: string;
  knownName?: string | undefined;
}

/** Warns about snippets inside elements in which browsers do not leave them, such as a link in a link. */
export class NestingWarnings {
  readonly #snippets: ReadonlyMap<string, NestedSnippet>;
  /** What is in a snippet's content, by the key of its request. */
  readonly #contents = new Map<string, readonly Nesting[]>();
  readonly #warnings = new WarningList();

  /** @param snippets the snippets to warn of, by the keys of their requests */
  constructor(snippets: ReadonlyMap<string, NestedSnippet>) {
    this.#snippets = snippets;
  }

  add(place: string, page: Buffer, embeds: readonly FileEmbed[]): void {
    const lineOf = lineFinder(page);
    for (const { request, start, format, around, paragraph } of embeds) {
      const snippet = this.#snippets.get(request.key);
      if (!snippet || around.length === 0 || format.as !== 'html') continue;
      const content = this.#nestingsOf(request.key, snippet.html);
      const subject = nameSnippet({ id: request.id, name: snippet.knownName });
      for (const nesting of around) {
        // A `paragraph` contains nothing but the embed, so a block replaces it, and needs no warning.
        const isReplaced = nesting === nestings.blockInParagraph && paragraph;
        if (isReplaced || !content.includes(nesting)) continue;
        const flaw = toSnippetFlaw(subject, nestingFlaw(nesting));
        this.#warnings.add(flaw, { request, place, line: lineOf(start) });
      }
    }
  }

  get list(): SnippetWarning[] {
    return this.#warnings.list;
  }

  #nestingsOf(key: string, html: string): readonly Nesting[] {
    const content = this.#contents.get(key) ?? nestingsIn(html);
    this.#contents.set(key, content);
    return content;
  }
}

const nestingFlaw = (nesting: Nesting): ContentFlaw => ({
  code: nesting === nestings.blockInParagraph ? 'block-in-paragraph' : 'invalid-nesting',
  text: nesting.message,
});
