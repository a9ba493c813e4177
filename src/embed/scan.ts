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
  blockElements,
  matchEnd,
  type Range,
  startTags,
  type Tag,
  type TextKind,
  tagAt,
  textOf,
  type Visitor,
  walk,
} from './html-scanner.ts';
import type { Form } from './inline.ts';
import { cut, decodeAttribute, enter, type Part } from './layers.ts';

export type FileKind = 'html' | 'xml' | 'json' | 'text';

/** An embed that was found in a file. All places are byte offsets. */
export interface FoundEmbed extends Range {
  /** Decoded but not validated. */
  attributes: EmbedAttributes;
  /** The name of an attribute that is a misspelling of one of these. */
  misspelled?: string | undefined;
  /** What to show when the service is down. Their text is known where text is shown. */
  children: Range & { text?: string };
  form: Form;
  /** The value of the nearest `lang`. */
  lang: string | undefined;
  /** Whether it is in an island's own markup, which the island renders again in the browser. */
  inIsland: boolean;
  /** Whether it is in a heading with an id, as Markdown generates them. */
  inHeading: boolean;
  inParagraph: boolean;
  /** The paragraph that contains only this embed, as Markdown generates it. */
  paragraph?: Range | undefined;
}

type Incomplete = 'unclosed' | 'unrendered' | 'nested';

/** What fails a build: an embed that is incomplete, inside another one, or refused, or a component that was not rendered. */
export interface EmbedFault {
  start: number;
  flaw: Incomplete | 'in-script' | 'in-style' | 'in-xml' | 'in-attribute';
  attribute?: string;
  /** Where the embed begins that one is nested in. */
  outer?: number | undefined;
}

/** What may be meant as it is: an example, an excerpt, or Markdown code. Or a file in which embeds may not work. */
export interface EmbedWarning {
  start: number;
  flaw: Incomplete | 'invalid-id' | 'in-id' | 'in-code' | 'in-xhtml' | 'utf-16';
}

/** All in the order of the file. */
export interface Scan {
  embeds: FoundEmbed[];
  faults: EmbedFault[];
  warnings: EmbedWarning[];
}

interface Search extends Scan {
  /** Whether it is a page. In other files, code is marked with backticks, and strings contain HTML. */
  isPage: boolean;
}

/** What a place means for an embed. */
interface Place {
  shows: EmbedAs;
  /** Whether the attribute `as` can change that. */
  isFree: boolean;
  /** Whether text has to be escaped because it is surrounded by HTML. */
  isHtml: boolean;
}

const inHtml: Place = { shows: 'html', isFree: true, isHtml: true };
const inFile: Place = { shows: 'html', isFree: true, isHtml: false };
const inData: Place = { shows: 'text', isFree: true, isHtml: false };
const inText: Place = { shows: 'text', isFree: false, isHtml: false };
const inTitle: Place = { shows: 'text', isFree: false, isHtml: true };

/**
 * Finds every embed in a file: elements in HTML, and their encoded forms in other text. Examples are left out: code,
 * comments, and elements with `data-snippets-ignore`.
 *
 * The file is read as Latin-1, where a character is a byte: the syntax of all kinds of files is ASCII, every offset is a
 * byte offset, and no byte outside an embed is decoded.
 */
export function scan(file: Buffer, kind: FileKind): Scan {
  const text = file.toString('latin1');
  const search: Search = { isPage: kind === 'html', embeds: [], faults: [], warnings: [] };
  const whole: Part = { text, layers: [], at: (offset) => offset };
  if (!mayHold(text)) {
    const isUtf16 = /^(?:\xff\xfe|\xfe\xff)/.test(text) && embedName.test(text.replaceAll('\0', ''));
    if (isUtf16) search.warnings.push({ flaw: 'utf-16', start: 0 });
  } else if (kind === 'json') scanJson(search, whole, inFile);
  else if (kind === 'text') scanString(search, whole, inFile);
  else scanMarkup(search, whole, inHtml, { isXml: kind === 'xml' });
  readDeclarations(search, text);
  const { embeds, faults, warnings } = search;
  for (const found of [embeds, faults, warnings]) found.sort((a, b) => a.start - b.start);
  return { embeds, faults, warnings };
}

