import { decodeHTML, decodeHTMLAttribute } from 'entities/decode';
import { escapeAttribute } from 'entities/escape';

/** Part of a text, from `start` (included) to `end` (excluded). In a file read as Latin-1, these are bytes. */
export interface Range {
  start: number;
  end: number;
}

/** A start tag. Its name is in lower case. */
export interface Tag extends Range {
  name: string;
  isSelfClosing: boolean;
}

/** An attribute, and the place of its value, without its quotes. The name is in lower case. */
export interface Attribute extends Range {
  name: string;
  /** As it is written. */
  value: string;
  quote: '"' | "'" | '';
}

/** What text may contain: `text` entities and tags, `rcdata` entities, `raw` and `cdata` neither. */
export type TextKind = 'text' | 'rcdata' | 'raw' | 'cdata';

/** In document order. `Context` is what the visitor keeps about the current element. */
export interface Visitor<Context> {
  /** @returns the context for the element's content, or `undefined` if the element ends with its start tag. */
  open?(tag: Tag, context: Context): Context | undefined;
  /** @param isImplied whether another element, or the end of the page, closed this one. */
  close?(name: string, place: Range, context: Context, isImplied: boolean): void;
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
  parent?: OpenElement<Context>;
}

// Browsers nest no deeper than 512. Where end tags have no start tag, the time stays linear.
const deepest = 512;

const words = (list: string) => new Set(list.split(/\s+/));

/** The elements whose start tag ends an open paragraph (HTML Standard, "in body" insertion mode). */
export const blockElements = words(
  `address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form
  h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul
  dd dt xmp`,
);

/** What decides where an element ends: `holds` is the kind of its text, if it has nothing else. */
interface Rules {
  isVoid?: true;
  holds?: TextKind;
  /** The elements that its start tag closes, since their end tags are optional. */
  ends?: readonly string[];
}

const rules = new Map<string, Rules>();
const rule = (names: string, given: Rules) => {
  for (const name of words(names)) rules.set(name, { ...rules.get(name), ...given });
};
rule([...blockElements].join(' '), { ends: ['p'] });
rule('li', { ends: ['p', 'li'] });
rule('dt dd', { ends: ['p', 'dt', 'dd'] });
rule('td th', { ends: ['p', 'td', 'th'] });
rule('tr tbody tfoot thead', { ends: ['p', 'td', 'th', 'tr'] });
rule('option optgroup', { ends: ['option'] });
rule('area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr', {
  isVoid: true,
});
// <noscript> is not one of them: without scripting, its elements are shown.
rule('script style xmp iframe noembed noframes plaintext', { holds: 'raw' });
rule('title textarea', { holds: 'rcdata' });

// The elements of SVG and MathML that contain HTML.
const htmlInside: Partial<Record<Language, Set<string>>> = {
  svg: words('foreignobject desc title'),
  math: words('mi mo mn ms mtext'),
};
// The elements that close SVG and MathML from anywhere inside.
const htmlOnly = words(
  `b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta
  nobr ol p pre ruby s small span strong strike sub sup table tt u ul var`,
);

