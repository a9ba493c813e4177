import type { Range } from '../markup/edits.ts';
import { decodeAttribute } from '../markup/latin1.ts';
import { type Attribute, attributesOf, readAttribute, type Tag } from '../markup/tags.ts';
import { textOf } from '../markup/text-of.ts';
import { type EmbedAs, type EmbedAttributes, intendedName } from './element.ts';
import type { FoundEmbed } from './found-embed.ts';
import type { InsertionFormat } from './insertion-format.ts';
import { isElement, type SourceSlice } from './source-slice.ts';

// Shared by most embeds of a site.
const plainFormats: Record<EmbedAs, InsertionFormat> = {
  html: { as: 'html', layers: [] },
  text: { as: 'text', layers: [] },
};

type EmbedPlace = Pick<FoundEmbed, 'inIsland' | 'inHeading' | 'inParagraph' | 'paragraph'>;

// Of text, which cannot show HTML.
const inText: EmbedPlace = { inIsland: false, inHeading: false, inParagraph: false };

/** Adds an embed to the result, or a warning if it is not valid. */
export function addEmbed(part: SourceSlice, tag: Tag, endTag: Range, place: EmbedPlace = inText): number {
  const { text, layers, offsetInFile, results, isHtml, lang } = part;
  const start = offsetInFile(tag.start);
  const written = attributesOf(text, tag);
  const attributes: EmbedAttributes = {
    id: undefined,
    params: undefined,
    as: undefined,
    optional: undefined,
  };
  for (const { name, value } of written) {
    if (name in attributes) attributes[name as keyof EmbedAttributes] ??= decodeAttribute(value);
  }
  const { id = '', as: asked } = attributes;
  const isId = /^[1-9]\d*$/.test(id) && Number.isSafeInteger(Number(id));
  if (!isId && !isElement(part)) return results.warnings.push({ start, flaw: 'invalid-id' });
  const shows = asked === 'html' || asked === 'text' ? asked : part.shows;
  const as = place === inText ? 'text' : shows;
  const inside = as === 'text' && isHtml ? ([...layers, 'html-text'] as const) : layers;
  const children = text.slice(tag.end, endTag.start);
  const isMisspelled = ({ name }: Attribute) => !(name in attributes) && name !== 'is' && intendedName(name);
  return results.embeds.push({
    start,
    end: offsetInFile(endTag.end),
    attributes,
    misspelled: written.find(isMisspelled)?.name,
    children: {
      start: offsetInFile(tag.end),
      end: offsetInFile(endTag.start),
      // Copied: part of the page's text would keep all of it in memory.
      ...(as === 'text' && children !== '' && { text: textOf(Buffer.from(children, 'latin1').toString()) }),
    },
    format: inside.length === 0 ? plainFormats[as] : { as, layers: inside },
    lang: langIn(written, lang),
    inIsland: place.inIsland,
    inHeading: place.inHeading,
    inParagraph: place.inParagraph,
    paragraph: place.paragraph,
  });
}

/** The language inside an element. An empty one is not known. */
export function langIn(attributes: readonly Attribute[], outer: string | undefined): string | undefined {
  const lang = valueIn(attributes, 'lang') ?? valueIn(attributes, 'xml:lang');
  return lang === undefined ? outer : lang.trim() || undefined;
}

export const valueIn = (attributes: readonly Attribute[], name: string): string | undefined =>
  readAttribute(attributes, name, decodeAttribute);