// A browser, too, looks no further for them.
const declarationsEnd = 1024;
const byteOrderMark = '\xef\xbb\xbf';
const xhtml = /^\s*<\?xml\b|application\/xhtml\+xml/i;
const charset =
  /<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w-]+)|^\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([\w-]+)/i;
// With bytes that can be read at all, UTF-16 stands for UTF-8.
const utf8 = /^(?:unicode-1-1-)?utf-?(?:8|16(?:le|be)?)$/i;

/** A file may declare that it is XHTML, or that its encoding is not UTF-8. */
function readDeclarations({ isPage, embeds, warnings }: Search, file: string): void {
  const hasMark = file.startsWith(byteOrderMark);
  const head = file.slice(hasMark ? byteOrderMark.length : 0, declarationsEnd);
  const shown = embeds.find(({ form }) => form.as === 'html');
  if (isPage && shown !== undefined && xhtml.test(head))
    warnings.push({ flaw: 'in-xhtml', start: shown.start });
  const [, inMeta, inXml] = charset.exec(head) ?? [];
  if (hasMark || utf8.test(inMeta ?? inXml ?? 'utf-8')) return;
  for (const embed of embeds) embed.form = { ...embed.form, layers: ['ascii', ...embed.form.layers] };
}

const ignored = 'data-snippets-ignore';
// Once for all pages: making them takes as long as using them. One each: a pattern of alternatives takes several times as
// long. All that is looked for, `lang` apart, has "snippet" in its name.
const marks = /snippet/gi;
const hasLang = /lang\s*=/i;
const componentTag = new RegExp(`<${writtenComponent.source}`, 'i');
// The attributes of copy buttons.
const codeAttributes = new Set(['data-code', 'data-clipboard-text']);
const refusedAttributes = /^(?:on|x-|v-|[:@]|style$)/;
const dataScripts = /[/+]json$|^(?:importmap|speculationrules)$/i;
const blank = /[\t\n\f\r ]*/y;
const paragraphEnd = /[\t\n\f\r ]*<\/p(?:[\t\n\f\r /][^>]*)?>/iy;

/** What is kept about the surrounding elements. */
interface Context {
  /** Whether they are an example, which stays as it is. */
  isExample: boolean;
  /** Whether they are an island's own markup. */
  inIsland: boolean;
  /** The value of the nearest `lang`. */
  lang: string | undefined;
  /** The embed whose children they are. */
  embed?: Tag;
  heading?: Tag;
  link?: Tag;
  /** The element whose text is special: a script, a style, or in XML a title or an image. */
  holder?: Tag;
}

const contextIn = new Map<string, (tag: Tag) => Partial<Context>>();
const inside = (names: string, contextOf: (tag: Tag) => Partial<Context>) => {
  for (const name of names.split(' ')) contextIn.set(name, contextOf);
};
inside('code pre kbd samp', () => ({ isExample: true }));
// Astro marks islands that are hydrated, and in them what was passed to them, which hydration keeps.
inside('astro-island', () => ({ inIsland: true }));
inside('astro-slot astro-static-slot template', () => ({ inIsland: false }));
inside('h1 h2 h3 h4 h5 h6', (heading) => ({ heading }));
inside('a', (link) => ({ link }));
inside('script style', (holder) => ({ holder }));

