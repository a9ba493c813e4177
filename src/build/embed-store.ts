import type { SnippetRequest } from '../client/snippet-request.ts';
import { formKey } from '../embed/found.ts';
import type { FileEmbed } from '../snippets/file-embeds.ts';

/** The embeds of a file in an {@link EmbedStore}. */
export interface StoredEmbeds {
  /** Where their numbers begin. */
  at: number;
  count: number;
}

/** What embeds that are alike have in common. Most embeds of a site share a few. */
interface Shape extends Pick<FileEmbed, 'form' | 'inHeading' | 'inParagraph'> {
  hasChildren: boolean;
  isBlockLevel: boolean;
  hasParagraph: boolean;
  hasTexts: boolean;
  isOptional: boolean;
}

// Most embeds have none.
const noChildren: FileEmbed['children'] = Object.freeze({ start: 0, end: 0, isBlockLevel: false });

/** How many numbers an embed takes if it has everything. */
const mostNumbers = 10;

/**
 * Keeps embeds as numbers between scan and inline: as objects, the half million of a large site would take more memory
 * than everything else that is kept of it.
 */
export class EmbedStore {
  // Start, end, request and shape of each; then the range of its children and of its paragraph, if it has them; then the
  // text of its children and its request as it is written, if it has one of them.
  #numbers = new Uint32Array(4096);
  #length = 0;
  readonly #requests: SnippetRequest[] = [];
  readonly #requestIndexes = new Map<SnippetRequest, number>();
  readonly #texts: (string | undefined)[] = [undefined];
  readonly #textIndexes = new Map<string | undefined, number>([[undefined, 0]]);
  readonly #shapes: Shape[] = [];
  readonly #shapeIndexes = new Map<string, number>();

  add(embeds: readonly FileEmbed[]): StoredEmbeds {
    const at = this.#length;
    for (const embed of embeds) this.#add(embed);
    return { at, count: embeds.length };
  }

  #add(embed: FileEmbed): void {
    const { start, end, request, children, paragraph, written } = embed;
    const shape = shapeOf(embed);
    if (this.#length + mostNumbers > this.#numbers.length) this.#grow();
    this.#push(start, end);
    this.#push(this.#requestIndex(request), this.#shapeIndex(shape));
    if (shape.hasChildren) this.#push(children.start, children.end);
    if (paragraph !== undefined) this.#push(paragraph.start, paragraph.end);
    if (shape.hasTexts) this.#push(this.#textIndex(children.text), this.#textIndex(written));
  }

  #push(first: number, second: number): void {
    this.#numbers[this.#length] = first;
    this.#numbers[this.#length + 1] = second;
    this.#length += 2;
  }

  #grow(): void {
    const numbers = new Uint32Array(Math.ceil(this.#numbers.length * 1.5));
    numbers.set(this.#numbers);
    this.#numbers = numbers;
  }

  #requestIndex(request: SnippetRequest): number {
    const known = this.#requestIndexes.get(request);
    if (known !== undefined) return known;
    const index = this.#requests.push(request) - 1;
    this.#requestIndexes.set(request, index);
    return index;
  }

  #textIndex(text: string | undefined): number {
    const known = this.#textIndexes.get(text);
    if (known !== undefined) return known;
    const index = this.#texts.push(text) - 1;
    this.#textIndexes.set(text, index);
    return index;
  }

  #shapeIndex(shape: Shape): number {
    const key = keyOf(shape);
    const known = this.#shapeIndexes.get(key);
    if (known !== undefined) return known;
    const index = this.#shapes.push(shape) - 1;
    this.#shapeIndexes.set(key, index);
    return index;
  }

  /** The embeds of a file. Those that are written alike share one `form`. */
  read({ at, count }: StoredEmbeds): FileEmbed[] {
    const embeds: FileEmbed[] = [];
    for (let next = at; embeds.length < count; ) {
      const range = this.#range(next);
      const request = this.#requests[this.#numbers[next + 2] ?? -1];
      const shape = this.#shapes[this.#numbers[next + 3] ?? -1];
      if (request === undefined || shape === undefined) throw new RangeError('There are no embeds here.');
      const { form, inHeading, inParagraph, hasChildren, isBlockLevel, hasParagraph, hasTexts, isOptional } =
        shape;
      next += 4;
      let children = noChildren;
      if (hasChildren) {
        children = { ...this.#range(next), isBlockLevel };
        next += 2;
      }
      const embed: FileEmbed = { ...range, children, form, inHeading, inParagraph, request };
      if (hasParagraph) {
        embed.paragraph = this.#range(next);
        next += 2;
      }
      if (hasTexts) {
        const { start, end } = this.#range(next);
        const [text, written] = [this.#texts[start], this.#texts[end]];
        if (text !== undefined) embed.children = { ...children, text };
        if (written !== undefined) embed.written = written;
        next += 2;
      }
      if (isOptional) embed.isOptional = true;
      embeds.push(embed);
    }
    return embeds;
  }

  #range(at: number): { start: number; end: number } {
    return { start: this.#numbers[at] ?? 0, end: this.#numbers[at + 1] ?? 0 };
  }
}

function shapeOf(embed: FileEmbed): Shape {
  const { children, paragraph, form, inHeading, inParagraph, written, isOptional = false } = embed;
  return {
    form,
    inHeading,
    inParagraph,
    hasChildren: children.start !== children.end,
    isBlockLevel: children.isBlockLevel,
    hasParagraph: paragraph !== undefined,
    hasTexts: children.text !== undefined || written !== undefined,
    isOptional,
  };
}

function keyOf(shape: Shape): string {
  const { form, inHeading, inParagraph, hasChildren, isBlockLevel, hasParagraph, hasTexts, isOptional } =
    shape;
  const flags =
    (inHeading ? 1 : 0) |
    (inParagraph ? 2 : 0) |
    (hasChildren ? 4 : 0) |
    (isBlockLevel ? 8 : 0) |
    (hasParagraph ? 16 : 0) |
    (hasTexts ? 32 : 0) |
    (isOptional ? 64 : 0);
  return `${flags} ${formKey(form)}`;
}
