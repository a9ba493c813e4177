import { findCode, withoutCodeSpans } from './code-spans.ts';
import {
  type EmbedAs,
  type EmbedAttributes,
  elementName,
  embedName,
  intendedName,
  mayHold,
  slugOfEmbed,
  writtenComponent,
} from './element.ts';
import {
  type Attribute,
  attributesOf,
  matchEnd,
  type Range,
  readAttribute,
  startTags,
  type Tag,
  tagAt,
  textOf,
  walk,
} from './html-scanner.ts';
import { decodeAttribute, type InsertionFormat, type Layer, layers } from './inline.ts';

export type FileKind = 'html' | 'xml' | 'json' | 'text';

/** An embed in a file. All places are byte offsets. */
export interface FoundEmbed extends Range {
  attributes: EmbedAttributes;
  /** An attribute with a misspelled name. */
  misspelled?: string | undefined;
  /** With their text where text is shown. */
  children: Range & { text?: string };
  format: InsertionFormat;
  /** The value of the nearest `lang`. */
  lang: string | undefined;
  /** Whether an island renders it again in the browser. */
  inIsland: boolean;
  /** In a heading with an id, as Markdown generates it. */
  inHeading: boolean;
  inParagraph: boolean;
  /** If it contains nothing else, as Markdown generates it. */
  paragraph?: Range | undefined;
}

type Incomplete = 'unclosed' | 'unrendered' | 'nested';
type Refusal = 'in-script' | 'in-style' | 'in-xml' | 'in-attribute';
/** What may be intended, or a file in which embeds may not work. */
export type ScanWarning = Incomplete | 'invalid-id' | 'in-id' | 'in-code' | 'in-xhtml' | 'utf-16';

export interface EmbedFault {
  start: number;
  flaw: Incomplete | Refusal;
  attribute?: string | undefined;
  /** Where the embed around it begins. */
  outer?: number | undefined;
}

export interface Scan {
  embeds: FoundEmbed[];
  faults: EmbedFault[];
  warnings: { start: number; flaw: ScanWarning }[];
}

/** Part of a file, decoded through the layers around it. */
interface SourceSlice {
  /** Every character is a byte of UTF-8, even where decoded. */
  text: string;
  layers: readonly Layer[];
  /** The offset of a character in the file. */
  offsetInFile(offset: number): number;
  results: Scan;
  /** Whether text in it has to be escaped. */
  isHtml: boolean;
  /** Whether the file is a page. In others, code is between backticks. */
  isPage: boolean;
  /** What embeds without `as` show. */
  shows: EmbedAs;
  lang?: string | undefined;
}

/**
 * Finds every embed in a file, in any encoding. Leaves out examples: code, comments, and what has `data-snippets-ignore`.
 * The file is read as Latin-1, where each character is a byte: its syntax is ASCII.
 */
export function scan(file: Buffer, kind: FileKind) {
  const text = file.toString('latin1');
  const isPage = kind === 'html';
  const found: Scan = { embeds: [], faults: [], warnings: [] };
  const whole: SourceSlice = {
    text,
    layers: [],
    offsetInFile: (at) => at,
    results: found,
    isHtml: isPage,
    isPage,
    shows: 'html',
  };
  if (!mayHold(text)) {
    const isUtf16 = /^(?:\xff\xfe|\xfe\xff)/.test(text) && embedName.test(text.replaceAll('\0', ''));
    if (isUtf16) found.warnings.push({ flaw: 'utf-16', start: 0 });
  } else if (kind === 'json') scanJson(whole);
  else if (kind === 'text') scanString(whole);
  else scanMarkup(whole, kind === 'xml');
  readDeclarations(whole);
  for (const list of [found.embeds, found.faults, found.warnings]) list.sort((a, b) => a.start - b.start);
  return found;
}

// As far as browsers look.
const declarationsEnd = 1024;
const byteOrderMark = /^\xef\xbb\xbf/;
// Apart: together, they take several times as long.
const xmlDeclaration = /^(?:\xef\xbb\xbf)?\s*<\?xml\b(?:[^>]*?\bencoding\s*=\s*["']([\w-]+))?/i;
const xhtmlType = /application\/xhtml\+xml/i;
const charsetDeclaration = /<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w-]+)/i;
// What can be read but declares UTF-16 is UTF-8.
const utf8Name = /^(?:unicode-1-1-)?utf-?(?:8|16(?:le|be)?)$/i;

