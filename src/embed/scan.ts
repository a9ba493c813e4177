import type { Range } from '../markup/edits.ts';
import type { TextKind } from '../markup/elements.ts';
import { startTags } from '../markup/start-tags.ts';
import { type Attribute, attributesOf, decodeAttribute, matchEnd, type Tag } from '../markup/tags.ts';
import { type MarkupVisitor, type OpenElement, walk } from '../markup/walk.ts';
import { addEmbed, langIn, valueIn } from './add-embed.ts';
import { findCode, withoutCodeSpans } from './code-spans.ts';
import { applyDeclarations } from './declarations.ts';
import { elementName, embedNamePattern, embedSlugPattern, mayContainEmbed } from './element.ts';
import { foldedOpening, mayContainEmbedIn } from './file-search.ts';
import type { FileKind, Paragraph, ScanResults } from './found-embed.ts';
import type { Layer } from './layers.ts';
import { contextChangeOf, type MarkupContext } from './markup-context.ts';
import { nestingsAround } from './nesting.ts';
import { defaultAsIn } from './places.ts';
import { brokenOpening, scanCode, scanText, unrenderedComponentTag } from './scan-text.ts';
import { scanUrl } from './scan-url.ts';
import { checkSlots } from './slots.ts';
import { decodeThrough, findStarts, reportIncomplete, type SourceSlice, slice } from './source-slice.ts';
import { exampleAttributes, isCodeAttribute, scriptSyntaxOf, urlSyntaxOf, xmlSyntaxOf } from './syntax.ts';

/**
 * Finds every embed in a file, in any encoding. Leaves out examples: code, comments, and elements with
 * `data-snippets-ignore`.
 *
 * The file is read as Latin-1, where each character is a byte: all syntax is ASCII, and every offset is a byte
 * offset. Where text is encoded inside other text, such as HTML in a JSON string in an attribute, each encoding is
 * a layer. The layer is decoded with a map back to the bytes of the file (see `SourceSlice`), and the decoded text
 * is scanned by its own syntax: `MarkupScanner` for HTML and XML, `scanJson`, `scanString` where the syntax has to
 * be told from the text, `scanText` without markup. All but the last call each other, hence they share this file.
 */
export function scan(file: Buffer, kind: FileKind): ScanResults {
  const text = file.toString('latin1');
  const isMentioned = mayContainEmbedIn(kind, text);
  const readAs = kind === 'other' && isMentioned ? kindByText(text) : kind;
  const isPage = kind === 'html';
  const results: ScanResults = { embeds: [], faults: [], warnings: [] };
  const whole: SourceSlice = {
    text,
    layers: [],
    offsetInFile: (offset) => offset,
    results,
    needsEscapedText: readAs === 'html',
    isPage,
    defaultAs: 'html',
  };

  if (!isMentioned) {
    const isUtf16 = /^(?:\xff\xfe|\xfe\xff)/.test(text) && embedNamePattern.test(text.replaceAll('\0', ''));
    if (isUtf16) results.warnings.push({ flaw: 'utf-16', start: 0 });
  } else if (readAs === 'other') refuseAll(whole);
  else if (readAs === 'json') scanJson(whole);
  else if (readAs === 'text') scanString(whole);
  else scanMarkup(whole, readAs === 'xml');
  if (readAs === 'html' || readAs === 'xml') applyDeclarations(whole);
  if (isPage) checkSlots(whole);

  for (const list of [results.embeds, results.faults, results.warnings]) {
    list.sort((a, b) => a.start - b.start);
  }
  return results;
}

/** Tells the kind of a file whose name does not say what it holds. */
function kindByText(text: string): FileKind {
  if (/^\s*<(?:!doctype html|html)[\s>]/i.test(text)) return 'html';
  if (/^\s*<\?xml\s/.test(text)) return 'xml';
  return isJson(text) ? 'json' : 'other';
}

/** Reports each embed as a fault: in a format such as YAML, content would have to be escaped as the format demands. */
function refuseAll({ text, results }: SourceSlice) {
  for (const { index } of text.matchAll(foldedOpening))
    results.faults.push({ start: index, flaw: 'in-format' });
}

/** Scans HTML, where embeds are elements, or XML, where embeds are encoded in text. */
function scanMarkup(source: SourceSlice, isXml = false) {
  new MarkupScanner(source, isXml).scan();
}

