import type { Range } from '../markup/edits.ts';
import { decodeAttribute } from '../markup/latin1.ts';
import { startTags } from '../markup/start-tags.ts';
import { type Attribute, attributesOf, matchEnd, type Tag } from '../markup/tags.ts';
import { walk } from '../markup/walk.ts';
import { addEmbed, langIn, valueIn } from './add-embed.ts';
import { findCode, withoutCodeSpans } from './code-spans.ts';
import { readDeclarations } from './declarations.ts';
import { elementName, embedName, mayHold, slugOfEmbed } from './element.ts';
import type { FileKind, Scan } from './found-embed.ts';
import { brokenOpening, componentTag, scanCode, scanText } from './scan-text.ts';
import { decodeThrough, reportIncomplete, type SourceSlice, slice, startsIn } from './source-slice.ts';

/**
 * Finds every embed in a file, in any encoding. Leaves out examples: code, comments, and what has `data-snippets-ignore`.
 * The file is read as Latin-1, where each character is a byte: its syntax is ASCII.
 */
export function scan(file: Buffer, kind: FileKind): Scan {
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

// Two: one with alternatives takes several times as long.
const snippetMention = /snippet/gi;

const hasLang = /lang\s*=/i;

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
    unfinishedTag(start, { isExample, embed }) {
      const isEmbed = text.slice(start).search(embedName) === 1;
      if (isEmbed && !embed && !isExample) reportIncomplete(part, offsetInFile(start), 'unclosed');
    },
    isDone: (offset, { embed }) => !embed && markFrom(offset) === Infinity,
  });
  // Tables of contents show the code in headings as plain text.
  for (const scanLink of linkScans) scanLink();
  for (const { start } of slugged) results.warnings.push({ start: offsetInFile(start), flaw: 'in-id' });
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