/** A file may say that it is XHTML, or not UTF-8. */
function readDeclarations({ text, isPage, results: { embeds, warnings } }: SourceSlice) {
  const head = text.slice(0, declarationsEnd);
  const shown = embeds.find(({ format }) => format.as === 'html');
  const [isXml, encoding = charsetDeclaration.exec(head)?.[1] ?? 'utf-8'] = xmlDeclaration.exec(head) ?? [];
  if (isPage && shown && (isXml || xhtmlType.test(head)))
    warnings.push({ flaw: 'in-xhtml', start: shown.start });
  if (byteOrderMark.test(head) || utf8Name.test(encoding)) return;
  for (const embed of embeds) embed.format = { ...embed.format, layers: ['ascii', ...embed.format.layers] };
}

// No page needs more, and each takes time.
const maxLayers = 6;

const slice = (part: SourceSlice, { start, end }: Range): SourceSlice => ({
  ...part,
  text: part.text.slice(start, end),
  offsetInFile: (offset) => part.offsetInFile(start + offset),
});

/** Decodes a part through one more layer. Too many leave nothing of it. */
function decodeThrough(part: SourceSlice, layer: Layer): SourceSlice {
  if (part.layers.length === maxLayers) return { ...part, text: '' };
  const { escaped, decode } = layers[layer];
  // Where the distance of the text from its source changes.
  const starts = [0];
  const origins = [0];
  let shift = 0;
  const text = part.text.replace(escaped, (found: string, index: number) => {
    const character = decode(found);
    if (character === found) return found;
    origins.push(index, index + found.length);
    starts.push(index - shift, index - shift + character.length);
    shift += found.length - character.length;
    return character;
  });
  const at = (offset: number) => {
    let low = 0;
    for (let high = starts.length; high - low > 1; ) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return part.offsetInFile((origins[low] ?? 0) + offset - (starts[low] ?? 0));
  };
  return { ...part, text, layers: [...part.layers, layer], offsetInFile: at, isHtml: false };
}

// Two: one with alternatives takes several times as long.
const snippetMention = /snippet/gi;
const hasLang = /lang\s*=/i;
const componentTag = new RegExp(`<${writtenComponent.source}`, 'i');
// The attributes of copy buttons.
const codeAttributes = new Set(['data-code', 'data-clipboard-text']);
const refusedAttributes = /^(?:on|x-|v-|[:@]|style$)/;
const dataScripts = /[/+]json\s*$|^\s*(?:importmap|speculationrules)\s*$/i;
const whiteSpace = /[\t\n\f\r ]*/y;
const paragraphEndTag = /[\t\n\f\r ]*<\/p(?:[\t\n\f\r /][^>]*)?>/iy;

interface MarkupContext {
  isExample: boolean;
  inIsland: boolean;
  lang: string | undefined;
  embed?: Tag;
  heading?: Tag;
  link?: Tag;
  /** A script, a style, or in XML a title or an image. */
  holder?: Tag;
}

const contextIn = new Map<string, (tag: Tag) => Partial<MarkupContext>>();
const registerContext = (names: string, contextOf: (tag: Tag) => Partial<MarkupContext>) => {
  for (const name of names.split(' ')) contextIn.set(name, contextOf);
};
registerContext('code pre kbd samp', () => ({ isExample: true }));
// Astro marks islands, and what was passed to them, which hydration keeps.
registerContext('astro-island', () => ({ inIsland: true }));
registerContext('astro-slot astro-static-slot template', () => ({ inIsland: false }));
registerContext('h1 h2 h3 h4 h5 h6', (heading) => ({ heading }));
registerContext('a', (link) => ({ link }));
registerContext('script style', (holder) => ({ holder }));