// The two patterns are apart: one pattern with alternatives takes several times as long.
const snippetMention = /snippet/gi;
const hasLang = /lang\s*=/i;

const whiteSpace = /[\t\n\f\r ]*/y;
const paragraphEndTag = /[\t\n\f\r ]*<\/p(?:[\t\n\f\r /][^>]*)?>/iy;

const noAttributes: readonly Attribute[] = [];

/** Text in a link. It is scanned once the headings of the page are known, since it may quote one. */
interface LinkText {
  link: Tag;
  range: Range;
  context: MarkupContext;
  kind: TextKind;
}

/**
 * Finds the embeds in markup in one walk. Most tags and texts mention no snippet, and are passed over:
 * `#nextMention` says so from one search of the text.
 */
class MarkupScanner implements MarkupVisitor<MarkupContext> {
  readonly isXml: boolean;
  readonly #source: SourceSlice;
  /** The offset at which the text mentions a snippet next; `Infinity` if nowhere. */
  #mention = -1;
  /** The elements around the last embed that is not inside another one. */
  #aroundEmbed: OpenElement = { name: '' };
  /** The open paragraph outside of embeds. */
  #paragraph: Tag | undefined;
  /** The code in headings, with the URLs by which links on the page lead to the headings. */
  readonly #headingCodes: { url: string | undefined; code: string }[] = [];
  readonly #linkTexts: LinkText[] = [];
  /** Headings to warn of: their ids were made from the tag of an embed, which they do not show as code. */
  readonly #headingsWithTagIds: Set<Tag> = new Set();

  constructor(source: SourceSlice, isXml: boolean) {
    this.#source = source;
    this.isXml = isXml;
  }

  scan(): void {
    const { text, lang, offsetInFile, results } = this.#source;
    walk<MarkupContext>(text, { isExample: false, inIsland: false, showsText: false, lang }, this);

    for (const linkText of this.#linkTexts) {
      if (!this.#quotesHeading(linkText)) this.#scanRange(linkText.range, linkText.context, linkText.kind);
    }
    for (const { start } of this.#headingsWithTagIds) {
      results.warnings.push({ start: offsetInFile(start), flaw: 'in-id' });
    }
  }

  open(tag: Tag, outside: MarkupContext, isBlock: boolean, around: OpenElement): MarkupContext | undefined {
    const { name } = tag;
    if (name === elementName) {
      if (!outside.embed) this.#aroundEmbed = around;
      return this.#openEmbed(tag, outside);
    }
    if (outside.isExample && !outside.embed) return outside;

    if (name.startsWith('snippet')) this.#reportLookalike(tag);
    if (!outside.embed && isBlock) this.#paragraph = name === 'p' ? tag : undefined;

    const change = contextChangeOf(tag);
    const attributes = this.#relevantAttributes(tag);
    if (change?.isExample || attributes.some(isIgnoreMark)) return { ...outside, isExample: true };
    if (change?.heading && embedSlugPattern.test(valueIn(attributes, 'id') ?? '')) {
      this.#headingsWithTagIds.add(tag);
    }

    const lang = attributes.length > 0 ? langIn(attributes, outside.lang) : outside.lang;
    const context = lang === outside.lang ? outside : { ...outside, lang };
    for (const attribute of attributes) {
      if (mayContainEmbed(attribute.value)) {
        this.#scanInside(context, (source) =>
          scanAttribute(source, { tag, attributes, attribute }, this.isXml),
        );
      }
    }

    if (this.isXml) return xmlSyntaxOf(name, undefined) ? { ...context, holder: tag } : context;
    return change ? { ...context, ...change } : context;
  }

  close(name: string, endTag: Range, context: MarkupContext): void {
    const { embed, isExample } = context;
    if (!embed && name === 'p') this.#paragraph = undefined;
    if (!embed || isExample || name !== elementName) return;

    const isUnclosed = endTag.start === endTag.end;
    if (isUnclosed) this.#reportIncomplete(embed.start, 'unclosed');
    else this.#addElement(embed, context, endTag);
  }

