import type { Range } from '../markup/edits.ts';
import { type Attribute, attributesOf, decodeAttribute, readAttribute, type Tag } from '../markup/tags.ts';
import { textOf } from '../markup/text-of.ts';
import { type EmbedAs, type EmbedAttributes, intendedAttribute, isEmbedAttribute } from './element.ts';
import { isForeignAttribute } from './foreign-attributes.ts';
import type { Children, FoundEmbed, InsertionFormat } from './found-embed.ts';
import { findKept } from './kept-children.ts';
import type { Layer } from './layers.ts';
import { isElement, type SourceSlice } from './source-slice.ts';

/** The surroundings of an embed that is an element. */
interface ElementPlace extends Pick<FoundEmbed, 'inIsland' | 'inHeading' | 'around' | 'paragraph'> {
  /** Whether the element is one of XML, so that what replaces it has to be escaped. */
  isXml: boolean;
}

const placeInText: ElementPlace = { isXml: false, inIsland: false, inHeading: false, around: [] };

/**
 * Adds an embed to the results. An invalid id gives a warning instead where the tag may belong to an excerpt:
 * in encoded text, and in files that are no pages. Without `place`, it is in text, which cannot show HTML.
 */
export function addEmbed(source: SourceSlice, tag: Tag, endTag: Range, place?: ElementPlace): void {
  const { text, layers, offsetInFile, results, needsEscapedText, lang } = source;
  const start = offsetInFile(tag.start);
  const written = attributesOf(text, tag);
  const attributes = embedAttributesOf(written);
  if (!isValidId(attributes.id) && !isElement(source)) {
    results.warnings.push({ start, flaw: 'invalid-id' });
    return;
  }

  const as = place ? shownAs(attributes.as, source.defaultAs) : 'text';
  const { isXml, inIsland, inHeading, around, paragraph } = place ?? placeInText;
  const isInPage = place !== undefined && isElement(source);
  const innerLayers: Layer[] = [...layers];
  if (isXml) innerLayers.push('xml-text');
  if (as === 'text' && needsEscapedText) innerLayers.push('html-text');
  results.embeds.push({
    start,
    end: offsetInFile(endTag.end),
    attributes,
    misspelled: written.find(isMisspelled)?.name,
    foreign: isInPage ? foreignAmong(written) : undefined,
    children: childrenIn(source, tag, endTag, as === 'html' && !isXml, isInPage),
    format: innerLayers.length === 0 ? plainFormats[as] : { as, layers: innerLayers },
    lang: langIn(written, lang),
    inIsland,
    inHeading,
    around,
    paragraph,
  });
}

/** The formats of content in no encoding but the file's own, which most embeds of a site share. */
const plainFormats: Record<EmbedAs, InsertionFormat> = {
  html: { as: 'html', layers: [] },
  text: { as: 'text', layers: [] },
};

function embedAttributesOf(written: readonly Attribute[]) {
  // Names are set in the same order for every embed, so that the objects of all embeds have one shape.
  const attributes: EmbedAttributes = {
    id: undefined,
    params: undefined,
    as: undefined,
    optional: undefined,
  };
  for (const { name, value } of written) {
    if (isEmbedAttribute(name)) attributes[name] ??= decodeAttribute(value);
  }
  return attributes;
}

const isValidId = (id = '') => /^[1-9]\d*$/.test(id) && Number.isSafeInteger(Number(id));

/** Whether an embed shows HTML or text. An invalid `as` counts as absent here, and is refused later. */
const shownAs = (written: string | undefined, defaultAs: EmbedAs) =>
  written === 'html' || written === 'text' ? written : defaultAs;

// `is` is one edit from both `id` and `as`, but an attribute of HTML, so it does not count as misspelled.
const isMisspelled = ({ name }: Attribute) =>
  !isEmbedAttribute(name) && name !== 'is' && intendedAttribute(name) !== undefined;

/** Finds an attribute that would be lost with the embed. `slot` is one until `checkSlots` says otherwise. */
function foreignAmong(written: readonly Attribute[]) {
  const foreign = written.find(({ name, value }) => isForeignAttribute(name, decodeAttribute(value)));
  return (foreign ?? written.find(({ name, value }) => name === 'slot' && value !== ''))?.name;
}

/**
 * @param isMarkup whether the children stay as they are written
 * @param isInPage whether they are elements of a page
 */
function childrenIn(source: SourceSlice, tag: Tag, endTag: Range, isMarkup: boolean, isInPage: boolean) {
  const { text, offsetInFile } = source;
  const [start, end] = [tag.end, endTag.start];
  const children: Children = { start: offsetInFile(start), end: offsetInFile(end) };
  if (start === end) return children;
  if (!isMarkup) {
    // The text is a copy: a part of the page's text would keep all of it in memory.
    children.text = textOf(Buffer.from(text.slice(start, end), 'latin1').toString());
  }
  const kept = isInPage ? findKept(text, { start, end }) : [];
  if (kept.length > 0) children.kept = kept;
  return children;
}

/** Returns the language inside an element; `undefined` for an empty `lang`, which says that it is unknown. */
export function langIn(attributes: readonly Attribute[], outer: string | undefined): string | undefined {
  const lang = valueIn(attributes, 'lang') ?? valueIn(attributes, 'xml:lang');
  return lang === undefined ? outer : lang.trim() || undefined;
}

/** Returns the decoded value of an attribute in a byte string. */
export const valueIn = (attributes: readonly Attribute[], name: string): string | undefined =>
  readAttribute(attributes, name, decodeAttribute);