/** HTML, where an embed is an element, or XML, where it can only be encoded in text. */
function scanMarkup(search: Search, part: Part, place: Place, { isXml = false } = {}): void {
  const { text } = part;
  let mark = -1;
  /** Where the first mark is from an offset on. Offsets do not decrease. */
  const markFrom = (from: number) => {
    marks.lastIndex = from;
    if (mark < from) mark = marks.exec(text)?.index ?? Infinity;
    return mark;
  };
  const read = (tag: Tag, attribute: string) => valueIn(attributesOf(text, tag), attribute);
  // The code in headings, by the URLs of their ids, and what scans links, whose text may be the same.
  const codeAt = new Map<string | undefined, string[]>();
  const linkScans: (() => void)[] = [];
  // The headings whose ids were made of an embed, unless they show it as code.
  const slugged = new Set<Tag>();
  // The one that is open.
  let paragraph: Tag | undefined;

  const addElement = (tag: Tag, { inIsland, heading, lang }: Context, endTag: Range) => {
    const before = search.embeds.at(-1);
    const found = add(search, { ...part, lang }, place, tag, endTag);
    if (found === undefined) return;
    found.inIsland = inIsland;
    found.inHeading = heading !== undefined && read(heading, 'id') !== undefined;
    found.inParagraph = paragraph !== undefined;
    if (paragraph === undefined || matchEnd(blank, text, paragraph.end) !== tag.start) return;
    const start = part.at(paragraph.start);
    const end = matchEnd(paragraphEnd, text, endTag.end);
    const hasOther = before !== undefined && before.start > start;
    if (end !== undefined && !hasOther) found.paragraph = { start, end: part.at(end) };
  };

  /** Embeds in the children of another one, even if they are encoded, are nested. */
  const scanIn = ({ embed }: Context, look: (found: Search) => void) => {
    if (embed === undefined) return look(search);
    for (const start of startsIn(search, look)) report(search, part, start, 'nested', part.at(embed.start));
  };

  const openEmbed = (tag: Tag, context: Context): Context | undefined => {
    const { isExample, embed } = context;
    if (isXml && !isExample) search.faults.push({ flaw: 'in-xml', start: part.at(tag.start) });
    else if (embed !== undefined) report(search, part, part.at(tag.start), 'nested', part.at(embed.start));
    else if (!isExample && tag.isSelfClosing) addElement(tag, context, { start: tag.end, end: tag.end });
    if (tag.isSelfClosing) return undefined;
    if (isXml || isExample) return context;
    return embed === undefined ? { ...context, embed: tag } : { ...context, isExample: true };
  };

  const scanPiece = (search: Search, range: Range, { holder, lang }: Context, kind: TextKind) => {
    const raw = cut({ ...part, lang }, range);
    const type = (holder && read(holder, 'type'))?.trim() ?? '';
    if (kind === 'text' || kind === 'cdata') {
      const inner = enter(raw, kind === 'cdata' ? kind : isXml ? 'xml-text' : 'html-text');
      if (isXml && holder === undefined) scanString(search, inner, inHtml);
      else scanText(search, inner, inText);
    } else if (kind === 'rcdata') scanText(search, raw, inTitle);
    else if (holder?.name === 'style') scanCode(search, raw, { flaw: 'in-style' });
    else if (dataScripts.test(type)) scanJson(search, raw, inData, { inScript: true });
    else if (holder !== undefined) scanCode(search, raw, { flaw: 'in-script' });
  };

  const visitor: Visitor<Context> = {
    open(tag, outside) {
      const { name, start, end } = tag;
      if (name === elementName) return openEmbed(tag, outside);
      if (outside.isExample && outside.embed === undefined) return outside;
      if (name === 'snippet' && text.slice(start, start + 320).search(componentTag) === 0)
        report(search, part, part.at(start), 'unrendered');
      if (name.startsWith(elementName) && broken.test(`<${name}`))
        search.warnings.push({ start: part.at(start), flaw: 'invalid-id' });
      if (outside.embed === undefined && blockElements.has(name)) paragraph = name === 'p' ? tag : undefined;
      const inside = contextIn.get(name)?.(tag);
      const isRead = markFrom(start) < end || hasLang.test(text.slice(start, end));
      const attributes = isRead ? attributesOf(text, tag) : [];
      const isIgnored = attributes.some(({ name }) => name === ignored);
      if (inside?.isExample || isIgnored) return { ...outside, isExample: true };
      if (inside?.heading && attributes.some(({ name, value }) => name === 'id' && slugOfEmbed.test(value)))
        slugged.add(tag);
      const lang = isRead ? langIn(attributes, outside.lang) : outside.lang;
      for (const attribute of attributes) {
        if (mayHold(attribute.value))
          scanIn(outside, (found) => scanAttribute(found, { ...part, lang }, attribute, isXml));
      }
      const context = lang === outside.lang ? outside : { ...outside, lang };
      if (isXml) return /(?:^|:)(?:title|svg)$/.test(name) ? { ...context, holder: tag } : context;
      return inside === undefined ? context : { ...context, ...inside };
    },
    close(closed, at, context, isImplied) {
      const { embed, isExample } = context;
      if (embed === undefined && closed === 'p') paragraph = undefined;
      if (embed === undefined || isExample || closed !== elementName) return;
      if (isImplied) report(search, part, part.at(embed.start), 'unclosed');
      else addElement(embed, context, at);
    },
    text(range, context, kind) {
      const { isExample, heading, link } = context;
      if (markFrom(range.start) >= range.end) return;
      const shown = () => decodeAttribute(text.slice(range.start, range.end));
      const scanRange = () => scanIn(context, (found) => scanPiece(found, range, context, kind));
      if (isExample && heading !== undefined) {
        slugged.delete(heading);
        const target = onPage(`#${read(heading, 'id')}`);
        codeAt.set(target, [...(codeAt.get(target) ?? []), shown()]);
      } else if (link !== undefined && !isExample) {
        linkScans.push(() => {
          const codes = codeAt.get(onPage(read(link, 'href') ?? ''));
          if (!codes?.some((code) => shown().includes(code))) scanRange();
        });
      } else if (!isExample) scanRange();
    },
    cut(start, { isExample, embed }) {
      const isEmbed = text.slice(start + 1, start + 1 + elementName.length).toLowerCase() === elementName;
      if (isEmbed && embed === undefined && !isExample) report(search, part, part.at(start), 'unclosed');
    },
    isDone: (at, { embed }) => embed === undefined && markFrom(at) === Infinity,
  };
  walk(text, { isExample: false, inIsland: false, lang: part.lang }, visitor, { isXml });
  // In the headings of a page, Astro turns code into plain text for links to them, as in a table of contents.
  for (const scanLink of linkScans) scanLink();
  for (const { start } of slugged) search.warnings.push({ start: part.at(start), flaw: 'in-id' });
}

