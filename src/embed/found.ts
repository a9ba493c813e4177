import { decodeHTMLAttribute } from 'entities/decode';
import type { EmbedAs, EmbedAttributes } from './element.ts';
import { attributesOf, isBlockLevel, type Range, type Tag } from './html-scanner.ts';
import type { Layer, Part } from './layers.ts';

/** How content goes into one place of a file: all that has to be known to put another content there later. */
export interface Form {
  as: EmbedAs;
  /** In what the content is written there, outermost first. */
  layers: readonly Layer[];
  /** What stands before and after the embed in the paragraph that holds nothing else; as Latin-1. */
  paragraph?: { before: string; after: string } | undefined;
}

/** An embed that was found in a file. All places are byte offsets. */
export interface FoundEmbed extends Range {
  /** What the attributes say, decoded, but not yet checked. */
  attributes: EmbedAttributes;
  /** What to show when the service is down. Empty where there are none. */
  children: Range & { isBlockLevel: boolean };
  form: Form;
  /** Whether it is in an island's own markup, which the island makes anew in the browser. */
  inIsland: boolean;
  /** Whether it is in a heading with an id, as Markdown makes them. */
  inHeading: boolean;
  /** The paragraph that holds this embed and nothing else, as Markdown writes it. */
  paragraph?: Range;
}

export type Refusal =
  | { flaw: 'in-script' }
  | { flaw: 'in-style' }
  | { flaw: 'in-xml' }
  | { flaw: 'in-attribute'; attribute: string };

/**
 * An embed that has no end, stands inside another one, which begins at `outer`, or where none can be. Or the tag of a
 * component that was not rendered.
 */
export type EmbedFault = { start: number } & (
  | { flaw: 'unclosed' }
  | { flaw: 'unrendered'; tag: string }
  | { flaw: 'nested'; outer: number }
  | Refusal
);

/** What looks like an embed, but is no whole one: it may be an example, or an excerpt that was cut. */
export interface EmbedWarning {
  start: number;
  flaw: 'unclosed' | 'nested' | 'invalid-id' | 'unrendered';
}

/** All in the order of the file. */
export interface Scan {
  embeds: FoundEmbed[];
  faults: EmbedFault[];
  warnings: EmbedWarning[];
}

export interface Search extends Scan {
  file: string;
  /** Whether it is a page: no other file marks code with backticks, or shows HTML in its strings. */
  isPage: boolean;
}

/** What an embed is in the place where it stands. */
export interface Place {
  shows: EmbedAs;
  /** Whether its attribute `as` is heeded. */
  isFree: boolean;
  /** Whether text has to be escaped: whether what is around it is HTML. */
  isHtml: boolean;
  /** Whether it may be part of a URL. */
  inUrls: boolean;
  /** Whether it is in an island's own markup. */
  inIsland?: boolean;
  /** Whether it is in a heading with an id. */
  inHeading?: boolean;
  /** Why no embed can be there. */
  refusal?: Refusal;
}

export const inHtml: Place = { shows: 'html', isFree: true, isHtml: true, inUrls: false };
export const inFile: Place = { shows: 'html', isFree: true, isHtml: false, inUrls: true };
export const inData: Place = { shows: 'text', isFree: true, isHtml: false, inUrls: true };
export const inText: Place = { shows: 'text', isFree: false, isHtml: false, inUrls: true };
export const inTextElement: Place = { ...inText, isHtml: true, inUrls: false };

/** The tags of an embed, in the part that they were found in. */
export interface EmbedTags {
  tag: Tag;
  children: Range;
  end: number;
}

/** Adds an embed to what was found; not one that only looks like one, or may not be there. */
export function add(
  search: Search,
  part: Part,
  place: Place,
  { tag, children, end }: EmbedTags,
): FoundEmbed | undefined {
  const start = part.at(tag.start);
  const attributes = embedAttributes(part.text, tag);
  if (!isElement(search, part) && !isId(attributes.id)) search.warnings.push({ start, flaw: 'invalid-id' });
  else if (place.refusal !== undefined) search.faults.push({ start, ...place.refusal });
  else {
    const { as: asked } = attributes;
    const as = place.isFree && (asked === 'html' || asked === 'text') ? asked : place.shows;
    const layers: readonly Layer[] =
      as === 'text' && place.isHtml ? [...part.layers, 'html-text'] : part.layers;
    const found: FoundEmbed = {
      ...rangeOf(part, { start: tag.start, end }),
      attributes,
      children: {
        ...rangeOf(part, children),
        isBlockLevel: isBlockLevel(part.text.slice(children.start, children.end)),
      },
      form: { as, layers },
      inIsland: place.inIsland ?? false,
      inHeading: place.inHeading ?? false,
    };
    search.embeds.push(found);
    return found;
  }
  return undefined;
}

/** Says of what is no whole embed why it is none. */
export function report(search: Search, part: Part, offset: number, outer?: number): void {
  const start = part.at(offset);
  if (!isElement(search, part)) {
    search.warnings.push({ start, flaw: outer === undefined ? 'unclosed' : 'nested' });
  } else if (outer === undefined) search.faults.push({ start, flaw: 'unclosed' });
  else search.faults.push({ start, flaw: 'nested', outer: part.at(outer) });
}

/** Notes the paragraph that holds an embed and nothing else. */
export function surround({ file }: Search, part: Part, found: FoundEmbed, paragraph: Range): void {
  found.paragraph = rangeOf(part, paragraph);
  const before = file.slice(found.paragraph.start, found.start);
  const after = file.slice(found.end, found.paragraph.end);
  found.form = { ...found.form, paragraph: { before, after } };
}

// An element in a page is meant. In other places, and in what is escaped, there may be excerpts and examples.
function isElement({ isPage }: Search, { layers }: Part): boolean {
  return isPage && layers.length === 0;
}

// As the ids of snippets are: a positive safe integer.
function isId(id: string | undefined): boolean {
  return id !== undefined && /^[1-9]\d{0,15}$/.test(id) && Number.isSafeInteger(Number(id));
}

function embedAttributes(text: string, tag: Tag): EmbedAttributes {
  const attributes = attributesOf(text, tag);
  const read = (name: string) => {
    const attribute = attributes.find((one) => one.name === name);
    return decodeAttribute(attribute && text.slice(attribute.start, attribute.end));
  };
  return { id: read('id'), params: read('params'), as: read('as') };
}

/** What an attribute says, of a file that was read as Latin-1. */
export function decodeAttribute<T extends string | undefined>(bytes: T): T | string {
  // Most are a number, or nothing: there is nothing to decode in them.
  if (bytes === undefined || !/[&\x80-\xff]/.test(bytes)) return bytes;
  return decodeHTMLAttribute(Buffer.from(bytes, 'latin1').toString());
}

function rangeOf({ at }: Part, { start, end }: Range): Range {
  return { start: at(start), end: at(end) };
}