/** HTML, where embeds are elements, or XML, which encodes them in text. */
function scanMarkup(part: SourceSlice, isXml = false) {
  const { text, offsetInFile, results } = part;
  let mark = -1;
  /** The next mark from an offset, which does not decrease. */
  const markFrom = (from: number) => {
    if (mark >= from) return mark;
    snippetMention.lastIndex = from;
    mark = snippetMention.exec(text)?.index ?? Infinity;
    return mark;
  };
  const read = (tag: Tag, attribute: string) => valueIn(attributesOf(text, tag), attribute);
  // The code in headings, and the scans of links, whose text may be the same.
  const codes: { url: string | undefined; code: string }[] = [];
  const linkScans: (() => void)[] = [];
  // Headings with ids made of an embed that they do not show as code.
  const slugged = new Set<Tag>();
  let paragraph: Tag | undefined;

  /** The paragraph that contains nothing but an element. */
  const paragraphOf = (tag: Tag, endTag: Range) => {
    if (!paragraph || matchEnd(whiteSpace, text, paragraph.end) !== tag.start) return undefined;
    const start = offsetInFile(paragraph.start);
    const end = matchEnd(paragraphEndTag, text, endTag.end);
    const hasOther = (results.embeds.at(-1)?.start ?? 0) > start;
    return end === undefined || hasOther ? undefined : { start, end: offsetInFile(end) };
  };

  const addElement = (tag: Tag, { inIsland, heading, lang }: MarkupContext, endTag: Range) => {
    const inHeading = !!heading && read(heading, 'id') !== undefined;
    const place = { inIsland, inHeading, inParagraph: !!paragraph, paragraph: paragraphOf(tag, endTag) };
    addEmbed({ ...part, lang }, tag, endTag, place);
  };

  const openEmbed = (tag: Tag, context: MarkupContext): MarkupContext | undefined => {
    const { isExample, embed } = context;
    if (isXml && !isExample) results.faults.push({ flaw: 'in-xml', start: offsetInFile(tag.start) });
    else if (embed) reportIncomplete(part, offsetInFile(tag.start), 'nested', offsetInFile(embed.start));
    else if (!isExample && tag.isSelfClosing) addElement(tag, context, { start: tag.end, end: tag.end });
    if (tag.isSelfClosing) return undefined;
    if (isXml || isExample) return context;
    return embed ? { ...context, isExample: true } : { ...context, embed: tag };
  };

  /** In the children of an embed, any other one is nested. */
  const scanIn = ({ embed, lang }: MarkupContext, look: (part: SourceSlice) => void) => {
    const inner = { ...part, lang };
    if (!embed) return look(inner);
    for (const start of startsIn(inner, look))
      reportIncomplete(part, start, 'nested', offsetInFile(embed.start));
  };

  const outermost: MarkupContext = { isExample: false, inIsland: false, lang: part.lang };
  walk(text, outermost, {
    isXml,
    open(tag, outside, isBlock) {
      const { name, start, end } = tag;
      if (name === elementName) return openEmbed(tag, outside);
      if (outside.isExample && !outside.embed) return outside;
      if (name === 'snippet' && text.slice(start, start + 320).search(componentTag) === 0)
        reportIncomplete(part, offsetInFile(start), 'unrendered');
      if (name.startsWith(elementName) && brokenOpening.test(`<${name}`))
        results.warnings.push({ start: offsetInFile(start), flaw: 'invalid-id' });
      if (!outside.embed && isBlock) paragraph = name === 'p' ? tag : undefined;
      const inside = contextIn.get(name)?.(tag);
      const hasAttributes = end - start > name.length + 2;
      const isRead = hasAttributes && (markFrom(start) < end || hasLang.test(text.slice(start, end)));
      const attributes = isRead ? attributesOf(text, tag) : [];
      const isIgnored = attributes.some(({ name }) => name === 'data-snippets-ignore');
      if (inside?.isExample || isIgnored) return { ...outside, isExample: true };
      if (inside?.heading && slugOfEmbed.test(valueIn(attributes, 'id') ?? '')) slugged.add(tag);
      const lang = isRead ? langIn(attributes, outside.lang) : outside.lang;
      const context = lang === outside.lang ? outside : { ...outside, lang };
      for (const attribute of attributes) {
        if (mayHold(attribute.value)) scanIn(context, (inner) => scanAttribute(inner, attribute, isXml));
      }
      if (isXml) return /(?:^|:)(?:title|svg)$/.test(name) ? { ...context, holder: tag } : context;
      return inside ? { ...context, ...inside } : context;
    },
    close(closed, endTag, context) {
      const { embed, isExample } = context;
      if (!embed && closed === 'p') paragraph = undefined;
      if (!embed || isExample || closed !== elementName) return;
      if (endTag.start === endTag.end) reportIncomplete(part, offsetInFile(embed.start), 'unclosed');
      else addElement(embed, context, endTag);
    },
    text(range, context, kind) {
      const { isExample, heading, link, holder } = context;
      if (markFrom(range.start) >= range.end) return;
      const shown = () => decodeAttribute(text.slice(range.start, range.end));
      const scanRange = () =>
        scanIn(context, (whole) => {
          const inner = slice(whole, range);
          if (kind === 'text' || kind === 'cdata') {
            const decoded = decodeThrough(inner, kind === 'cdata' ? kind : isXml ? 'xml-text' : 'html-text');
            if (!isXml || holder) scanText(decoded);
            else scanString({ ...decoded, shows: 'html', isHtml: true });
          } else if (kind === 'rcdata') scanText(inner);
          else if (holder?.name === 'style') scanCode(inner, 'in-style');
          else if (!holder) return;
          else if (!dataScripts.test(read(holder, 'type') ?? '')) scanCode(inner, 'in-script');
          else scanJson({ ...inner, shows: 'text', isHtml: false }, true);
        });
      if (isExample && heading) {
        slugged.delete(heading);
        codes.push({ url: onPage(`#${read(heading, 'id')}`), code: shown() });
      } else if (link && !isExample) {
        linkScans.push(() => {
          const target = onPage(read(link, 'href') ?? '');
          if (!codes.some(({ url, code }) => url === target && shown().includes(code))) scanRange();
        });
      } else if (!isExample) scanRange();
    },
    cut(start, { isExample, embed }) {
      const isEmbed = text.slice(start).search(embedName) === 1;
      if (isEmbed && !embed && !isExample) reportIncomplete(part, offsetInFile(start), 'unclosed');
    },
    isDone: (offset, { embed }) => !embed && markFrom(offset) === Infinity,
  });
  // Tables of contents show the code in headings as plain text.
  for (const scanLink of linkScans) scanLink();
  for (const { start } of slugged) results.warnings.push({ start: offsetInFile(start), flaw: 'in-id' });
}

