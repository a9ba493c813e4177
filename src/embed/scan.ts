import { findCode, type MarkdownCode, withoutCodeSpans } from './code-spans.ts';
import { elementName } from './element.ts';
import {
  add,
  attributeOf,
  decodeAttribute,
  type EmbedWarning,
  type FoundEmbed,
  inData,
  inFile,
  inHtml,
  inText,
  inTextElement,
  type Place,
  type Refusal,
  rangeOf,
  report,
  type Scan,
  type Search,
} from './found.ts';
import {
  type Attribute,
  attributesOf,
  blockElements,
  holdsElement,
  type Range,
  type Tag,
  type TextKind,
  tagAt,
  walk,
} from './html-scanner.ts';
import { asciiLayer, enter, type Part } from './layers.ts';
import { writtenComponent as component, embedName as name } from './may-hold-embeds.ts';

export type FileKind = 'html' | 'xml' | 'json' | 'text';

const componentName = 'snippet';
const opening = /<snippet-embed(?=[\t\n\f\r />])/gi;
const closing = /<\/snippet-embed[\t\n\f\r ]*>/gi;

/**
 * Finds every embed in a file: elements in HTML, and their encoded forms in other text. Examples are left out: code,
 * comments, and elements with `data-snippets-ignore`.
 *
 * The file is read as Latin-1, where a character is a byte: the syntax of all kinds of files is ASCII, every offset is a
 * byte offset, and no byte outside an embed is decoded.
 */
export function scan(file: Buffer, kind: FileKind): Scan {
  const text = file.toString('latin1');
  const search: Search = { file: text, isPage: kind === 'html', embeds: [], faults: [], warnings: [] };
  const whole: Part = { text, layers: [], at: (offset) => offset };
  if (name.test(text) || (search.isPage && component.test(text))) scanners[kind](search, whole);
  else if (isUtf16(text)) search.warnings.push({ flaw: 'utf-16', start: 0 });
  readDeclarations(search);
  const { embeds, faults, warnings } = search;
  for (const found of [embeds, faults, warnings]) found.sort((a, b) => a.start - b.start);
  return { embeds, faults, warnings };
}

// A browser, too, looks no further for them.
const declarationsEnd = 1024;
const charset =
  /<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w-]+)|^\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([\w-]+)/i;
// With bytes that can be read at all, UTF-16 stands for UTF-8.
const isUtf8 = /^(?:unicode-1-1-)?utf-?(?:8|16(?:le|be)?)$/i;

/** A file may declare that it is XHTML, or that its encoding is not UTF-8. */
function readDeclarations({ file, isPage, embeds, warnings }: Search): void {
  if (embeds.length === 0) return;
  const head = file.slice(0, declarationsEnd);
  const isXhtml = isPage && /^(?:\xef\xbb\xbf)?\s*<\?xml\b|application\/xhtml\+xml/i.test(head);
  const shown = embeds.find(({ form }) => form.as === 'html');
  if (isXhtml && shown !== undefined) warnings.push({ flaw: 'in-xhtml', start: shown.start });
  const [, inMeta, inXml] = charset.exec(head) ?? [];
  const declared = inMeta ?? inXml;
  if (declared === undefined || isUtf8.test(declared) || head.startsWith('\xef\xbb\xbf')) return;
  for (const embed of embeds) {
    const { layers } = embed.form;
    embed.form = { ...embed.form, layers: [asciiLayer(layers[0]), ...layers] };
  }
}

function isUtf16(text: string): boolean {
  return /^(?:\xff\xfe|\xfe\xff)/.test(text) && name.test(text.replaceAll('\0', ''));
}

const scanners: Record<FileKind, (search: Search, whole: Part) => void> = {
  html: (search, whole) => scanMarkup(search, whole, inHtml),
  xml: (search, whole) => scanMarkup(search, whole, inHtml, { isXml: true }),
  json: (search, whole) => scanJson(search, whole, inFile),
  text: (search, whole) => scanString(search, whole, inFile),
};

const ignored = 'data-snippets-ignore';
// Once for all pages: making them takes as long as using them.
const names = new RegExp(name, 'gi');
const components = new RegExp(component, 'gi');
const ignoredNames = new RegExp(ignored, 'gi');
const langs = /lang\s*=/gi;
// The attributes of copy buttons.
const codeAttributes = new Set(['data-code', 'data-clipboard-text']);
const refusedAttributes = /^(?:on|x-|[:@]|style$)/;
const dataScripts = /[/+]json$|^(?:importmap|speculationrules)$/i;

