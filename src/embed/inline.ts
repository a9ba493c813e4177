import type { EmbedAs } from './element.ts';
import { applyEdits, type Edit, isBlockLevel } from './html-scanner.ts';
import { asBytes, encode, type Layer } from './layers.ts';
import type { FoundEmbed } from './scan.ts';

/** How content is written in one place of a file. */
export interface Form {
  as: EmbedAs;
  /** The encodings around the content, outermost first. */
  layers: readonly Layer[];
  /** What comments around the content say. */
  mark?: string | undefined;
}

/** Equal for equal forms. */
export function formKey({ as, layers, mark }: Form): string {
  return `${as} ${layers.join()} ${mark}`;
}

export interface Content {
  html: string;
  text: string;
  /** Whether the HTML would swallow what follows it. */
  leavesOpen?: true | undefined;
}

/** Content as it is written in places of one form. */
export interface Composed {
  /** Every character is a byte. */
  text: string;
  /** Whether no paragraph can contain it. */
  isBlock: boolean;
}

export type PlacedEmbed = Pick<FoundEmbed, 'start' | 'end' | 'children' | 'form' | 'paragraph'>;

export function compose(content: Content, { as, layers, mark }: Form): Composed {
  const encoded = encode(content[as], layers);
  // A second mark that is swallowed would be part of a tag, or text.
  const marks = mark !== undefined && !(as === 'html' && content.leavesOpen);
  const written = marks ? `<!--snippet ${mark}-->${encoded}<!--/snippet ${mark}-->` : encoded;
  return { text: asBytes(written), isBlock: as === 'html' && isBlockLevel(content.html) };
}

/**
 * Replaces embeds with their contents, or their children where `contentOf` has none; a paragraph that contains nothing
 * else goes if the content is a block. Every other byte stays as it was, `others` apart, whose characters are bytes, too.
 */
export function inline<Embed extends PlacedEmbed>(
  file: Buffer,
  embeds: readonly Embed[],
  contentOf: (embed: Embed) => Composed | undefined,
  others: readonly Edit[] = [],
  room?: Buffer,
): Buffer {
  const page = file.toString('latin1');
  const edits = embeds.map((embed): Edit => {
    const { text, isBlock } = contentOf(embed) ?? childrenOf(page, embed);
    const { start, end } = (isBlock && embed.paragraph) || embed;
    return { start, end, text };
  });
  const made = applyEdits(page, [...edits, ...others]);
  const fits = room !== undefined && made.length <= room.length;
  return fits ? room.subarray(0, room.write(made, 'latin1')) : Buffer.from(made, 'latin1');
}

/** The children as they are; their text where text is shown. */
function childrenOf(page: string, { children, form, paragraph }: PlacedEmbed): Composed {
  if (form.as === 'text') return { text: asBytes(encode(children.text ?? '', form.layers)), isBlock: false };
  const text = page.slice(children.start, children.end);
  return { text, isBlock: paragraph !== undefined && isBlockLevel(text) };
}
