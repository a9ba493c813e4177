import type { Form, FoundEmbed } from './found.ts';
import { isBlockLevel, type Range } from './html-scanner.ts';
import { encode } from './layers.ts';
import { type Replacement, replace } from './replace.ts';

/** What a snippet says: as HTML, and as the text of it. */
export interface Content {
  html: string;
  text: string;
}

/** What was put into a file in the place of an embed: the bytes of the new file that it takes. */
export interface Placed<Embed> extends Range {
  embed: Embed;
}

export interface Inlined<Embed> {
  file: Buffer;
  /** In the order of the file. */
  placed: Placed<Embed>[];
  /** Where what was replaced besides the embeds stands in the new file. */
  otherPlaces: Range[];
}

/**
 * The bytes that stand for a content: as HTML or text, written as the place around demands. A paragraph that holds
 * nothing else stays around it, or gives way to what a paragraph cannot hold.
 */
export function compose(content: Content, { as, layers, paragraph }: Form): Buffer {
  const bytes = Buffer.from(encode(content[as], layers));
  return as === 'html' && isBlockLevel(content.html) ? bytes : around(bytes, paragraph);
}

function around(bytes: Buffer, paragraph: Form['paragraph']): Buffer {
  if (paragraph === undefined) return bytes;
  const { before, after } = paragraph;
  return Buffer.concat([Buffer.from(before, 'latin1'), bytes, Buffer.from(after, 'latin1')]);
}

/**
 * Puts content in the place of embeds, and returns the new file. Every byte outside an embed, and outside the
 * paragraph that holds nothing else, stays as it was. Done once: what looks like an embed inside the content is
 * left as it is.
 *
 * @param embeds in the order of the file, as `scan` gives them.
 * @param contentOf the content for an embed; `undefined` for its children, which go in as they stand.
 * @param others what else is to be replaced, outside the embeds, in the order of the file.
 */
export function inline<Embed extends FoundEmbed>(
  file: Buffer,
  embeds: readonly Embed[],
  contentOf: (embed: Embed) => Content | undefined,
  others: readonly Replacement[] = [],
): Inlined<Embed> {
  const pieces: (Replacement & { embed?: Embed })[] = embeds.map((embed) => {
    const { start, end } = embed.paragraph ?? embed;
    const content = contentOf(embed);
    const bytes = content === undefined ? childrenOf(file, embed) : compose(content, embed.form);
    return { start, end, bytes, embed };
  });
  if (others.length > 0) pieces.push(...others);
  pieces.sort((a, b) => a.start - b.start);
  const replaced = replace(file, pieces);
  const inlined: Inlined<Embed> = { file: replaced.file, placed: [], otherPlaces: [] };
  for (const [index, place] of replaced.places.entries()) {
    const { embed } = pieces[index] ?? {};
    if (embed === undefined) inlined.otherPlaces.push(place);
    else inlined.placed.push({ embed, ...place });
  }
  return inlined;
}

function childrenOf(file: Buffer, { children, form }: FoundEmbed): Buffer {
  const bytes = file.subarray(children.start, children.end);
  return children.isBlockLevel ? bytes : around(bytes, form.paragraph);
}
