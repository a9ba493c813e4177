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
}

// Most embeds have none.
const noChildren: FileEmbed['children'] = Object.freeze({ start: 0, end: 0, isBlockLevel: false });

/**
 * Keeps embeds as numbers between scan and inline: as objects, the half million of a large site would take more memory
 * than everything else that is kept of it.
 */
export class EmbedStore {
  // Start, end, request and shape of each; then the range of its children and of its paragraph, if it has them.
  #numbers = new Uint32Array(4096);
  #length = 0;
  readonly #requests: SnippetRequest[] = [];
  readonly #requestIndexes = new Map<SnippetRequest, number>();
  readonly #shapes: Shape[] = [];
  readonly #shapeIndexes = new Map<string, number>();

  add(embeds: readonly FileEmbed[]): StoredEmbeds {
    const at = this.#length;
    for (const embed of embeds) this.#add(embed);
    return { at, count: embeds.length };
  }

  #add({ start, end, request, children, paragraph, form, inHeading, inParagraph }: FileEmbed): void {
    const hasChildren = children.start !== children.end;
    const hasParagraph = paragraph !== undefined;
    const { isBlockLevel } = children;
    const shape = { form, inHeading, inParagraph, hasChildren, isBlockLevel, hasParagraph };
    if (this.#length + 8 > this.#numbers.length) this.#grow();
    this.#push(start, end);
    this.#push(this.#requestIndex(request), this.#shapeIndex(shape));
    if (hasChildren) this.#push(children.start, children.end);
    if (hasParagraph) this.#push(paragraph.start, paragraph.end);
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
      const { form, inHeading, inParagraph, hasChildren, isBlockLevel, hasParagraph } = shape;
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
      embeds.push(embed);
    }
    return embeds;
  }

  #range(at: number): { start: number; end: number } {
    return { start: this.#numbers[at] ?? 0, end: this.#numbers[at + 1] ?? 0 };
  }
}

function keyOf({ form, inHeading, inParagraph, hasChildren, isBlockLevel, hasParagraph }: Shape): string {
  const flags =
    (inHeading ? 1 : 0) |
    (inParagraph ? 2 : 0) |
    (hasChildren ? 4 : 0) |
    (isBlockLevel ? 8 : 0) |
    (hasParagraph ? 16 : 0);
  return `${flags} ${formKey(form)}`;
}