/** Where embeds begin that do not belong to the result, or would be faults. */
function startsIn(search: Search, look: (aside: Search) => void): number[] {
  const aside: Search = { ...search, embeds: [], faults: [] };
  look(aside);
  return [...aside.embeds, ...aside.faults].map(({ start }) => start);
}

/** The URL to which one that is written on a page leads. */
function onPage(url: string): string | undefined {
  return URL.parse(url, 'https://page.invalid')?.href;
}

function scanAttribute(search: Search, part: Part, attribute: Attribute, isXml: boolean): void {
  const { name, quote } = attribute;
  if (codeAttributes.has(name)) return;
  const layer = isXml ? 'xml-attribute' : quote === '' ? 'html-unquoted' : 'html-attribute';
  const inner = enter(cut(part, attribute), layer);
  const before = search.embeds.length;
  if (refusedAttributes.test(name) || /^\s*javascript:/i.test(inner.text)) {
    scanCode(search, inner, { flaw: 'in-attribute', attribute: name });
  } else if (name === 'srcdoc') scanMarkup(search, inner, inHtml);
  else if (name.startsWith('data-') || isJson(inner.text)) scanString(search, inner, inData);
  else scanText(search, inner, inText);
  const [embed] = search.embeds.slice(before);
  const isWhole = embed?.start === part.at(attribute.start) && embed.end === part.at(attribute.end);
  if (quote !== '' || !isWhole) return;
  // Without quotes, an empty value would swallow the next attribute.
  const layers = embed.form.layers.with(part.layers.length, 'html-unquoted-whole');
  embed.form = { ...embed.form, layers };
}