/** What is kept about the surrounding elements. */
interface Context {
  /** Whether they are an example, which stays as it is. */
  isExample: boolean;
  /** Whether they are an island's own markup. */
  inIsland: boolean;
  /** The surrounding heading. */
  heading?: Tag;
  /** The surrounding link. */
  link?: Tag;
  /** The value of the nearest `lang`. */
  lang?: string | undefined;
  /** The element whose text is special: a script, a style, or the title of XML. */
  holder?: Tag;
}

const contextIn = new Map<string, Partial<Context>>([
  ...['code', 'pre', 'kbd', 'samp'].map((code) => [code, { isExample: true }] as const),
  // Astro marks islands that are hydrated, and in them what was passed to them, which hydration keeps.
  ['astro-island', { inIsland: true }],
  ...['astro-slot', 'astro-static-slot', 'template'].map((slot) => [slot, { inIsland: false }] as const),
]);

const isHeading = (name: string) => /^h[1-6]$/.test(name);

/** HTML, where an embed is an element; or XML, where it can only be encoded in text. */
function scanMarkup(search: Search, part: Part, place: Place, { isXml = false } = {}): void {
  const { text } = part;
  const nameFrom = finder(text, names);
  const isWholePage = search.isPage && part.layers.length === 0;
  const componentFrom = isWholePage ? finder(text, components) : () => Infinity;
  const ignoredFrom = finder(text, ignoredNames);
  const langFrom = finder(text, langs);
  const hasName = ({ start, end }: Range) => nameFrom(start) < end;
  let embed: { tag: Tag; inside: Context } | undefined;
  const codeInHeadings = new Map<Tag, string>();
  const labels: Label[] = [];
  // The open paragraph, as long as it contains nothing but one embed.
  let paragraph: { start: number; holds?: FoundEmbed } | undefined;
  // Whether a paragraph is open, whatever it contains.
  let inParagraph = false;

  const close = (tag: Tag, children: Range, end: number, context: Context) => {
    const { inIsland, heading, lang } = context;
    embed = undefined;
    const inHeading = heading !== undefined && attributeOf(text, heading, 'id') !== undefined;
    const where = { ...place, inIsland, inHeading, inParagraph, lang };
    const found = add(search, part, where, { tag, children, end });
    if (paragraph === undefined) return;
    paragraph = found && paragraph.holds === undefined ? { ...paragraph, holds: found } : undefined;
  };

  const openEmbed = (tag: Tag, context: Context): Context | undefined => {
    if (isXml) {
      if (!context.isExample) search.faults.push({ flaw: 'in-xml', start: part.at(tag.start) });
      return context;
    }
    const inside = tag.isSelfClosing ? undefined : { ...context };
    if (context.isExample) return inside;
    if (embed !== undefined) report(search, part, tag.start, embed.tag.start);
    else if (inside === undefined) close(tag, { start: tag.end, end: tag.end }, tag.end, context);
    else embed = { tag, inside };
    return inside;
  };

  const open = (tag: Tag, outside: Context): Context | undefined => {
    const lang = langFrom(tag.start) < tag.end ? langIn(text, tag, outside.lang) : outside.lang;
    const context = lang === outside.lang ? outside : { ...outside, lang };
    if (tag.name === elementName) return openEmbed(tag, context);
    if (context.isExample) return context;
    if (tag.name === componentName && componentFrom(tag.start) === tag.start) {
      const { start } = tag;
      search.faults.push({ flaw: 'unrendered', start: part.at(start), tag: text.slice(start, tag.end) });
    }
    if (embed !== undefined) return context;
    paragraph = tag.name === 'p' ? { start: tag.start } : undefined;
    if (paragraph !== undefined) inParagraph = true;
    else if (inParagraph && blockElements.has(tag.name)) inParagraph = false;
    const inside = contextIn.get(tag.name);
    const attributes = hasName(tag) || ignoredFrom(tag.start) < tag.end ? attributesOf(text, tag) : [];
    if (inside?.isExample || attributes.some((attribute) => attribute.name === ignored)) {
      return { ...context, isExample: true };
    }
    for (const attribute of attributes) {
      if (!hasName(attribute)) continue;
      scanAttribute(search, part, attribute, { isXml, lang });
      // Its start tag shows something, and has to stay.
      paragraph = undefined;
    }
    if (inside !== undefined) return { ...context, ...inside };
    if (isHeading(tag.name)) return { ...context, heading: tag };
    if (tag.name === 'a') return { ...context, link: tag };
    const isHolder = isXml ? /(?:^|:)title$/.test(tag.name) : tag.name === 'script' || tag.name === 'style';
    return isHolder ? { ...context, holder: tag } : context;
  };

  const scanRange = (range: Range, context: Context, kind: TextKind) => {
    const unrendered = componentFrom(range.start);
    if (unrendered < range.end && kind === 'text') {
      search.warnings.push({ flaw: 'unrendered', start: part.at(unrendered) });
    } else if (unrendered < range.end && kind === 'rcdata' && text.charAt(unrendered) === '<') {
      const tag = text.slice(unrendered, range.end);
      search.faults.push({ flaw: 'unrendered', start: part.at(unrendered), tag });
    }
    if (!hasName(range)) return;
    const { holder, inIsland, lang } = context;
    const raw = cut(part, range);
    if (kind === 'text' || kind === 'cdata') {
      const inner = enter(part, range, kind === 'cdata' ? kind : isXml ? 'xml-text' : 'html-text');
      if (inner === undefined) return;
      if (isXml && holder === undefined) scanString(search, inner, { ...inHtml, inUrls: true, lang });
      else scanText(search, inner, { ...inText, inUrls: isXml || place.inUrls, lang });
    } else if (kind === 'rcdata') scanText(search, raw, { ...inTextElement, inIsland, lang });
    else if (holder?.name === 'style') scanCode(search, raw, { flaw: 'in-style' });
    else if (holder !== undefined && dataScripts.test(attributeOf(text, holder, 'type')?.trim() ?? ''))
      scanJson(search, raw, { ...inData, lang }, { inScript: true });
    else if (holder !== undefined) scanCode(search, raw, { flaw: 'in-script' });
  };

  walk<Context>(
    text,
    { isExample: false, inIsland: false, lang: place.lang },
    {
      open,
      close(closed, at, context, isImplied) {
        if (embed !== undefined) {
          const { tag, inside } = embed;
          if (context !== inside || closed !== elementName) return;
          if (!isImplied) return close(tag, { start: tag.end, end: at.start }, at.end, context);
          report(search, part, tag.start);
          embed = undefined;
        }
        if (closed !== 'p') return;
        inParagraph = false;
        if (paragraph?.holds && !isImplied)
          paragraph.holds.paragraph = rangeOf(part, { start: paragraph.start, end: at.end });
        paragraph = undefined;
      },
      text(range, context, kind) {
        if (embed !== undefined) return;
        if (paragraph !== undefined && !isBlank(text, range)) paragraph = undefined;
        if (context.isExample) {
          const { heading } = context;
          if (heading === undefined || !hasName(range)) return;
          const code = text.slice(range.start, range.end);
          codeInHeadings.set(heading, `${codeInHeadings.get(heading) ?? ''}${code}\n`);
          return;
        }
        const { link } = context;
        if (link === undefined) return scanRange(range, context, kind);
        const { embeds, warnings } = search;
        const counts = [embeds.length, warnings.length];
        scanRange(range, context, kind);
        const found = [...embeds.slice(counts[0]), ...warnings.slice(counts[1])];
        labels.push(...found.map((one) => ({ link, found: one })));
      },
      comment() {
        if (embed === undefined) paragraph = undefined;
      },
      cut(start, { isExample }) {
        const isEmbed = text.slice(start + 1, start + 1 + elementName.length).toLowerCase() === elementName;
        if (isEmbed && embed === undefined && !isExample) report(search, part, start);
      },
      isDone: (at) =>
        embed === undefined &&
        paragraph?.holds === undefined &&
        nameFrom(at) === Infinity &&
        componentFrom(at) === Infinity,
    },
    { isXml },
  );
  if (isWholePage && codeInHeadings.size > 0) removeExamples(search, codeInHeadings, labels);
}