  text(range: Range, context: MarkupContext, kind: TextKind): void {
    if (this.#nextMention(range.start) >= range.end) return;

    const { isExample, heading, link } = context;
    if (isExample && heading) {
      this.#headingsWithTagIds.delete(heading);
      const url = urlOnPage(`#${this.#attribute(heading, 'id')}`);
      this.#headingCodes.push({ url, code: this.#decodedText(range) });
    } else if (isExample) return;
    else if (link) this.#linkTexts.push({ link, range, context, kind });
    else this.#scanRange(range, context, kind);
  }

  unfinishedTag(start: number, { isExample, embed }: MarkupContext): void {
    const isEmbed = this.#source.text.slice(start).search(embedNamePattern) === 1;
    if (isEmbed && !embed && !isExample) this.#reportIncomplete(start, 'unclosed');
  }

  isDone(offset: number, { embed }: MarkupContext): boolean {
    return !embed && this.#nextMention(offset) === Infinity;
  }

  /** Finds where the text mentions a snippet next. Offsets must not decrease: the last find is kept. */
  #nextMention(from: number) {
    if (this.#mention >= from) return this.#mention;
    snippetMention.lastIndex = from;
    this.#mention = snippetMention.exec(this.#source.text)?.index ?? Infinity;
    return this.#mention;
  }

  /** Returns the context inside an embed; `undefined` if the embed ends with its tag. */
  #openEmbed(tag: Tag, context: MarkupContext): MarkupContext | undefined {
    const { offsetInFile, results } = this.#source;
    const { isExample, embed } = context;
    if (this.isXml && !isExample) results.warnings.push({ flaw: 'in-xml', start: offsetInFile(tag.start) });
    if (embed) this.#reportIncomplete(tag.start, 'nested', embed);
    else if (!isExample && tag.isSelfClosing)
      this.#addElement(tag, context, { start: tag.end, end: tag.end });

    if (tag.isSelfClosing) return undefined;
    if (isExample) return context;
    return embed ? { ...context, isExample: true } : { ...context, embed: tag };
  }

  #addElement(tag: Tag, { inIsland, heading, holder, lang, showsText }: MarkupContext, endTag: Range) {
    const defaultAs = this.isXml || showsText ? defaultAsIn('textElement') : this.#source.defaultAs;
    const isHtmlTitle = this.isXml && holder !== undefined && this.#xmlSyntax(holder) === 'html-title';
    const needsEscapedText = this.isXml ? isHtmlTitle : this.#source.needsEscapedText;
    addEmbed({ ...this.#source, defaultAs, needsEscapedText, lang }, tag, endTag, {
      isXml: this.isXml,
      inIsland,
      inHeading: !!heading && this.#attribute(heading, 'id') !== undefined,
      around: nestingsAround(this.#aroundEmbed, !!this.#paragraph),
      paragraph: this.#paragraphAround(tag, endTag),
    });
  }

  /** Returns the paragraph around an embed, if it contains nothing else. */
  #paragraphAround(tag: Tag, endTag: Range): Paragraph | undefined {
    const paragraph = this.#paragraph;
    const { text, offsetInFile, results } = this.#source;
    if (!paragraph || matchEnd(whiteSpace, text, paragraph.end) !== tag.start) return undefined;

    const start = offsetInFile(paragraph.start);
    const end = matchEnd(paragraphEndTag, text, endTag.end);
    const hasOtherEmbed = (results.embeds.at(-1)?.start ?? 0) > start;
    if (end === undefined || hasOtherEmbed) return undefined;

