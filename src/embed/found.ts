import { decodeHTMLAttribute } from 'entities/decode';
import type { EmbedAs, EmbedAttributes } from './element.ts';
import { attributesOf, isBlockLevel, type Range, type Tag } from './html-scanner.ts';
import type { Layer, Part } from './layers.ts';
import { textOf } from './text.ts';

/** How content is written in one place of a file. */
export interface Form {
  as: EmbedAs;
  /** The encodings around the content, outermost first. */
  layers: readonly Layer[];
  /** Whether comments around the content say which snippet it is. */
  isMarked?: true | undefined;
}

// Shared by most embeds of a site.
const plain: Readonly<Record<EmbedAs, Form>> = {
  html: { as: 'html', layers: [] },
  text: { as: 'text', layers: [] },
};

/** Equal for equal forms. */
export function formKey({ as, layers, isMarked }: Form): string {
  return `${as} ${layers.join()}${isMarked ? ' marked' : ''}`;
}

/** An embed that was found in a file. All places are byte offsets. */
export interface FoundEmbed extends Range {
  /** The attributes, decoded but not validated. */
  attributes: EmbedAttributes;
  /** What to show when the service is down. Empty without children. Their text is known where text is shown. */
  children: Range & { isBlockLevel: boolean; text?: string };
  form: Form;
  /** Whether it is in an island's own markup, which the island renders again in the browser. */
  inIsland: boolean;
  /** Whether it is in a heading with an id, as Markdown generates them. */
  inHeading: boolean;
  /** Whether it is in a paragraph. */
  inParagraph: boolean;
  /** The value of the nearest `lang`. */
  lang?: string | undefined;
  /** The paragraph that contains only this embed, as Markdown generates it. */
  paragraph?: Range;
}

export type Refusal =
  | { flaw: 'in-script' }
  | { flaw: 'in-style' }
  | { flaw: 'in-xml' }
  | { flaw: 'in-attribute'; attribute: string };

/**
 * An embed that has no end, is inside another one (which begins at `outer`), or is in a place where none can work. Or
 * the tag of a component that was not rendered.
 */
export type EmbedFault = { start: number } & (
  | { flaw: 'unclosed' }
  | { flaw: 'unrendered'; tag: string }
  | { flaw: 'nested'; outer: number }
  | Refusal
);

/**
 * Text that looks like an embed but is incomplete, or may be Markdown code: it may be an example or an excerpt. Or a file
 * in which embeds may not work.
 */
export interface EmbedWarning {
  start: number;
  flaw: 'unclosed' | 'nested' | 'invalid-id' | 'unrendered' | 'in-code' | 'in-xhtml' | 'utf-16';
}

/** All in the order of the file. */
export interface Scan {
  embeds: FoundEmbed[];
  faults: EmbedFault[];
  warnings: EmbedWarning[];
}

export interface Search extends Scan {
  file: string;
  /** Whether it is a page. In other files, code is marked with backticks, and strings contain HTML. */
  isPage: boolean;
}

/** What a place means for an embed. */
export interface Place extends Partial<Pick<FoundEmbed, 'inIsland' | 'inHeading' | 'inParagraph'>> {
  shows: EmbedAs;
  /** Whether the attribute `as` can change that. */
  isFree: boolean;
  /** Whether text has to be escaped because it is surrounded by HTML. */
  isHtml: boolean;
  /** Whether it may be part of a URL. */
  inUrls: boolean;
  /** Why no embed can work there. */
  refusal?: Refusal;
}

export const inHtml: Place = { shows: 'html', isFree: true, isHtml: true, inUrls: false };
export const inFile: Place = { shows: 'html', isFree: true, isHtml: false, inUrls: true };
export const inData: Place = { shows: 'text', isFree: true, isHtml: false, inUrls: true };
export const inText: Place = { shows: 'text', isFree: false, isHtml: false, inUrls: true };
export const inTextElement: Place = { ...inText, isHtml: true, inUrls: false };

/** Adds an embed to the result, or a fault or warning if it is not a valid one. */
export function add(
  search: Search,
  part: Part,
  place: Place,
  tag: Tag,
  endTag: Range = { start: tag.end, end: tag.end },
): FoundEmbed | undefined {
  const start = part.at(tag.start);
  const written = attributesOf(part.text, tag);
  const read = (name: keyof EmbedAttributes) => attributeOf(part.text, tag, name, written);
  const attributes = { id: read('id'), params: read('params'), as: read('as'), optional: read('optional') };
  if (!isWholePage(search, part) && !isId(attributes.id)) {
    search.warnings.push({ start, flaw: 'invalid-id' });
    return undefined;
  }
  if (place.refusal !== undefined) {
    search.faults.push({ start, ...place.refusal });
    return undefined;
  }
  const { as: asked } = attributes;
  const as = place.isFree && (asked === 'html' || asked === 'text') ? asked : place.shows;
  const layers: readonly Layer[] =
    as === 'text' && place.isHtml ? [...part.layers, 'html-text'] : part.layers;
  const children = part.text.slice(tag.end, endTag.start);
  const found: FoundEmbed = {
    start,
    end: part.at(endTag.end),
    attributes,
    children: {
      start: part.at(tag.end),
      end: part.at(endTag.start),
      isBlockLevel: isBlockLevel(children),
      // Copied, since a part of the page's text would keep all of it in memory.
      ...(as === 'text' && children !== '' && { text: textOf(Buffer.from(children, 'latin1').toString()) }),
    },
    form: layers.length === 0 ? plain[as] : { as, layers },
    inIsland: place.inIsland ?? false,
    inHeading: place.inHeading ?? false,
    inParagraph: place.inParagraph ?? false,
    lang: part.lang,
  };
  search.embeds.push(found);
  return found;
}

/** Reports an incomplete embed. */
export function report(search: Search, part: Part, offset: number, outer?: number): void {
  const start = part.at(offset);
  if (!isWholePage(search, part)) {
    search.warnings.push({ start, flaw: outer === undefined ? 'unclosed' : 'nested' });
  } else if (outer === undefined) search.faults.push({ start, flaw: 'unclosed' });
  else search.faults.push({ start, flaw: 'nested', outer: part.at(outer) });
}

/** Whether an element is meant as one. Other files, and parts of pages, may contain excerpts and examples. */
export function isWholePage(search: Search, { layers }: Part): boolean {
  return search.isPage && layers.length === 0;
}

// Snippet ids are positive safe integers.
function isId(id: string | undefined): boolean {
  return id !== undefined && /^[1-9]\d{0,15}$/.test(id) && Number.isSafeInteger(Number(id));
}

/** The value of an attribute of a tag in a file that was read as Latin-1. */
export function attributeOf(
  text: string,
  tag: Tag,
  name: string,
  attributes = attributesOf(text, tag),
): string | undefined {
  const found = attributes.find((attribute) => attribute.name === name);
  return found && decodeAttribute(text.slice(found.start, found.end));
}

/** Decodes an attribute of a file that was read as Latin-1. */
export function decodeAttribute(bytes: string): string {
  // Most values are numbers or empty.
  return /[&\x80-\xff]/.test(bytes) ? decodeHTMLAttribute(Buffer.from(bytes, 'latin1').toString()) : bytes;
}