/** What was found in the text of a link. */
interface Label {
  link: Tag;
  found: FoundEmbed | EmbedWarning;
}

/**
 * In the headings of a page, Astro turns code into plain text for links to them. So what is an example in a heading has
 * to be one in a table of contents.
 *
 * @param codeIn the code in headings.
 */
function removeExamples(search: Search, codeIn: ReadonlyMap<Tag, string>, labels: readonly Label[]): void {
  const { file } = search;
  const codeOf = new Map(
    [...codeIn].map(([heading, code]) => [attributeOf(file, heading, 'id') ?? '', decodeAttribute(code)]),
  );
  const isExample = ({ link, found }: Label) => {
    const href = attributeOf(file, link, 'href') ?? '';
    const code = href.startsWith('#') ? codeOf.get(decodeFragment(href.slice(1))) : undefined;
    if (code === undefined || 'flaw' in found) return code !== undefined;
    return code.includes(decodeAttribute(file.slice(found.start, found.end)));
  };
  const examples = new Set(labels.filter(isExample).map(({ found }) => found));
  search.embeds = search.embeds.filter((embed) => !examples.has(embed));
  search.warnings = search.warnings.filter((warning) => !examples.has(warning));
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function scanAttribute(
  search: Search,
  part: Part,
  attribute: Attribute,
  { isXml, lang }: { isXml: boolean; lang: string | undefined },
): void {
  const { name: attributeName, quote } = attribute;
  if (codeAttributes.has(attributeName)) return;
  const inner = enter(
    part,
    attribute,
    isXml ? 'xml-attribute' : quote === '' ? 'html-unquoted' : 'html-attribute',
  );
  if (inner === undefined) return;
  const before = search.embeds.length;
  if (refusedAttributes.test(attributeName)) {
    scanCode(search, inner, { flaw: 'in-attribute', attribute: attributeName });
  } else if (attributeName === 'srcdoc') scanMarkup(search, inner, { ...inHtml, lang });
  else if (isJson(inner.text)) scanJson(search, inner, { ...inData, lang });
  else if (attributeName.startsWith('data-')) scanString(search, inner, { ...inData, lang });
  else scanText(search, inner, { ...inText, lang });
  if (quote !== '') return;
  // Without quotes, an empty value would swallow the next attribute.
  for (const embed of search.embeds.slice(before)) {
    if (embed.start !== part.at(attribute.start) || embed.end !== part.at(attribute.end)) continue;
    const layers = embed.form.layers.with(part.layers.length, 'html-unquoted-whole');
    embed.form = { ...embed.form, layers };
  }
}

/** A string, such as one of JSON: XML, JSON again, or HTML. */
function scanString(search: Search, part: Part, place: Place): void {
  if (/^\s*<\?xml\s/.test(part.text))
    scanMarkup(search, part, { ...inHtml, lang: place.lang }, { isXml: true });
  else if (isJson(part.text)) scanJson(search, part, place);
  else {
    // What XML contains, such as the description of a feed, is HTML.
    const code = search.isPage || place.isHtml ? [] : findCode(part.text);
    const text = withoutCodeSpans(part.text, code);
    // Text with other tags than those of embeds is HTML. Otherwise it may be plain text.
    const isHtml = place.isHtml || holdsElement(text, (tag) => tag !== elementName);
    scanMarkup(search, { ...part, text }, { ...place, isHtml });
    for (const one of code) if (one.isDoubtful) warnOfCode(search, part, one);
  }
}

/** Warns of embeds that stay because they are examples in Markdown, where they may be none. */
function warnOfCode(search: Search, part: Part, code: MarkdownCode): void {
  const asHtml: Search = { ...search, embeds: [], faults: [], warnings: [] };
  const inside = cut(part, code);
  if (name.test(inside.text)) scanMarkup(asHtml, inside, { ...inHtml, inUrls: true });
  for (const { start } of asHtml.embeds) search.warnings.push({ start, flaw: 'in-code' });
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

/** The strings of JSON, or of JSON lines. */
function scanJson(search: Search, part: Part, place: Place, { inScript = false } = {}): void {
  const { text } = part;
  const nameFrom = finder(text, names);
  for (let start = text.indexOf('"') + 1; start > 0 && nameFrom(start) !== Infinity; ) {
    const end = stringEnd(text, start);
    if (nameFrom(start) < end) {
      const avoidsTags = inScript || /\\u003c/i.test(text.slice(start, end));
      const inner = enter(part, { start, end }, avoidsTags ? 'json-in-script' : 'json');
      if (inner !== undefined) scanString(search, inner, place);
    }
    start = text.indexOf('"', end + 1) + 1;
  }
}

function stringEnd(text: string, start: number): number {
  const end = /["\n]/g;
  end.lastIndex = start;
  for (let found = end.exec(text); found !== null; found = end.exec(text)) {
    let backslashes = 0;
    while (text.charCodeAt(found.index - 1 - backslashes) === 0x5c) backslashes += 1;
    if (backslashes % 2 === 0) return found.index;
  }
  return text.length;
}

/** Scripts and styles, where no embed can work. */
function scanCode(search: Search, part: Part, refusal: Refusal): void {
  const inner = enter(part, { start: 0, end: part.text.length }, 'json');
  if (inner !== undefined) scanText(search, inner, { ...inText, refusal });
}

/** Text without markup other than embeds, encoded or not. */
function scanText(search: Search, part: Part, place: Place): void {
  const { text } = part;
  const starts = [...text.matchAll(opening)].map(({ index }) => index);
  let read = 0;
  for (const [number, start] of starts.entries()) {
    // Searched up to the next one only, so that the time is linear even if all are unclosed.
    const embed = embedAt(text.slice(0, starts[number + 1]), start);
    scanEncoded(search, cut(part, { start: read, end: start }), place);
    if (embed === undefined) report(search, part, start);
    else add(search, part, place, embed);
    read = embed?.end ?? start + 1 + elementName.length;
  }
  scanEncoded(search, cut(part, { start: read, end: text.length }), place);
}

function embedAt(text: string, start: number): { tag: Tag; children: Range; end: number } | undefined {
  const tag = tagAt(text, start);
  if (tag === undefined) return undefined;
  if (tag.isSelfClosing) return { tag, children: { start: tag.end, end: tag.end }, end: tag.end };
  closing.lastIndex = tag.end;
  const found = closing.exec(text);
  return found === null
    ? undefined
    : { tag, children: { start: tag.end, end: found.index }, end: closing.lastIndex };
}

const escaped = /&(?:amp;|#0*38;|#x0*26;)*(?:lt|#0*60|#x0*3c);?snippet-embed/i;
const percentEncoded = /%(?:25)*3csnippet-embed[^\s"<>&]*/gi;

/** Text that is escaped once more than its place demands: shown escaped, or part of a URL. */
function scanEncoded(search: Search, part: Part, place: Place): void {
  const { text } = part;
  if (!name.test(text)) return;
  const range = { start: 0, end: text.length };
  if (escaped.test(text)) {
    const inner = enter(part, range, 'html-text');
    if (inner !== undefined)
      scanText(search, inner, { ...place, shows: 'text', isFree: false, isHtml: false, inUrls: false });
  }
  if (!place.inUrls) return;
  for (const { 0: url, index } of text.matchAll(percentEncoded)) {
    const inner = enter(
      part,
      { start: index, end: index + url.length },
      /embed\+/i.test(url) ? 'url-query' : 'url',
    );
    if (inner !== undefined) scanText(search, inner, place);
  }
}

/** The language inside an element. One without a value means that the language is not known. */
function langIn(text: string, tag: Tag, outer: string | undefined): string | undefined {
  const lang = attributeOf(text, tag, 'lang') ?? attributeOf(text, tag, 'xml:lang');
  return lang === undefined ? outer : lang.trim() || undefined;
}

/** A range of a part. */
function cut({ text, layers, at }: Part, { start, end }: Range): Part {
  return { text: text.slice(start, end), layers, at: (offset) => at(start + offset) };
}

/** Returns a function that finds the first match of a global pattern from an offset on. Offsets must not decrease. */
function finder(text: string, all: RegExp): (from: number) => number {
  let next = -1;
  return (from) => {
    if (next < from) {
      all.lastIndex = from;
      next = all.exec(text)?.index ?? Infinity;
    }
    return next;
  };
}

function isBlank(text: string, { start, end }: Range): boolean {
  return !/[^\t\n\f\r ]/.test(text.slice(start, end));
}
