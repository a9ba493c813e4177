import type { Range } from './edits.ts';
import {
  blockElements,
  elementFacts,
  htmlInside,
  htmlOnly,
  ordinaryFacts,
  type TextKind,
} from './elements.ts';
import { isLetter, matchEnd, type Tag, tagAt } from './tags.ts';

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

// Also what counts as one: `<!doctype>`, `<?xml?>`, `</ >`.
const markupComment = /<!--(?:-?>|.*?(?:--!?>|$))|<.*?(?:>|$)/sy;

const xmlComment = new RegExp(`<\\?.*?(?:\\?>|$)|${markupComment.source}`, 'sy');

// One that contains "]]>" is written as two.
const cdataSection = /<!\[CDATA\[.*?(?:\]\]>(?!<!\[CDATA\[)|$)/sy;

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

/** Each with the name of the element that it is in. */
export function startTags(html: string): (Tag & {
  parent: string;
})[] {
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
export const isBlockLevel = (html: string): boolean =>
  startTags(html).some(({ name }) => blockElements.has(name));