/** Where embeds begin that stay out of the result. */
function startsIn(part: SourceSlice, look: (aside: SourceSlice) => void) {
  const found: Scan = { ...part.results, embeds: [], faults: [] };
  look({ ...part, results: found });
  return [...found.embeds, ...found.faults].map(({ start }) => start);
}

/** Where a URL on a page leads. */
const onPage = (url: string) => URL.parse(url, 'https://page.invalid')?.href;

function scanAttribute(part: SourceSlice, attribute: Attribute, isXml: boolean) {
  const { name, quote, start, end } = attribute;
  if (codeAttributes.has(name)) return;
  const { embeds } = part.results;
  const layer = isXml ? 'xml-attribute' : quote ? 'html-attribute' : 'html-unquoted';
  const inner = decodeThrough(slice(part, attribute), layer);
  const before = embeds.length;
  if (refusedAttributes.test(name) || /^\s*javascript:/i.test(inner.text)) {
    scanCode(inner, 'in-attribute', name);
  } else if (name === 'srcdoc') scanMarkup({ ...inner, shows: 'html', isHtml: true });
  else if (name.startsWith('data-') || isJson(inner.text)) scanString({ ...inner, shows: 'text' });
  else scanText(inner);
  const embed = embeds[before];
  const isWhole = embed?.start === part.offsetInFile(start) && embed.end === part.offsetInFile(end);
  if (quote || !isWhole) return;
  // An empty value without quotes would swallow the next attribute.
  const layers = embed.format.layers.with(part.layers.length, 'html-unquoted-whole');
  embed.format = { ...embed.format, layers };
}

/** A string, such as one of JSON: XML, JSON again, or HTML. */
function scanString(part: SourceSlice) {
  if (/^\s*<\?xml\s/.test(part.text)) scanMarkup(part, true);
  else if (isJson(part.text)) scanJson(part);
  else {
    // Text of XML, such as the description of a feed, is HTML.
    const code = part.isPage || part.isHtml ? [] : findCode(part.text);
    const text = withoutCodeSpans(part.text, code);
    // If it has other tags. Otherwise it may be plain text.
    const isHtml = part.isHtml || startTags(text).some((tag) => tag.name !== elementName);
    scanMarkup({ ...part, text, isHtml });
    // In HTML, backticks and fences make no examples.
    const aside = { ...part, results: { ...part.results, warnings: [] } };
    const doubtful = code.filter(({ isDoubtful }) => isDoubtful);
    for (const start of doubtful.flatMap((one) => startsIn(slice(aside, one), scanMarkup)))
      part.results.warnings.push({ start, flaw: 'in-code' });
  }
}