    const range = { start, end: offsetInFile(end) };
    if (!attributesOf(text, paragraph).some(isOfAuthor)) return range;
    const names = [paragraph.start + 1, text.indexOf('/', endTag.end) + 1];
    // A name that is written as an entity stays, and a block then is one in a paragraph.
    if (names.some((name) => offsetInFile(name + 1) !== offsetInFile(name) + 1)) return undefined;
    const [startName = 0, endName = 0] = names.map(offsetInFile);
    return { ...range, startName, endName };
  }

  /** Reports a `<Snippet>` that was not rendered, and the tag of an embed that was split. */
  #reportLookalike({ name, start }: Tag) {
    const { text, offsetInFile, results } = this.#source;
    // The pattern reads up to 300 characters behind the name, so 320 are enough.
    if (name === 'snippet' && text.slice(start, start + 320).search(unrenderedComponentTag) === 0) {
      this.#reportIncomplete(start, 'unrendered');
    }
    if (name.startsWith(elementName) && brokenOpening.test(`<${name}`)) {
      results.warnings.push({ start: offsetInFile(start), flaw: 'invalid-id' });
    }
  }

  /** Reads the attributes of a tag, if an embed or `lang` may be among them. */
  #relevantAttributes(tag: Tag): readonly Attribute[] {
    const { text } = this.#source;
    const { name, start, end } = tag;
    const hasAttributes = end - start > name.length + 2;
    if (!hasAttributes) return noAttributes;
    const isRelevant = this.#nextMention(start) < end || hasLang.test(text.slice(start, end));
    return isRelevant ? attributesOf(text, tag) : noAttributes;
  }

  /** Scans what is inside an element. In the children of an embed, any other embed is reported as nested. */
  #scanInside({ embed, lang }: MarkupContext, scanSource: (source: SourceSlice) => void) {
    const source = { ...this.#source, lang };
    if (!embed) return scanSource(source);
    for (const start of findStarts(source, scanSource)) {
      reportIncomplete(this.#source, start, 'nested', this.#source.offsetInFile(embed.start));
    }
  }

  #scanRange(range: Range, context: MarkupContext, kind: TextKind) {
    this.#scanInside(context, (source) => this.#scanTextNode(slice(source, range), context, kind));
  }

  /** Scans text by the element that holds it. */
  #scanTextNode(source: SourceSlice, { holder }: MarkupContext, kind: TextKind) {
    if (kind === 'rcdata') scanText(source, scanShown);
    else if (kind === 'raw') this.#scanRawText(source, holder);
    else if (this.isXml)
      this.#scanXmlText(decodeThrough(source, kind === 'cdata' ? 'cdata' : 'xml-text'), holder);
    else scanShown(decodeThrough(source, kind === 'cdata' ? 'cdata' : 'html-text'));
  }

  #scanXmlText(source: SourceSlice, holder: Tag | undefined) {
    const syntax = holder && this.#xmlSyntax(holder);
    if (syntax === 'url') scanUrl(source, 'url', scanDecodedValue);
    else if (syntax) scanText({ ...source, needsEscapedText: syntax === 'html-title' });
    else scanString({ ...source, defaultAs: defaultAsIn('xmlText'), needsEscapedText: true });
  }

  /** Scans scripts and styles. Browsers do not show what is in other elements with raw text. */
  #scanRawText(source: SourceSlice, holder: Tag | undefined) {
    if (holder?.name === 'style') return scanCode(source, 'in-style');
    if (!holder) return;
    const type = this.#attribute(holder, 'type');
    const syntax = scriptSyntaxOf(type);
    if (syntax === 'code') scanCode(source, 'in-script');
    else if (syntax === 'unknown') scanCode(source, 'in-unknown-script', type);
    else if (syntax === 'json') {
      scanJson({ ...source, defaultAs: defaultAsIn('jsonScript'), needsEscapedText: false }, true);
    } else {
      const template = decodeThrough(source, 'script-template');
      scanMarkup({ ...template, defaultAs: defaultAsIn('templateScript'), needsEscapedText: true });
    }
  }

  /** Whether a link's text repeats code of the heading it leads to, as in a table of contents: an example. */
  #quotesHeading({ link, range }: LinkText) {
    const target = urlOnPage(this.#attribute(link, 'href') ?? '');
    return this.#headingCodes.some(
      ({ url, code }) => url === target && this.#decodedText(range).includes(code),
    );
  }

  #xmlSyntax(holder: Tag) {
    return xmlSyntaxOf(holder.name, this.#attribute(holder, 'type'));
  }

  #attribute(tag: Tag, name: string) {
    return valueIn(attributesOf(this.#source.text, tag), name);
  }

  #decodedText({ start, end }: Range) {
    return decodeAttribute(this.#source.text.slice(start, end));
  }

  #reportIncomplete(start: number, flaw: 'unclosed' | 'unrendered' | 'nested', outer?: Tag) {
    const { offsetInFile } = this.#source;
    reportIncomplete(this.#source, offsetInFile(start), flaw, outer && offsetInFile(outer.start));
  }
}

/** Whether an attribute is in a build, too: `astro dev` adds the places of elements in their sources. */
const isOfAuthor = ({ name }: Attribute) => !name.startsWith('data-astro-source-');

const isIgnoreMark = ({ name }: Attribute) => name === 'data-snippets-ignore';

/** Resolves a URL on a page, to compare it with others. The page's own URL is unknown, and made up. */
const urlOnPage = (url: string) => URL.parse(url, 'https://page.invalid')?.href;

/** An attribute that may hold embeds, with the others of its tag. */
interface HeldAttribute {
  tag: Tag;
  attributes: readonly Attribute[];
  attribute: Attribute;
}

