import { escapeText } from 'entities/escape';
import { isBlockLevel } from './block-level.ts';
import type { FoundEmbed, Range } from './scan.ts';

/**
 * Puts content in the place of embeds, and returns the new page. Every byte outside an embed stays as it was,
 * and content goes in byte for byte (escaped where the page can hold only text). Done once: what looks like an
 * embed inside the content is left as it is.
 *
 * A paragraph that holds the embed and nothing else gives way to content that a paragraph cannot hold.
 *
 * @param embeds in the order of the page, as `scan` gives them.
 * @param contentOf the content for an embed; `undefined` for its fallback, which goes in as it stands.
 */
export function inline<Embed extends FoundEmbed>(
  page: Buffer,
  embeds: readonly Embed[],
  contentOf: (embed: Embed) => string | undefined,
): Buffer {
  const pieces: Buffer[] = [];
  let done = 0;
  for (const embed of embeds) {
    const { place, bytes } = replacement(page, embed, contentOf(embed));
    pieces.push(page.subarray(done, place.start), bytes);
    done = place.end;
  }
  pieces.push(page.subarray(done));
  return Buffer.concat(pieces);
}

function replacement(
  page: Buffer,
  embed: FoundEmbed,
  content: string | undefined,
): { place: Range; bytes: Buffer } {
  const asText = content !== undefined && (embed.inText || embed.attributes.as === 'text');
  const bytes =
    content === undefined
      ? page.subarray(embed.fallback.start, embed.fallback.end)
      : Buffer.from(asText ? escapeText(content) : content);
  const givesWay = embed.paragraph !== undefined && !asText && isBlockLevel(bytes.toString());
  return { place: givesWay && embed.paragraph !== undefined ? embed.paragraph : embed, bytes };
}
