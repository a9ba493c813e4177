import { decodeHTML, decodeHTMLAttribute } from 'entities/decode';
import { escapeAttribute } from 'entities/escape';

/** Part of a text, without its end. In a file read as Latin-1, these are bytes. */
export interface Range {
  start: number;
  end: number;
}

export interface Tag extends Range {
  /** In lower case. */
  name: string;
  isSelfClosing: boolean;
}

/** With the place of its value, without quotes. */
export interface Attribute extends Range {
  /** In lower case. */
  name: string;
  /** As it is written. */
  value: string;
  quote: string;
}

/** In `text`, there are entities and tags, in `rcdata` entities. */
type TextKind = 'text' | 'rcdata' | 'raw' | 'cdata';

/** Called in document order. `Context` is what is kept about the current element. */
interface Visitor<Context> {
  /** XML has no raw text and no optional end tags. */
  isXml?: boolean;
  /**
   * @param isBlock whether it ends an open paragraph.
   * @returns the context of its content; `undefined` if the element ends with its start tag.
   */
  open(tag: Tag, context: Context, isBlock: boolean): Context | undefined;
  /** @param endTag empty where something else closes the element. */
  close?(name: string, endTag: Range, context: Context): void;
  text?(place: Range, context: Context, kind: TextKind): void;
  comment?(place: Range): void;
  /** The page ends inside this start tag. */
  cut?(start: number, context: Context): void;
  /** Whether the rest does not matter. */
  isDone?(at: number, context: Context): boolean;
}

type Language = 'html' | 'svg' | 'math' | 'xml';

interface OpenElement<Context> {
  name: string;
  context: Context;
  language: Language;
  /** The start tags that end it. */
  endedBy?: ReadonlySet<string> | undefined;
  parent?: OpenElement<Context>;
}

// As in browsers. Keeps the time linear where end tags have no start tag.
const maxSearchDepth = 512;

const wordSet = (list: string) => new Set(list.split(/\s+/));

/** They end an open paragraph (HTML Standard, "in body" insertion mode). */
export const blockElements = wordSet(
  `address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form
  h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul
  dd dt xmp`,
);

// Those with optional end tags, and the start tags that end them.
const tableRows = 'tr tbody tfoot thead';
const cellEnders = wordSet(`td th ${tableRows}`);
const endedBy = new Map([
  ['p', new Set([...blockElements, ...cellEnders])],
  ['li', wordSet('li')],
  ['dt', wordSet('dt dd')],
  ['dd', wordSet('dt dd')],
  ['td', cellEnders],
  ['th', cellEnders],
  ['tr', wordSet(tableRows)],
  ['option', wordSet('option optgroup')],
]);
const voidElements = wordSet(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr',
);
// Those with text alone. Not <noscript>: without scripting, its elements are shown.
const rawElements = wordSet('script style xmp iframe noembed noframes plaintext');
const rcdataElements = wordSet('title textarea');

const factsOf = (name: string) => {
  const textKind: TextKind = rawElements.has(name) ? 'raw' : rcdataElements.has(name) ? 'rcdata' : 'text';
  return {
    isBlock: blockElements.has(name),
    isVoid: voidElements.has(name),
    textKind,
    endedBy: endedBy.get(name),
  };
};
const ordinaryFacts = factsOf('');
const specialElements = [blockElements, endedBy.keys(), voidElements, rawElements, rcdataElements];
// In one table: each look-up of a name takes as long as reading its tag.
const elementFacts = new Map(
  specialElements.flatMap((names) => [...names].map((name) => [name, factsOf(name)] as const)),
);

// Those of SVG and MathML that contain HTML.
const htmlInside = {
  svg: wordSet('foreignobject desc title'),
  math: wordSet('mi mo mn ms mtext'),
  xml: wordSet(''),
};
// Those that close SVG and MathML around them.
const htmlOnly = wordSet(
  `b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta
  nobr ol p pre ruby s small span strong strike sub sup table tt u ul var`,
);