function scanAttribute(source: SourceSlice, { tag, attributes, attribute }: HeldAttribute, isXml: boolean) {
  const { name, quote, start, end } = attribute;
  if (exampleAttributes.has(name)) return;

  const { embeds } = source.results;
  const countBefore = embeds.length;
  const value = decodeThrough(slice(source, attribute), attributeLayer(quote, isXml));
  const isRefresh = () => valueIn(attributes, 'http-equiv')?.trim().toLowerCase() === 'refresh';
  const urlSyntax = urlSyntaxOf(tag.name, name, isRefresh);
  if (isCodeAttribute(name, value.text)) scanCode(value, 'in-attribute', name);
  else if (name === 'srcdoc') {
    scanMarkup({ ...value, defaultAs: defaultAsIn('element'), needsEscapedText: true });
  } else if (urlSyntax) scanUrl(value, urlSyntax, scanDecodedValue);
  else if (name.startsWith('data-') || isJson(value.text))
    scanString({ ...value, defaultAs: defaultAsIn('data') });
  else scanText(value, scanDecodedValue);

  // Content that is all of an unquoted value gets quotes: an empty one would swallow the next attribute.
  const embed = embeds[countBefore];
  const isWhole = embed?.start === source.offsetInFile(start) && embed.end === source.offsetInFile(end);
  if (quote || !isWhole) return;
  const layers = embed.format.layers.with(source.layers.length, 'html-unquoted-whole');
  embed.format = { ...embed.format, layers };
}

/** Scans a value that was decoded, as that of a URL's query: JSON, HTML or text. */
function scanDecodedValue(source: SourceSlice) {
  if (isJson(source.text) || hasOtherTags(source.text))
    scanString({ ...source, defaultAs: defaultAsIn('data') });
  else scanText(source, scanDecodedValue);
}

/** Whether text has tags of elements other than embeds, and so is HTML. Text without may be plain text. */
const hasOtherTags = (text: string) => startTags(text).some(({ name }) => name !== elementName);

/** Scans text as it is shown, where `&lt;b&gt;` is no tag: JSON, or text without tags. */
function scanShown(source: SourceSlice) {
  if (isJson(source.text)) return scanJson({ ...source, defaultAs: defaultAsIn('data') });
  scanText(source, (decoded) => {
    if (decoded.layers.at(-1) === 'html-text') scanShown(decoded);
    else scanDecodedValue(decoded);
  });
}

function attributeLayer(quote: string, isXml: boolean): Layer {
  if (isXml) return 'xml-attribute';
  return quote ? 'html-attribute' : 'html-unquoted';
}

/** Scans a string, such as one of JSON, whose syntax is not known: XML, JSON again, HTML or Markdown. */
function scanString(source: SourceSlice) {
  if (/^\s*<\?xml\s/.test(source.text)) return scanMarkup(source, true);
  if (isJson(source.text)) return scanJson(source);

  // Pages, and texts of XML such as the description of a feed, are HTML, where backticks are no code.
  const code = source.isPage || source.needsEscapedText ? [] : findCode(source.text);
  const text = withoutCodeSpans(source.text, code);
  const isHtml = source.needsEscapedText || hasOtherTags(text);
  scanMarkup({ ...source, text, needsEscapedText: isHtml });

  // An embed in doubtful code is a warning only: if the text is HTML, backticks and fences make no examples.
  const withoutWarnings = { ...source, results: { ...source.results, warnings: [] } };
  for (const range of code) {
    if (!range.isDoubtful) continue;
    for (const start of findStarts(slice(withoutWarnings, range), scanMarkup)) {
      source.results.warnings.push({ start, flaw: 'in-code' });
    }
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

/** Matches a string up to a quote or line end that is not escaped, whichever comes first. */
const jsonString = /"([^"\\\n]*(?:\\.[^"\\\n]*)*)"?/gs;

/** Scans the strings of JSON, or of JSON lines. */
function scanJson(source: SourceSlice, inScript = false) {
  for (const { 1: text = '', index } of source.text.matchAll(jsonString)) {
    if (!mayContainEmbed(text)) continue;
    const start = index + 1;
    const string = slice(source, { start, end: start + text.length });
    const avoidsTags = inScript || /\\u003c/i.test(text);
    const decoded = decodeThrough(string, avoidsTags ? 'json-in-script' : 'json');
    scanString({ ...decoded, needsEscapedText: source.needsEscapedText });
  }
}
