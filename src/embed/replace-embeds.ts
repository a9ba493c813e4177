import { applyEdits, type Edit } from '../markup/edits.ts';
import { toByteString } from '../markup/latin1.ts';
import { isBlockLevel } from '../markup/start-tags.ts';
import type { PlacedEmbed } from './found-embed.ts';
import type { InsertionFormat } from './insertion-format.ts';
import { encode } from './layers.ts';

export interface SnippetContent {
  html: string;
  text: string;
  /** Whether the HTML would swallow what follows it. */
  leavesOpen?: true | undefined;
}

export type Composed = ReturnType<typeof compose>;

/** @returns text whose characters are bytes, and whether no paragraph can contain it. */
export function compose(
  content: SnippetContent,
  { as, layers, mark }: InsertionFormat,
): {
  text: string;
  isBlock: boolean;
} {
  const encoded = encode(content[as], layers);
  // If the second mark is swallowed, it is part of a tag, or text.
  const marks = mark !== undefined && !(as === 'html' && content.leavesOpen);
  const written = marks ? `<!--snippet ${mark}-->${encoded}<!--/snippet ${mark}-->` : encoded;
  return { text: toByteString(written), isBlock: as === 'html' && isBlockLevel(content.html) };
}

/**
 * Replaces embeds with their contents or else children; where it is a block, with the paragraph that contains nothing else.
 * All other bytes stay, except `others`, whose characters are bytes.
 */
export function replaceEmbeds<Embed extends PlacedEmbed>(
  file: Buffer,
  embeds: readonly Embed[],
  contentOf: (embed: Embed) => Composed | undefined,
  others: readonly Edit[] = [],
  room?: Buffer,
): Buffer<ArrayBufferLike> {
  const page = file.toString('latin1');
  const edits = embeds.map((embed) => {
    const { text, isBlock } = contentOf(embed) ?? childrenOf(page, embed);
    const { start, end } = (isBlock && embed.paragraph) || embed;
    return { start, end, text };
  });
  const made = applyEdits(page, [...edits, ...others]);
  if (!room || made.length > room.length) return Buffer.from(made, 'latin1');
  return room.subarray(0, room.write(made, 'latin1'));
}

function childrenOf(page: string, { children, format, paragraph }: PlacedEmbed) {
  if (format.as === 'text')
    return { text: toByteString(encode(children.text ?? '', format.layers)), isBlock: false };
  const text = page.slice(children.start, children.end);
  return { text, isBlock: !!paragraph && isBlockLevel(text) };
}