// Or what counts as one: `<!doctype>`, `<?xml?>`, `</ >`.
const comment = /<!--(?:-?>|.*?(?:--!?>|$))|<.*?(?:>|$)/sy;
const instruction = /<\?.*?(?:\?>|$)/sy;
// One that contains "]]>" is written as two.
const section = /<!\[CDATA\[.*?(?:\]\]>(?!<!\[CDATA\[)|$)/sy;

/**
 * Walks through a page. Tracks only what decides where elements can be: comments, attribute values, raw text, and which
 * elements are open.
 *
 * @param text HTML, or XML, which has no raw text and no optional end tags.
 */
export function walk<Context>(
  text: string,
  context: Context,
  visitor: Visitor<Context>,
  { isXml = false } = {},
): void {
  let current: OpenElement<Context> = { name: '', context, language: isXml ? 'xml' : 'html' };

  const pop = (place: Range, isImplied: boolean) => {
    const closed = current;
    current = closed.parent ?? closed;
    visitor.close?.(closed.name, place, closed.context, isImplied);
  };
  const leaveForeign = (place: Range) => {
    while (current.language === 'svg' || current.language === 'math') pop(place, true);
  };

  const startTag = (tag: Tag): number => {
    const { name, start, end } = tag;
    if (current.language !== 'html' && htmlOnly.has(name)) leaveForeign({ start, end: start });
    const rule = current.language === 'html' ? rules.get(name) : undefined;
    while (rule?.ends?.includes(current.name)) pop({ start, end: start }, true);
    const inside = visitor.open === undefined ? current.context : visitor.open(tag, current.context);
    const language = languageIn(name, current.language);
    const isEmpty = language === 'html' && current.language === 'html' ? rule?.isVoid : tag.isSelfClosing;
    if (inside === undefined || isEmpty) return end;
    current = { name, context: inside, language, parent: current };
    if (rule?.holds === undefined) return end;
    const contentEnd = rawEnd(text, end, name);
    if (contentEnd > end) visitor.text?.({ start: end, end: contentEnd }, inside, rule.holds);
    return contentEnd;
  };

  const endTag = ({ name, start, end }: Tag) => {
    const here = { start, end: start };
    if (name === 'p' || name === 'br') leaveForeign(here);
    let opened: OpenElement<Context> | undefined = current;
    for (let depth = 0; opened && opened.name !== name && depth < deepest; depth += 1) opened = opened.parent;
    if (opened?.name !== name) return;
    while (current !== opened) pop(here, true);
    pop({ start, end }, false);
  };

  let read = 0;
  for (let at = text.indexOf('<'); at !== -1; ) {
    const isEnd = text.charCodeAt(at + 1) === 0x2f /* / */;
    const first = text.charCodeAt(isEnd ? at + 2 : at + 1);
    const isTag = isLetter(first);
    const isOther = isEnd ? at + 2 < text.length : first === 0x21 /* ! */ || first === 0x3f; /* ? */
    // Before anything else, a `<` is text.
    if (!isTag && !isOther) {
      at = text.indexOf('<', at + 1);
      continue;
    }
    if (at > read) visitor.text?.({ start: read, end: at }, current.context, 'text');
    if (visitor.isDone?.(at, current.context)) return;
    if (isTag) {
      const tag = tagAt(text, at);
      read = tag?.end ?? text.length;
      if (tag === undefined && !isEnd) visitor.cut?.(at, current.context);
      else if (tag !== undefined && isEnd) endTag(tag);
      else if (tag !== undefined) read = startTag(tag);
    } else if (current.language !== 'html' && text.startsWith('<![CDATA[', at)) {
      read = matchEnd(section, text, at) ?? text.length;
      const end = text.endsWith(']]>', read) ? read - 3 : read;
      visitor.text?.({ start: at + 9, end }, current.context, 'cdata');
    } else {
      read = matchEnd(isXml && first === 0x3f ? instruction : comment, text, at) ?? text.length;
      visitor.comment?.({ start: at, end: read });
    }
    at = text.indexOf('<', read);
  }
  if (read < text.length) visitor.text?.({ start: read, end: text.length }, current.context, 'text');
  while (current.parent !== undefined) pop({ start: text.length, end: text.length }, true);
}

function languageIn(name: string, language: Language): Language {
  if (language === 'html') return name === 'svg' || name === 'math' ? name : 'html';
  return htmlInside[language]?.has(name) ? 'html' : language;
}

function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/** Where a pattern that is global or sticky has matched from an offset on. */
export function matchEnd(pattern: RegExp, text: string, from: number): number | undefined {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

/** The end of raw text. In a script, the end tag in `<!-- <script> </script> -->` does not count. */
function rawEnd(text: string, from: number, name: string): number {
  if (name === 'plaintext') return text.length;
  const mark = new RegExp(
    name === 'script' ? '<!--|-->|</?script(?=[\\t\\n\\f\\r />])' : `</${name}(?=[\\t\\n\\f\\r />])`,
    'gi',
  );
  mark.lastIndex = from;
  // 1 in a comment, 2 in a script in a comment.
  let depth = 0;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    if (found[0] === '<!--') {
      depth ||= 1;
      // <!--> opens and closes with the same dashes.
      mark.lastIndex -= 2;
    } else if (found[0] === '-->') depth = 0;
    else if (!found[0].startsWith('</')) depth &&= 2;
    else if (depth === 2) depth = 1;
    else return found.index;
  }
  return text.length;
}

/** The start or end tag that begins at a `<`; `undefined` if the text ends inside it. */
export function tagAt(text: string, start: number): Tag | undefined {
  const nameStart = text.charCodeAt(start + 1) === 0x2f ? start + 2 : start + 1;
  let nameEnd = nameStart;
  while (nameEnd < text.length && !endsName(text.charCodeAt(nameEnd))) nameEnd += 1;
  const end = readAttributes(text, nameEnd);
  if (end === -1) return undefined;
  const name = text.slice(nameStart, nameEnd).toLowerCase();
  return { name, start, end, isSelfClosing: text.charCodeAt(end - 2) === 0x2f };
}

/** Of two with the same name, the first counts. */
export function attributesOf(text: string, { start }: Range): Attribute[] {
  const attributes: Attribute[] = [];
  let nameEnd = start + 1;
  while (!endsName(text.charCodeAt(nameEnd))) nameEnd += 1;
  readAttributes(text, nameEnd, attributes);
  return attributes;
}

/** The value of an attribute, as a browser reads it. */
export function readAttribute(attributes: readonly Attribute[], name: string): string | undefined {
  const found = attributes.find((attribute) => attribute.name === name);
  return found && decodeHTMLAttribute(found.value);
}

/** Gives an attribute another value. */
export function replaceValue({ start, end, quote }: Attribute, value: string): Edit {
  const escaped = escapeAttribute(value);
  if (quote === "'") return { start, end, text: escaped.replaceAll("'", '&#39;') };
  return { start, end, text: quote === '' ? `"${escaped}"` : escaped };
}

/** @returns the end of the tag, or -1 if it has none. */
function readAttributes(text: string, from: number, attributes?: Attribute[]): number {
  for (let at = from; at < text.length; ) {
    const nameStart = at;
    const first = text.charCodeAt(at);
    at += 1;
    if (first === 0x3e /* > */) return at;
    if (endsName(first)) continue;
    // A name may begin with "=", and ends before the next one.
    while (at < text.length && !endsName(text.charCodeAt(at)) && text.charCodeAt(at) !== 0x3d) at += 1;
    const name = attributes && text.slice(nameStart, at).toLowerCase();
    let start = at;
    let quote: Attribute['quote'] = '';
    const equals = skipSpace(text, at);
    if (text.charCodeAt(equals) === 0x3d /* = */) {
      start = skipSpace(text, equals + 1);
      const opening = text.charAt(start);
      if (opening === '"' || opening === "'") {
        quote = opening;
        start += 1;
        at = text.indexOf(quote, start);
        if (at === -1) return -1;
      } else {
        at = start;
        while (at < text.length && !isSpace(text.charCodeAt(at)) && text.charCodeAt(at) !== 0x3e) at += 1;
      }
    }
    if (name !== undefined) attributes?.push({ name, value: text.slice(start, at), start, end: at, quote });
    at += quote.length;
  }
  return -1;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d && code !== 0x0b);
}

function endsName(code: number): boolean {
  return isSpace(code) || code === 0x2f /* / */ || code === 0x3e /* > */;
}

export function startTags(html: string): Tag[] {
  const tags: Tag[] = [];
  walk(html, null, {
    open(tag, context) {
      tags.push(tag);
      return context;
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

/** The text of HTML: without tags, scripts and styles, and with one space for each run of white space. */
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

export interface Edit extends Range {
  text: string;
}

/** @param edits in any order. Of parts that overlap, all is taken out. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let written = '';
  let done = 0;
  for (const { start, end, text: piece } of [...edits].sort((a, b) => a.start - b.start)) {
    written += text.slice(done, start) + piece;
    done = Math.max(done, end);
  }
  return written + text.slice(done);
}
