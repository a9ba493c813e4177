import { escapeText } from 'entities/escape';
import { isBlockLevel } from './block-level.ts';
import { type Replacement, replace } from './replace.ts';
import type { FoundEmbed, Range } from './scan.ts';

/** How content goes into one place of a page: all that has to be known to put another content there later. */
export interface Form {
  /** Whether content is escaped, because it is to be text. */
  asText: boolean;
  /** What stands before and after the embed in the paragraph that holds nothing else; as Latin-1. */
  paragraph?: { before: string; after: string };
}

/** What was put into a page in the place of an embed: the bytes of the new page that it takes. */
export interface Placed<Embed> extends Range {
  embed: Embed;
  form: Form;
}

export interface Inlined<Embed> {
  page: Buffer;
  /** In the order of the page. */
  placed: Placed<Embed>[];
  /** Where what was replaced besides the embeds stands in the new page. */
  otherPlaces: Range[];
}

/**
 * The bytes that stand for a content: itself, byte for byte, or escaped where the page can hold only text. A
 * paragraph that holds nothing else stays around it, or gives way to what a paragraph cannot hold.
 */
export function compose(content: string, { asText, paragraph }: Form): Buffer {
  const bytes = Buffer.from(asText ? escapeText(content) : content);
  if (paragraph === undefined || (!asText && isBlockLevel(content))) return bytes;
  return Buffer.concat(around(bytes, paragraph));
}

function around(bytes: Buffer, paragraph: Form['paragraph']): Buffer[] {
  if (paragraph === undefined) return [bytes];
  return [Buffer.from(paragraph.before, 'latin1'), bytes, Buffer.from(paragraph.after, 'latin1')];
}

/**
 * Puts content in the place of embeds, and returns the new page. Every byte outside an embed, and outside the
 * paragraph that holds nothing else, stays as it was. Done once: what looks like an embed inside the content is
 * left as it is.
 *
 * @param embeds in the order of the page, as `scan` gives them.
 * @param contentOf the content for an embed, as HTML or as text that is going to be escaped; `undefined` for its
 * fallback, which goes in as it stands.
 * @param others what else is to be replaced, outside the embeds, in the order of the page.
 */
export function inline<Embed extends FoundEmbed>(
  page: Buffer,
  embeds: readonly Embed[],
  contentOf: (embed: Embed, asText: boolean) => string | undefined,
  others: readonly Replacement[] = [],
): Inlined<Embed> {
  const pieces: Piece<Embed>[] = embeds.map((embed) => {
    const { start, end } = embed.paragraph ?? embed;
    const form = formOf(page, embed);
    return {
      start,
      end,
      bytes: composeOrFallBack(page, embed, contentOf(embed, form.asText), form),
      embed,
      form,
    };
  });
  if (others.length > 0) pieces.push(...others);
  pieces.sort((a, b) => a.start - b.start);
  const replaced = replace(page, pieces);
  const inlined: Inlined<Embed> = { page: replaced.page, placed: [], otherPlaces: [] };
  for (const [index, { start, end }] of replaced.places.entries()) {
    const { embed, form } = pieces[index] ?? {};
    if (embed === undefined || form === undefined) inlined.otherPlaces.push({ start, end });
    else inlined.placed.push({ embed, form, start, end });
  }
  return inlined;
}

interface Piece<Embed> extends Replacement {
  embed?: Embed;
  form?: Form;
}

/** Whether an embed shows text rather than HTML. */
export function isText({ inText, attributes }: Pick<FoundEmbed, 'inText' | 'attributes'>): boolean {
  return inText || attributes.as === 'text';
}

function formOf(page: Buffer, { start, end, inText, attributes, paragraph }: FoundEmbed): Form {
  const asText = isText({ inText, attributes });
  if (paragraph === undefined) return { asText };
  return {
    asText,
    paragraph: {
      before: page.toString('latin1', paragraph.start, start),
      after: page.toString('latin1', end, paragraph.end),
    },
  };
}

function composeOrFallBack(
  page: Buffer,
  { fallback }: FoundEmbed,
  content: string | undefined,
  form: Form,
): Buffer {
  if (content !== undefined) return compose(content, form);
  const bytes = page.subarray(fallback.start, fallback.end);
  return isBlockLevel(bytes.toString()) ? bytes : Buffer.concat(around(bytes, form.paragraph));
}