// Also what counts as one: `<!doctype>`, `<?xml?>`, `</ >`.
const markupComment = /<!--(?:-?>|.*?(?:--!?>|$))|<.*?(?:>|$)/sy;
const xmlComment = new RegExp(`<\\?.*?(?:\\?>|$)|${markupComment.source}`, 'sy');
// One that contains "]]>" is written as two.
const cdataSection = /<!\[CDATA\[.*?(?:\]\]>(?!<!\[CDATA\[)|$)/sy;

/** Walks through HTML or XML. Knows only what decides where elements can be. */
export function walk<Context>(text: string, context: Context, visitor: Visitor<Context>) {
  const { isXml } = visitor;
  let current: OpenElement<Context> = { name: '', context, language: isXml ? 'xml' : 'html' };

  const pop = (start: number, end = start) => {
    const closed = current;
    current = closed.parent ?? closed;
    visitor.close?.(closed.name, { start, end }, closed.context);
  };
  const leaveForeign = (at: number) => {
    while (current.language === 'svg' || current.language === 'math') pop(at);
  };

  const startTag = (tag: Tag) => {
    const { name, start, end } = tag;
    if (current.language !== 'html' && htmlOnly.has(name)) leaveForeign(start);
    const isHtml = current.language === 'html';
    while (isHtml && current.endedBy?.has(name)) pop(start);
    const { isBlock, isVoid, textKind, endedBy } = elementFacts.get(name) ?? ordinaryFacts;
    const inside = visitor.open(tag, current.context, isBlock);
    const language = languageIn(name, current.language);
    const isEmpty = isHtml && language === 'html' ? isVoid : tag.isSelfClosing;
    if (inside === undefined || isEmpty) return end;
    current = { name, context: inside, language, endedBy, parent: current };
    const contentEnd = isHtml && textKind !== 'text' ? rawEnd(text, end, name) : end;
    if (contentEnd > end) visitor.text?.({ start: end, end: contentEnd }, inside, textKind);
    return contentEnd;
  };

  const endTag = ({ name, start, end }: Tag) => {
    if (name === 'p' || name === 'br') leaveForeign(start);
    let opened: OpenElement<Context> | undefined = current;
    for (let depth = 0; opened && opened.name !== name && depth < maxSearchDepth; depth += 1)
      opened = opened.parent;
    if (opened?.name !== name) return;
    while (current !== opened) pop(start);
    pop(start, end);
  };

  let read = 0;
  for (let at = markupAt(text, 0); at !== -1; at = markupAt(text, read)) {
    if (at > read) visitor.text?.({ start: read, end: at }, current.context, 'text');
    if (visitor.isDone?.(at, current.context)) return;
    const isEnd = text[at + 1] === '/';
    if (isLetter(text.charCodeAt(isEnd ? at + 2 : at + 1))) {
      const tag = tagAt(text, at);
      read = tag?.end ?? text.length;
      if (tag && isEnd) endTag(tag);
      else if (tag) read = startTag(tag);
      else if (!isEnd) visitor.cut?.(at, current.context);
    } else if (current.language !== 'html' && text.startsWith('<![CDATA[', at)) {
      read = matchEnd(cdataSection, text, at) ?? text.length;
      const end = text.endsWith(']]>', read) ? read - 3 : read;
      visitor.text?.({ start: at + 9, end }, current.context, 'cdata');
    } else {
      read = matchEnd(isXml ? xmlComment : markupComment, text, at) ?? text.length;
      visitor.comment?.({ start: at, end: read });
    }
  }
  if (read < text.length) visitor.text?.({ start: read, end: text.length }, current.context, 'text');
  while (current.parent) pop(text.length);
}

function languageIn(name: string, language: Language) {
  if (language === 'html') return name === 'svg' || name === 'math' ? name : 'html';
  return htmlInside[language].has(name) ? 'html' : language;
}

/** A `<` before anything else is text. */
function markupAt(text: string, from: number) {
  for (let at = text.indexOf('<', from); at !== -1; at = text.indexOf('<', at + 1)) {
    const next = text[at + 1];
    if (next === '/' ? at + 2 < text.length : next === '!' || next === '?') return at;
    if (isLetter(text.charCodeAt(at + 1))) return at;
  }
  return -1;
}

const isLetter = (code: number) => (code | 32) >= 97 && (code | 32) <= 122;

/** Where a global or sticky pattern's match ends. */
export function matchEnd(pattern: RegExp, text: string, from: number) {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** The end of raw text. In scripts, an end tag in `<!-- <script> </script> -->` does not count. */
function rawEnd(text: string, from: number, name: string) {
  if (name === 'plaintext') return text.length;
  // <!--> opens and closes with the same dashes.
  const tag = name === 'script' ? '<!(?=--)|-->|</?script' : `</${name}`;
  const mark = new RegExp(`${tag}(?=[\\t\\n\\f\\r />])`, 'gi');
  mark.lastIndex = from;
  // 1 in a comment, 2 in a script in a comment.
  let depth = 0;
  for (let found = mark.exec(text); found; found = mark.exec(text)) {
    if (found[0] === '<!') depth ||= 1;
    else if (found[0] === '-->') depth = 0;
    else if (!found[0].startsWith('</')) depth &&= 2;
    else if (depth === 2) depth = 1;
    else return found.index;
  }
  return text.length;
}

// The rest of most tags: several times as fast as attribute by attribute.
const usualRest = /[^"'=>]*(?:[^\t\n\f\r /"'=>]="[^"]*"[^"'=>]*)*>/y;
// The end of a tag, or an attribute. An unclosed quote takes the rest of the text.
const attributePattern =
  /[\t\n\f\r /]*(?:>|([^\t\n\f\r />][^\t\n\f\r />=]*)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:(["'])|([^\t\n\f\r >]*)))?)/y;

/** The tag at a `<`; `undefined` if the text ends inside it. */
export function tagAt(text: string, start: number) {
  const from = nameEnd(text, start);
  const name = text.slice(start + (text[start + 1] === '/' ? 2 : 1), from).toLowerCase();
  const end = text[from] === '>' ? from + 1 : (matchEnd(usualRest, text, from) ?? readAttributes(text, from));
  return end ? { name, start, end, isSelfClosing: text[end - 2] === '/' } : undefined;
}

const tagName = /<\/?[^\t\n\f\r />]*/y;
const nameEnd = (text: string, start: number) => matchEnd(tagName, text, start) ?? start;

/** Of two with one name, the first counts. */
export function attributesOf(text: string, { start }: Range) {
  const attributes: Attribute[] = [];
  readAttributes(text, nameEnd(text, start), attributes);
  return attributes;
}

/** Returns the end of the tag. */
function readAttributes(text: string, from: number, attributes?: Attribute[]) {
  attributePattern.lastIndex = from;
  for (let found = attributePattern.exec(text); found; found = attributePattern.exec(text)) {
    const [, name, quote = '', bare = ''] = found;
    if (!name) return attributePattern.lastIndex;
    const start = attributePattern.lastIndex - bare.length;
    const end = quote ? text.indexOf(quote, start) : attributePattern.lastIndex;
    if (end === -1) return undefined;
    attributes?.push({ name: name.toLowerCase(), value: text.slice(start, end), start, end, quote });
    attributePattern.lastIndex = end + quote.length;
  }
  return undefined;
}

/** The value of an attribute, as a browser reads it. */
export function readAttribute(attributes: readonly Attribute[], name: string, decode = decodeHTMLAttribute) {
  const found = attributes.find((attribute) => attribute.name === name);
  return found && decode(found.value);
}

export function replaceValue({ start, end, quote }: Attribute, value: string): Edit {
  const escaped = escapeAttribute(value);
  if (quote === "'") return { start, end, text: escaped.replaceAll("'", '&#39;') };
  return { start, end, text: quote ? escaped : `"${escaped}"` };
}

/** Each with the name of the element that it is in. */
export function startTags(html: string) {
  const tags: (Tag & { parent: string })[] = [];
  walk(html, '', {
    open(tag, parent) {
      tags.push(Object.assign(tag, { parent }));
      return tag.name;
    },
  });
  return tags;
}

/** Whether HTML closes a paragraph in a browser. */
export const isBlockLevel = (html: string) => startTags(html).some(({ name }) => blockElements.has(name));

const hiddenElements = /^(?:script|style|template|iframe|noembed|noframes)$/;
const separateElements = /^(?:br|caption|colgroup|legend|optgroup|option|tbody|td|tfoot|th|thead|tr)$/;
const isApart = (name: string) => blockElements.has(name) || separateElements.test(name);

/** The text of HTML without tags, scripts and styles, with white space as one space. */
export function textOf(html: string) {
  let text = '';
  walk(html, false, {
    open({ name }, isHidden) {
      if (isApart(name)) text += ' ';
      return isHidden || hiddenElements.test(name);
    },
    close(name) {
      if (isApart(name)) text += ' ';
    },
    text({ start, end }, isHidden, kind) {
      const written = html.slice(start, end);
      if (!isHidden) text += kind === 'text' || kind === 'rcdata' ? decodeHTML(written) : written;
    },
  });
  return text.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, '');
}

export type Edit = Range & { text: string };

/** @param edits in any order. Where they overlap, all is removed. */
export function applyEdits(text: string, edits: readonly Edit[]) {
  let written = '';
  let done = 0;
  for (const { start, end, text: piece } of [...edits].sort((a, b) => a.start - b.start)) {
    written += text.slice(done, start) + piece;
    done = Math.max(done, end);
  }
  return written + text.slice(done);
}