function isJson(text: string) {
  if (!/^\s*[[{"]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

// Up to a quote or line end that is not escaped.
const jsonString = /"([^"\\\n]*(?:\\.[^"\\\n]*)*)"?/gs;

/** The strings of JSON, or of JSON lines. */
function scanJson(part: SourceSlice, inScript = false) {
  for (const { 1: text = '', index } of part.text.matchAll(jsonString)) {
    if (!mayHold(text)) continue;
    const string = slice(part, { start: index + 1, end: index + 1 + text.length });
    const avoidsTags = inScript || /\\u003c/i.test(text);
    scanString({ ...decodeThrough(string, avoidsTags ? 'json-in-script' : 'json'), isHtml: part.isHtml });
  }
}

/** Scripts and styles, where no embed can work. */
function scanCode(part: SourceSlice, flaw: Refusal, attribute?: string) {
  for (const start of startsIn(decodeThrough(part, 'json'), scanText))
    part.results.faults.push({ start, flaw, attribute });
}

const embedOpening = /(?=<snippet-embed[\t\n\f\r />])/i;
// As in titles: words in separate elements, or no-break spaces.
const brokenOpening = /<snippet-embed(?![\w.:\t\n\f\r />-])/i;
const embedClosing = /<\/snippet-embed[\t\n\f\r ]*>/gi;

/** Text without markup other than embeds, encoded or not. */
function scanText(part: SourceSlice) {
  const { text, offsetInFile, results } = part;
  const written = text.search(componentTag);
  if (written !== -1) reportIncomplete(part, offsetInFile(written), 'unrendered');
  const odd = text.search(brokenOpening);
  if (odd !== -1) results.warnings.push({ start: offsetInFile(odd), flaw: 'invalid-id' });
  let start = 0;
  // Each up to the next one only: the time is linear even if all are unclosed.
  for (const { length } of text.split(embedOpening)) {
    const piece = slice(part, { start, end: start + length });
    const read = embedOpening.test(piece.text) ? scanEmbed(piece) : 0;
    scanEncoded(slice(piece, { start: read, end: length }));
    start += length;
  }
}

/** The embed that a text begins with. Returns the end of it, or of its name. */
function scanEmbed(part: SourceSlice) {
  const tag = tagAt(part.text, 0);
  const end = tag?.isSelfClosing ? tag.end : tag && matchEnd(embedClosing, part.text, tag.end);
  if (!tag || !end) {
    reportIncomplete(part, part.offsetInFile(0), 'unclosed');
    return 1 + elementName.length;
  }
  addEmbed(part, tag, { start: tag.isSelfClosing ? end : part.text.lastIndexOf('<', end - 1), end });
  return end;
}

const escapedEmbed = /&(?:amp;|#0*38;|#x0*26;)*(?:lt|#0*60|#x0*3c);?snippet(?:-embed|[\t\n\f\r ])/i;
const percentEncoded = /%(?:25)*3csnippet-embed[^\s"<>&]*/gi;

/** Text that is escaped once more, or part of a URL. */
function scanEncoded(part: SourceSlice) {
  const { text } = part;
  if (!mayHold(text)) return;
  if (escapedEmbed.test(text)) scanText(decodeThrough(part, 'html-text'));
  for (const { 0: url, index: start } of text.matchAll(percentEncoded)) {
    const encoded = slice(part, { start, end: start + url.length });
    scanText(decodeThrough(encoded, /embed\+/i.test(url) ? 'url-query' : 'url'));
  }
}

// Shared by most embeds of a site.
const plainFormats: Record<EmbedAs, InsertionFormat> = {
  html: { as: 'html', layers: [] },
  text: { as: 'text', layers: [] },
};

type EmbedPlace = Pick<FoundEmbed, 'inIsland' | 'inHeading' | 'inParagraph' | 'paragraph'>;
// Of text, which cannot show HTML.
const inText: EmbedPlace = { inIsland: false, inHeading: false, inParagraph: false };

/** Adds an embed to the result, or a warning if it is not valid. */
function addEmbed(part: SourceSlice, tag: Tag, endTag: Range, place = inText) {
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

function reportIncomplete(part: SourceSlice, start: number, flaw: Incomplete, outer?: number) {
  if (isElement(part)) part.results.faults.push({ start, flaw, outer });
  else part.results.warnings.push({ start, flaw });
}

/** Whether what looks like an embed is one. Other files and parts of pages may hold excerpts. */
const isElement = ({ isPage, layers }: SourceSlice) => isPage && layers.length === 0;

/** The language inside an element. An empty one is not known. */
function langIn(attributes: readonly Attribute[], outer: string | undefined) {
  const lang = valueIn(attributes, 'lang') ?? valueIn(attributes, 'xml:lang');
  return lang === undefined ? outer : lang.trim() || undefined;
}

const valueIn = (attributes: readonly Attribute[], name: string) =>
  readAttribute(attributes, name, decodeAttribute);
