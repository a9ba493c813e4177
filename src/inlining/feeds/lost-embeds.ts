import { elementName } from '../../embed/element.ts';
import type { SnippetContent } from '../../embed/replace-embeds.ts';
import { applyEdits, toByteString } from '../../markup/edits.ts';
import { textOf } from '../../markup/text-of.ts';
import { normalize } from '../../output/derived/words.ts';
import type { FileEmbed } from '../../snippets/read-embeds.ts';

/** The part of an embed on a page that is needed to look for it in another text. */
export type PageEmbed = Pick<FileEmbed, 'start' | 'end' | 'children'> & {
  request: { id: number };
};

/** What of a content tells whether a text has lost it. */
export type FeedContent = Pick<SnippetContent, 'html' | 'text'>;

/** Finds the embeds of a page that an item of a feed has lost. @param texts the texts of the item, as HTML */
export type FindLostEmbeds<Embed> = (texts: readonly string[]) => Embed[];

/**
 * Makes the function that finds the embeds of a page that texts made from the page have lost: they have what is on the
 * page before and behind the embed, and nothing else between, except the embed's children. Letters and digits are
 * compared, as a text may be without the page's tags, or have other punctuation.
 *
 * A text that ends before the embed, such as a summary, has lost nothing. Neither has an item with an embed of the same
 * snippet, or with the content in one of its texts.
 *
 * @param page the page as it was generated
 * @param shown returns what the page shows for an embed; `undefined` if it shows the children
 */
export function lostEmbedFinder<Embed extends PageEmbed>(
  page: Buffer,
  embeds: readonly Embed[],
  shown: (embed: Embed) => FeedContent | undefined,
): FindLostEmbeds<Embed> {
  let knownPlaces: Map<Embed, EmbedPlace> | undefined;
  return (texts) => {
    const held = idsIn(texts);
    const candidates = embeds.filter(({ request }) => !held.has(request.id));
    if (candidates.length === 0) return [];

    knownPlaces ??= embedPlaces(page, embeds);
    const places = knownPlaces;
    const readTexts = texts.map(readText);
    return candidates.filter((embed) => {
      const place = places.get(embed);
      const content = shown(embed);
      return place && content && isLostFrom(place, content, readTexts);
    });
  };
}

/** Matches the id of an embed, in any encoding. */
const embedId = new RegExp(
  `${elementName}(?:(?!${elementName})[^]){0,1000}?\\bid\\s*=(?:[\\s"'{\\\\]|&#?\\w+;|%\\w\\w)*(\\d+)`,
  'gi',
);

const idsIn = (texts: readonly string[]) =>
  new Set(texts.flatMap((text) => Array.from(text.matchAll(embedId), ([, id]) => Number(id))));

/** How many letters on each side of an embed are compared: so many are in no other text by chance. */
const comparedLength = 24;

/** Characters for private use, which are in no text: marks of embeds, and one of images and the like. */
const firstMark = 0xf0000;
const mediaMark = String.fromCodePoint(0xffffd);
const markPattern = /([\u{f0000}-\u{ffffc}])/u;
const markOf = (index: number) => String.fromCodePoint(firstMark + (index % 0xfffc));

const notAscii = /[\u0080-\uffff]+/g;
const notLetters = /[^\p{L}\p{N}\u{f0000}-\u{ffffd}]+/gu;

/** The text of HTML without anything but letters, digits and marks. */
function lettersOf(html: string): string {
  const text = normalize(textOf(html)).replace(notAscii, (characters) => characters.replace(notLetters, ''));
  // Byte by byte, as a regular expression that removes each space takes ten times as long.
  const bytes = Buffer.from(text);
  let length = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0;
    const isKept = byte > 0x7f || (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x30 && byte <= 0x39);
    if (isKept) bytes[length++] = byte;
  }
  return bytes.toString('utf8', 0, length);
}

