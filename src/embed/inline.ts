import { escapeText } from 'entities/escape';
import { isBlockLevel } from './block-level.ts';
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
}

/**
 * The bytes that stand for a content: itself, byte for byte, or escaped where the page can hold only text. A
 * paragraph that holds nothing else stays around it, or gives way to what a paragraph cannot hold.
 */
export function compose(content: string, { asText, paragraph }: Form): Buffer {
  if (asText) return Buffer.concat(around(Buffer.from(escapeText(content)), paragraph));
  return isBlockLevel(content)
    ? Buffer.from(content)
    : Buffer.concat(around(Buffer.from(content), paragraph));
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
 * @param contentOf the content for an embed; `undefined` for its fallback, which goes in as it stands.
 */
export function inline<Embed extends FoundEmbed>(
  page: Buffer,
  embeds: readonly Embed[],
  contentOf: (embed: Embed) => string | undefined,
): Inlined<Embed> {
  const pieces: Buffer[] = [];
  const placed: Placed<Embed>[] = [];
  let read = 0;
  let written = 0;
  const push = (bytes: Buffer) => {
    pieces.push(bytes);
    written += bytes.length;
  };
  for (const embed of embeds) {
    const place = embed.paragraph ?? embed;
    const form = formOf(page, embed);
    push(page.subarray(read, place.start));
    const start = written;
    push(composeOrFallBack(page, embed, contentOf(embed), form));
    placed.push({ embed, form, start, end: written });
    read = place.end;
  }
  push(page.subarray(read));
  return { page: Buffer.concat(pieces), placed };
}

function formOf(page: Buffer, { start, end, inText, attributes, paragraph }: FoundEmbed): Form {
  const asText = inText || attributes.as === 'text';
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
