import { applyEdits, type Edit, toByteString } from '../markup/edits.ts';
import { isBlockLevel } from '../markup/start-tags.ts';
import type { InsertionFormat, PlacedEmbed } from './found-embed.ts';
import { encode } from './layers.ts';

/** The content of a snippet, after the site's rules. */
export interface SnippetContent {
  html: string;
  /** The text of the HTML. */
  text: string;
  /** The text as a URL: adapted to the site as the links in snippets are. `text` if absent. */
  url?: string | undefined;
  /** Whether the HTML would swallow what follows it, as an unclosed comment does. An unclosed `<b>` does not. */
  leavesOpen?: true | undefined;
}

/** Content as it replaces an embed: a byte string, and whether a paragraph cannot contain it. */
export interface ComposedContent {
  text: string;
  isBlock: boolean;
}

/** Writes content in the format of its place: encoded, and between two comments if edit links need them. */
export function compose(content: SnippetContent, { as, layers, mark }: InsertionFormat): ComposedContent {
  const encoded = encode(content[as] ?? content.text, layers);
  // HTML that leaves something open would swallow the second mark, as part of a tag or as text on the page.
  const isMarked = mark !== undefined && !(as === 'html' && content.leavesOpen);
  const written = isMarked ? `<!--snippet ${mark}-->${encoded}<!--/snippet ${mark}-->` : encoded;
  return { text: toByteString(written), isBlock: as === 'html' && isBlockLevel(content.html) };
}

/**
 * Replaces embeds with their contents, or with their children where there is no content. Block-level content
 * also replaces the paragraph around its embed, if this contains nothing else; with attributes, such as an id that
 * links lead to, the paragraph becomes a `<div>`. All other bytes stay.
 *
 * @param contentOf returns the content for an embed; `undefined` to show its children.
 * @param otherEdits what else to replace, with byte strings.
 * @param scratchBuffer memory for the new file, if it fits in.
 */
export function replaceEmbeds<Embed extends PlacedEmbed>(
  file: Buffer,
  embeds: readonly Embed[],
  contentOf: (embed: Embed) => ComposedContent | undefined,
  otherEdits: readonly Edit[] = [],
  scratchBuffer?: Buffer,
): Buffer {
  const page = file.toString('latin1');
  const edits: Edit[] = [...otherEdits];
  for (const embed of embeds) {
    const { text, isBlock } = withKept(page, embed, contentOf(embed)) ?? childrenOf(page, embed);
    const paragraph = isBlock ? embed.paragraph : undefined;
    const isRenamed = paragraph?.startName !== undefined;
    if (isRenamed) edits.push(toDiv(paragraph.startName), toDiv(paragraph.endName));
    const { start, end } = paragraph && !isRenamed ? paragraph : embed;
    edits.push({ start, end, text });
  }

  const edited = applyEdits(page, edits);
  if (!scratchBuffer || edited.length > scratchBuffer.length) return Buffer.from(edited, 'latin1');
  return scratchBuffer.subarray(0, scratchBuffer.write(edited, 'latin1'));
}

/** Turns the name of a `<p>`, one byte, into that of a `<div>`. */
const toDiv = (start = 0): Edit => ({ start, end: start + 1, text: 'div' });

/** Puts what the page needs of an embed's children before what replaces them. */
function withKept<Content extends ComposedContent | undefined>(
  page: string,
  { children: { kept } }: PlacedEmbed,
  content: Content,
): Content {
  if (!kept || !content) return content;
  const before = kept.map(({ start, end }) => page.slice(start, end)).join('');
  return { ...content, text: before + content.text };
}

function childrenOf(page: string, embed: PlacedEmbed): ComposedContent {
  const { children, format, paragraph } = embed;
  if (format.as !== 'html' || children.text !== undefined) {
    const text = toByteString(encode(children.text ?? '', format.layers));
    return withKept(page, embed, { text, isBlock: false });
  }
  const text = page.slice(children.start, children.end);
  return { text, isBlock: !!paragraph && isBlockLevel(text) };
}