/** What stands around an embed on its page, as letters. */
interface EmbedPlace {
  /** The letters around without the children of any embed, and with the children of all. */
  bare: [before: string, after: string];
  full: [before: string, after: string];
  children: string;
}

/** Finds what is around each embed. One that is in no displayed text, but in a script or an attribute, has no place. */
function embedPlaces<Embed extends PageEmbed>(
  page: Buffer,
  embeds: readonly Embed[],
): Map<Embed, EmbedPlace> {
  const source = page.toString('latin1');
  const edits = embeds.map(({ start, end, children }, index) => {
    const mark = toByteString(markOf(index));
    return { start, end, text: mark + source.slice(children.start, children.end) + mark };
  });
  const marked = Buffer.from(applyEdits(source, edits), 'latin1').toString();

  let bare = '';
  let full = '';
  const opened = new Map<number, { bareAt: number; fullAt: number }>();
  const ranges = new Map<Embed, { bareAt: number; start: number; end: number }>();
  for (const piece of lettersOf(marked).split(markPattern)) {
    if (!markPattern.test(piece)) {
      full += piece;
      if (opened.size === 0) bare += piece;
      continue;
    }
    const index = (piece.codePointAt(0) ?? 0) - firstMark;
    const embed = embeds[index];
    if (!embed) continue;
    const open = opened.get(index);
    if (!open) opened.set(index, { bareAt: bare.length, fullAt: full.length });
    else ranges.set(embed, { bareAt: open.bareAt, start: open.fullAt, end: full.length });
    if (open) opened.delete(index);
  }

  const around = (text: string, start: number, end: number): [string, string] => [
    text.slice(Math.max(0, start - comparedLength), start),
    text.slice(end, end + comparedLength),
  ];
  return new Map(
    Array.from(ranges, ([embed, { bareAt, start, end }]) => [
      embed,
      {
        bare: around(bare, bareAt, bareAt),
        full: around(full, start, end),
        children: full.slice(start, end),
      },
    ]),
  );
}

const mediaTag = /<(?:img|picture|iframe|video|audio|object|embed|svg|canvas|form|input)\b/gi;

/** A text as letters, with and without marks of images and the like. */
interface ReadText {
  letters: string;
  withMedia: string;
}

function readText(html: string): ReadText {
  const withMedia = lettersOf(html.replace(mediaTag, `${mediaMark}$&`));
  return { letters: withMedia.replaceAll(mediaMark, ''), withMedia };
}

function isLostFrom(
  { bare, full, children }: EmbedPlace,
  { html, text }: FeedContent,
  texts: readonly ReadText[],
): boolean {
  const shown = lettersOf(text);
  if (shown === '') {
    // Nothing is lost where nothing is shown. An image or a form has no text of its own.
    if (html.search(mediaTag) === -1) return false;
    return texts.some(({ withMedia }) => stands(withMedia, bare, '') || stands(withMedia, full, children));
  }
  const stand = (around: [string, string], between: string) =>
    texts.some(({ letters }) => stands(letters, around, between));
  if (stand(bare, shown) || stand(full, shown)) return false;
  return stand(bare, '') || stand(full, children);
}

/**
 * Whether a text has what is before and behind an embed with nothing but these letters between. Where the text begins
 * or ends closer to the embed, all that it has there is compared: at least one letter.
 */
function stands(text: string, [before, after]: [string, string], between: string): boolean {
  const isWhole = before.length === comparedLength && after.length === comparedLength;
  if (isWhole && text.includes(before + between + after)) return true;

  const isAt = (start: number) => {
    const end = start + between.length;
    if (start < 1 || end >= text.length || !text.startsWith(between, start)) return false;
    const textBefore = text.slice(Math.max(0, start - comparedLength), start);
    return before.endsWith(textBefore) && after.startsWith(text.slice(end, end + comparedLength));
  };
  const lastStart = text.length - between.length - comparedLength;
  for (let index = 1; index < comparedLength; index++) {
    if (isAt(index) || isAt(lastStart + index)) return true;
  }
  return false;
}
