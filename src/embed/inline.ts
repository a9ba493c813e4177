import type { Form, FoundEmbed } from './found.ts';
import { isBlockLevel, type Range } from './html-scanner.ts';
import { encode } from './layers.ts';
import { type Replacement, replace } from './replace.ts';

/** A snippet's content, as HTML and as text. */
export interface Content {
  html: string;
  text: string;
  /** Whether the HTML would swallow what follows it. */
  leavesOpen?: true | undefined;
}

/** What inlining needs to know about an embed. */
export interface PlacedEmbed extends Pick<FoundEmbed, 'start' | 'end' | 'children' | 'form' | 'paragraph'> {
  /** Whether its children are shown where the snippet does not exist. */
  isOptional?: boolean;
}

/** The bytes of the new file that replaced an embed. */
export interface Placed<Embed> extends Range {
  embed: Embed;
  /** What an optional embed shows where the snippet does not exist. */
  children?: Buffer;
}

export interface Inlined<Embed> {
  file: Buffer;
  /** In the order of the file. */
  placed: Placed<Embed>[];
  /** The places of the other replacements in the new file. */
  otherPlaces: Range[];
}

/**
 * Encodes content for its place, as HTML or as text. A paragraph that contains nothing else stays around it, unless the
 * content is a block.
 *
 * @param id the snippet's, for a place that is marked.
 */
export function compose(content: Content, { as, layers, paragraph, isMarked }: Form, id?: number): Buffer {
  const encoded = encode(content[as], layers);
  // A second mark that is swallowed would be part of a tag, or text.
  const marks = isMarked && id !== undefined && !(as === 'html' && content.leavesOpen);
  const bytes = Buffer.from(marks ? `<!--snippet ${id}-->${encoded}<!--/snippet ${id}-->` : encoded);
  if (paragraph === undefined || (as === 'html' && isBlockLevel(content.html))) return bytes;
  return around(bytes, paragraph);
}

function around(bytes: Buffer, { before, after }: NonNullable<Form['paragraph']>): Buffer {
  return Buffer.concat([Buffer.from(before, 'latin1'), bytes, Buffer.from(after, 'latin1')]);
}

/**
 * Replaces embeds with their contents. Every byte outside an embed, and outside a paragraph that contains nothing else,
 * stays as it was. An embed inside content is not replaced.
 *
 * @param embeds in the order of the file, as `scan` gives them.
 * @param contentOf returns the content for an embed, or the bytes that {@link compose} makes of it, or `undefined` to
 * show its children.
 * @param others further replacements outside the embeds, in the order of the file.
 */
export function inline<Embed extends PlacedEmbed>(
  file: Buffer,
  embeds: readonly Embed[],
  contentOf: (embed: Embed) => Content | Buffer | undefined,
  others: readonly Replacement[] = [],
): Inlined<Embed> {
  const pieces: (Replacement & { embed?: Embed; children?: Buffer })[] = embeds.map((embed) => {
    const { start, end } = embed.paragraph ?? embed;
    const content = contentOf(embed) ?? childrenOf(file, embed);
    const bytes = Buffer.isBuffer(content) ? content : compose(content, embed.form);
    return embed.isOptional
      ? { start, end, bytes, embed, children: childrenOf(file, embed) }
      : { start, end, bytes, embed };
  });
  if (others.length > 0) pieces.push(...others);
  pieces.sort((a, b) => a.start - b.start);
  const replaced = replace(file, pieces);
  const inlined: Inlined<Embed> = { file: replaced.file, placed: [], otherPlaces: [] };
  for (const [index, place] of replaced.places.entries()) {
    const { embed, children } = pieces[index] ?? {};
    if (embed === undefined) inlined.otherPlaces.push(place);
    else inlined.placed.push(children === undefined ? { embed, ...place } : { embed, children, ...place });
  }
  return inlined;
}

/** The children as they are; their text where text is shown. */
function childrenOf(file: Buffer, { children, form }: PlacedEmbed): Buffer {
  const { as, layers, paragraph } = form;
  const bytes =
    as === 'text'
      ? Buffer.from(encode(children.text ?? '', layers))
      : file.subarray(children.start, children.end);
  if (paragraph === undefined || (as === 'html' && children.isBlockLevel)) return bytes;
  return around(bytes, paragraph);
}