/** A string, such as one of JSON: XML, JSON again, or HTML. */
function scanString(search: Search, part: Part, place: Place): void {
  if (/^\s*<\?xml\s/.test(part.text)) scanMarkup(search, part, inHtml, { isXml: true });
  else if (isJson(part.text)) scanJson(search, part, place);
  else {
    // What XML contains, such as the description of a feed, is HTML.
    const code = search.isPage || place.isHtml ? [] : findCode(part.text);
    const text = withoutCodeSpans(part.text, code);
    // Text with other tags than those of embeds is HTML. Otherwise it may be plain text.
    const isHtml = place.isHtml || startTags(text).some((tag) => tag.name !== elementName);
    scanMarkup(search, { ...part, text }, { ...place, isHtml });
    // Embeds that stay because they are examples in Markdown, where they may be none.
    const asHtml = startsIn({ ...search, warnings: [] }, (aside) => {
      for (const one of code) if (one.isDoubtful) scanMarkup(aside, cut(part, one), inHtml);
    });
    for (const start of asHtml) search.warnings.push({ start, flaw: 'in-code' });
  }
}

function isJson(text: string): boolean {
  if (!/^\s*[[{"]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

// Up to a quote, or the end of a line, that is not escaped.
const jsonString = /"([^"\\\n]*(?:\\.[^"\\\n]*)*)"?/gs;

/** The strings of JSON, or of JSON lines. */
function scanJson(search: Search, part: Part, place: Place, { inScript = false } = {}): void {
  for (const { 1: text = '', index } of part.text.matchAll(jsonString)) {
    if (!mayHold(text)) continue;
    const string = cut(part, { start: index + 1, end: index + 1 + text.length });
    const avoidsTags = inScript || /\\u003c/i.test(text);
    scanString(search, enter(string, avoidsTags ? 'json-in-script' : 'json'), place);
  }
}

/** Scripts and styles, where no embed can work. */
function scanCode(search: Search, part: Part, refusal: Omit<EmbedFault, 'start'>): void {
  const refused = startsIn(search, (aside) => scanText(aside, enter(part, 'json'), inText));
  for (const start of refused) search.faults.push({ start, ...refusal });
}

const opening = /(?=<snippet-embed[\t\n\f\r />])/i;
// By what a site does with a title: words in elements of their own, or a space that does not break.
const broken = /<snippet-embed(?![\w.:\t\n\f\r />-])/i;
const closing = /<\/snippet-embed[\t\n\f\r ]*>/gi;

/** Text without markup other than embeds, encoded or not. */
function scanText(search: Search, part: Part, place: Place): void {
  const written = part.text.search(componentTag);
  if (written !== -1) report(search, part, part.at(written), 'unrendered');
  const odd = part.text.search(broken);
  if (odd !== -1) search.warnings.push({ start: part.at(odd), flaw: 'invalid-id' });
  let start = 0;
  // Each embed up to the next one only, so that the time is linear even if all are unclosed.
  for (const { length } of part.text.split(opening)) {
    const piece = cut(part, { start, end: start + length });
    const read = opening.test(piece.text) ? scanEmbed(search, piece, place) : 0;
    scanEncoded(search, cut(piece, { start: read, end: length }));
    start += length;
  }
}

/** The embed that a text begins with. Returns its end, or that of its name if it has none. */
function scanEmbed(search: Search, part: Part, place: Place): number {
  const tag = tagAt(part.text, 0);
  closing.lastIndex = tag?.end ?? part.text.length;
  const end = tag?.isSelfClosing ? { index: tag.end, 0: '' } : closing.exec(part.text);
  if (tag === undefined || end === null) {
    report(search, part, part.at(0), 'unclosed');
    return 1 + elementName.length;
  }
  const endTag = { start: end.index, end: end.index + end[0].length };
  add(search, part, place, tag, endTag);
  return endTag.end;
}

const escaped = /&(?:amp;|#0*38;|#x0*26;)*(?:lt|#0*60|#x0*3c);?snippet(?:-embed|[\t\n\f\r ])/i;
const percentEncoded = /%(?:25)*3csnippet-embed[^\s"<>&]*/gi;

/** Text that is escaped once more than its place demands, or part of a URL. */
function scanEncoded(search: Search, part: Part): void {
  const { text } = part;
  if (!mayHold(text)) return;
  if (escaped.test(text)) scanText(search, enter(part, 'html-text'), inText);
  for (const { 0: url, index: start } of text.matchAll(percentEncoded)) {
    const encoded = cut(part, { start, end: start + url.length });
    scanText(search, enter(encoded, /embed\+/i.test(url) ? 'url-query' : 'url'), inText);
  }
}

// Shared by most embeds of a site.
const plain: Readonly<Record<EmbedAs, Form>> = {
  html: { as: 'html', layers: [] },
  text: { as: 'text', layers: [] },
};

/** Adds an embed to the result, or a fault or warning if it is not a valid one. */
function add(search: Search, part: Part, place: Place, tag: Tag, endTag: Range): FoundEmbed | undefined {
  const start = part.at(tag.start);
  const written = attributesOf(part.text, tag);
  const read = (name: keyof EmbedAttributes) => valueIn(written, name);
  const attributes = { id: read('id'), params: read('params'), as: read('as'), optional: read('optional') };
  const { id = '', as: asked } = attributes;
  const isId = /^[1-9]\d*$/.test(id) && Number.isSafeInteger(Number(id));
  if (!isId && !isWholePage(search, part)) {
    search.warnings.push({ start, flaw: 'invalid-id' });
    return undefined;
  }
  const as = place.isFree && (asked === 'html' || asked === 'text') ? asked : place.shows;
  const layers = as === 'text' && place.isHtml ? ([...part.layers, 'html-text'] as const) : part.layers;
  const children = part.text.slice(tag.end, endTag.start);
  const found: FoundEmbed = {
    start,
    end: part.at(endTag.end),
    attributes,
    // `is` belongs to HTML.
    misspelled: written.find(({ name }) => !(name in attributes) && name !== 'is' && intendedName(name))
      ?.name,
    children: {
      start: part.at(tag.end),
      end: part.at(endTag.start),
      // Copied, since a part of the page's text would keep all of it in memory.
      ...(as === 'text' && children !== '' && { text: textOf(Buffer.from(children, 'latin1').toString()) }),
    },
    form: layers.length === 0 ? plain[as] : { as, layers },
    lang: langIn(written, part.lang),
    inIsland: false,
    inHeading: false,
    inParagraph: false,
  };
  search.embeds.push(found);
  return found;
}

function report(search: Search, part: Part, start: number, flaw: Incomplete, outer?: number): void {
  if (isWholePage(search, part)) search.faults.push({ start, flaw, outer });
  else search.warnings.push({ start, flaw });
}

/** Whether an element is meant as one. Other files, and parts of pages, may contain excerpts and examples. */
function isWholePage(search: Search, { layers }: Part): boolean {
  return search.isPage && layers.length === 0;
}

/** The language inside an element. One without a value means that the language is not known. */
function langIn(attributes: readonly Attribute[], outer: string | undefined): string | undefined {
  const lang = valueIn(attributes, 'lang') ?? valueIn(attributes, 'xml:lang');
  return lang === undefined ? outer : lang.trim() || undefined;
}

function valueIn(attributes: readonly Attribute[], name: string): string | undefined {
  const found = attributes.find((attribute) => attribute.name === name);
  return found && decodeAttribute(found.value);
}
