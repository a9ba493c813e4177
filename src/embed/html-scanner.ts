import { decodeHTML, decodeHTMLAttribute } from 'entities/decode';
import { escapeAttribute } from 'entities/escape';

/** Part of a text. Its end is excluded. In a file read as Latin-1, these are bytes. */
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
export type TextKind = 'text' | 'rcdata' | 'raw' | 'cdata';

/** Called in document order. `Context` is what it keeps about the current element. */
export interface Visitor<Context> {
  /** XML has no raw text and no optional end tags. */
  isXml?: boolean;
  /**
   * @param isBlock whether it ends an open paragraph.
   * @returns the context of its content, or `undefined` if the element ends with its start tag.
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

// As in browsers. The time stays linear where end tags have no start tag.
const deepest = 512;

const words = (list: string) => new Set(list.split(/\s+/));

/** Those whose start tag ends an open paragraph (HTML Standard, "in body" insertion mode). */
export const blockElements = words(
  `address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form
  h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul
  dd dt xmp`,
);

// Those whose end tags are optional, and the start tags that end them.
const rows = 'tr tbody tfoot thead';
const cells = words(`td th ${rows}`);
const endedBy = new Map([
  ['p', new Set([...blockElements, ...cells])],
  ['li', words('li')],
  ['dt', words('dt dd')],
  ['dd', words('dt dd')],
  ['td', cells],
  ['th', cells],
  ['tr', words(rows)],
  ['option', words('option optgroup')],
]);
const voidElements = words(
  'area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr',
);
// Those that contain text alone. Not <noscript>: without scripting, its elements are shown.
const rawElements = words('script style xmp iframe noembed noframes plaintext');
const rcdataElements = words('title textarea');

interface ElementFacts {
  isBlock: boolean;
  isVoid: boolean;
  textKind?: TextKind | undefined;
  endedBy?: ReadonlySet<string> | undefined;
}

const ordinary: ElementFacts = { isBlock: false, isVoid: false };
// In one table: each look-up of a name takes as long as reading its tag.
const facts = new Map<string, ElementFacts>();
for (const name of [
  ...blockElements,
  ...endedBy.keys(),
  ...voidElements,
  ...rawElements,
  ...rcdataElements,
]) {
  facts.set(name, {
    isBlock: blockElements.has(name),
    isVoid: voidElements.has(name),
    textKind: rawElements.has(name) ? 'raw' : rcdataElements.has(name) ? 'rcdata' : undefined,
    endedBy: endedBy.get(name),
  });
}

// Those of SVG and MathML that contain HTML.
const htmlInside = {
  svg: words('foreignobject desc title'),
  math: words('mi mo mn ms mtext'),
  xml: words(''),
};
// Those that close SVG and MathML from anywhere inside.
const htmlOnly = words(
  `b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta
  nobr ol p pre ruby s small span strong strike sub sup table tt u ul var`,
);

// Or what counts as one: `<!doctype>`, `<?xml?>`, `</ >`.
const comment = /<!--(?:-?>|.*?(?:--!?>|$))|<.*?(?:>|$)/sy;
const xmlComment = new RegExp(`<\\?.*?(?:\\?>|$)|${comment.source}`, 'sy');
// One that contains "]]>" is written as two.
const section = /<!\[CDATA\[.*?(?:\]\]>(?!<!\[CDATA\[)|$)/sy;

/** Walks through HTML or XML. Knows only what decides where elements can be. */
export function walk<Context>(text: string, context: Context, visitor: Visitor<Context>): void {
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

  const startTag = (tag: Tag): number => {
    const { name, start, end } = tag;
    if (current.language !== 'html' && htmlOnly.has(name)) leaveForeign(start);
    const isHtml = current.language === 'html';
    while (isHtml && current.endedBy?.has(name)) pop(start);
    const { isBlock, isVoid, textKind, endedBy } = facts.get(name) ?? ordinary;
    const inside = visitor.open(tag, current.context, isBlock);
    const language = languageIn(name, current.language);
    const isEmpty = isHtml && language === 'html' ? isVoid : tag.isSelfClosing;
    if (inside === undefined || isEmpty) return end;
    current = { name, context: inside, language, endedBy, parent: current };
    const kind = isHtml ? textKind : undefined;
    const contentEnd = kind ? rawEnd(text, end, name) : end;
    if (kind && contentEnd > end) visitor.text?.({ start: end, end: contentEnd }, inside, kind);
    return contentEnd;
  };

  const endTag = ({ name, start, end }: Tag) => {
    if (name === 'p' || name === 'br') leaveForeign(start);
    let opened: OpenElement<Context> | undefined = current;
    for (let depth = 0; opened && opened.name !== name && depth < deepest; depth += 1) opened = opened.parent;
    if (opened?.name !== name) return;
    while (current !== opened) pop(start);
    pop(start, end);
  };

  let read = 0;
  for (let at = markupAt(text, 0); at !== -1; at = markupAt(text, read)) {
    if (at > read) visitor.text?.({ start: read, end: at }, current.context, 'text');
    if (visitor.isDone?.(at, current.context)) return;
    const isEnd = text.charAt(at + 1) === '/';
    if (isLetter(text.charCodeAt(isEnd ? at + 2 : at + 1))) {
      const tag = tagAt(text, at);
      read = tag?.end ?? text.length;
      if (tag && isEnd) endTag(tag);
      else if (tag) read = startTag(tag);
      else if (!isEnd) visitor.cut?.(at, current.context);
    } else if (current.language !== 'html' && text.startsWith('<![CDATA[', at)) {
      read = matchEnd(section, text, at) ?? text.length;
      const end = text.endsWith(']]>', read) ? read - 3 : read;
      visitor.text?.({ start: at + 9, end }, current.context, 'cdata');
    } else {
      read = matchEnd(isXml ? xmlComment : comment, text, at) ?? text.length;
      visitor.comment?.({ start: at, end: read });
    }
  }
  if (read < text.length) visitor.text?.({ start: read, end: text.length }, current.context, 'text');
  while (current.parent !== undefined) pop(text.length);
}

function languageIn(name: string, language: Language): Language {
  if (language === 'html') return name === 'svg' || name === 'math' ? name : 'html';
  return htmlInside[language].has(name) ? 'html' : language;
}

/** A `<` before anything else is text. */
function markupAt(text: string, from: number): number {
  for (let at = text.indexOf('<', from); at !== -1; at = text.indexOf('<', at + 1)) {
    const next = text.charAt(at + 1);
    if (next === '/' ? at + 2 < text.length : next === '!' || next === '?') return at;
    if (isLetter(text.charCodeAt(at + 1))) return at;
  }
  return -1;
}

const isLetter = (code: number) => (code | 32) >= 97 && (code | 32) <= 122;

/** Where a match of a global or sticky pattern ends. */
export function matchEnd(pattern: RegExp, text: string, from: number): number | undefined {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** The end of raw text. In scripts, the end tag in `<!-- <script> </script> -->` does not count. */
function rawEnd(text: string, from: number, name: string): number {
  if (name === 'plaintext') return text.length;
  // <!--> opens and closes with the same dashes.
  const tag = name === 'script' ? '<!(?=--)|-->|</?script' : `</${name}`;
  const mark = new RegExp(`${tag}(?=[\\t\\n\\f\\r />])`, 'gi');
  mark.lastIndex = from;
  // 1 in a comment, 2 in a script in a comment.
  let depth = 0;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    if (found[0] === '<!') depth ||= 1;
    else if (found[0] === '-->') depth = 0;
    else if (!found[0].startsWith('</')) depth &&= 2;
    else if (depth === 2) depth = 1;
    else return found.index;
  }
  return text.length;
}

// The rest of most tags. Attribute by attribute takes several times as long.
const usualRest = /[^"'=>]*(?:[^\t\n\f\r /"'=>]="[^"]*"[^"'=>]*)*>/y;
// The end of a tag, or an attribute. A quote without an end takes the rest of the text.
const attribute =
  /[\t\n\f\r /]*(?:>|([^\t\n\f\r />][^\t\n\f\r />=]*)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:(["'])|([^\t\n\f\r >]*)))?)/y;

/** The tag that begins at a `<`; `undefined` if the text ends inside it. */
export function tagAt(text: string, start: number): Tag | undefined {
  const from = nameEnd(text, start);
  const name = text.slice(text.charAt(start + 1) === '/' ? start + 2 : start + 1, from).toLowerCase();
  const isBare = text.charAt(from) === '>';
  const end = isBare ? from + 1 : (matchEnd(usualRest, text, from) ?? readAttributes(text, from));
  return end === undefined ? undefined : { name, start, end, isSelfClosing: text.charAt(end - 2) === '/' };
}

const tagName = /<\/?[^\t\n\f\r />]*/y;
const nameEnd = (text: string, start: number) => matchEnd(tagName, text, start) ?? start;

/** Of two with one name, the first counts. */
export function attributesOf(text: string, { start }: Range): Attribute[] {
  const attributes: Attribute[] = [];
  readAttributes(text, nameEnd(text, start), attributes);
  return attributes;
}

/** Returns the end of the tag. */
function readAttributes(text: string, from: number, attributes?: Attribute[]): number | undefined {
  attribute.lastIndex = from;
  for (let found = attribute.exec(text); found !== null; found = attribute.exec(text)) {
    const [, name, quote = '', bare = ''] = found;
    if (name === undefined) return attribute.lastIndex;
    const start = attribute.lastIndex - bare.length;
    const end = quote === '' ? attribute.lastIndex : text.indexOf(quote, start);
    if (end === -1) return undefined;
    attributes?.push({ name: name.toLowerCase(), value: text.slice(start, end), start, end, quote });
    attribute.lastIndex = end + quote.length;
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
  return { start, end, text: quote === '' ? `"${escaped}"` : escaped };
}

/** Each with the name of the element that it is in. */
export function startTags(html: string): (Tag & { parent: string })[] {
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
export function isBlockLevel(html: string): boolean {
  return startTags(html).some(({ name }) => blockElements.has(name));
}

const hidden = /^(?:script|style|template|iframe|noembed|noframes)$/;
const apart = /^(?:br|caption|colgroup|legend|optgroup|option|tbody|td|tfoot|th|thead|tr)$/;
const isApart = (name: string) => blockElements.has(name) || apart.test(name);

/** The text of HTML, without tags, scripts and styles. White space becomes one space. */
export function textOf(html: string): string {
  let text = '';
  walk(html, false, {
    open({ name }, isHidden) {
      if (isApart(name)) text += ' ';
      return isHidden || hidden.test(name);
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
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let written = '';
  let done = 0;
  for (const { start, end, text: piece } of [...edits].sort((a, b) => a.start - b.start)) {
    written += text.slice(done, start) + piece;
    done = Math.max(done, end);
  }
  return written + text.slice(done);
}
