import type { Range } from './edits.ts';
import {
  elementFacts,
  foreignBreakouts,
  htmlIntegrationPoints,
  ordinaryFacts,
  type TextKind,
} from './elements.ts';
import { isLetter, matchEnd, type Tag, tagAt } from './tags.ts';

/**
 * The calls of a walk, in document order. `Context` is what the visitor keeps about an element: `open`
 * returns it, and all calls for the content of the element get it.
 */
export interface MarkupVisitor<Context> {
  /** Whether the text is XML, which has no raw text and no optional end tags. @default false */
  isXml?: boolean;
  /**
   * A start tag, with the context around the element.
   *
   * @param isBlock whether the tag ends an open paragraph.
   * @param around the elements around the element.
   * @returns the context of the element's content; `undefined` if the element ends with its start tag.
   */
  open(tag: Tag, context: Context, isBlock: boolean, around: OpenElement): Context | undefined;
  /** The end of an element. `endTag` has no length if another tag or the text's end closes the element. */
  close?(name: string, endTag: Range, context: Context): void;
  /** Text between tags, or a CDATA section without its marks. */
  text?(place: Range, context: Context, kind: TextKind): void;
  /** A comment, or what counts as a comment, such as `<!doctype>`. */
  comment?(place: Range): void;
  /** A start tag inside which the text ends. */
  unfinishedTag?(start: number, context: Context): void;
  /** Asked before each tag and comment: `true` ends the walk, and the rest of the text is skipped. */
  isDone?(offset: number, context: Context): boolean;
}

/**
 * Walks through HTML or XML, in linear time. The walk is tolerant, as browsers are, but builds no tree: it knows
 * what decides where elements can be (raw text, comments, optional end tags, SVG and MathML), and nothing else.
 */
export function walk<Context>(text: string, context: Context, visitor: MarkupVisitor<Context>): void {
  new MarkupWalker(text, context, visitor).walk();
}

type Language = 'html' | 'svg' | 'math' | 'xml';

/** An element whose end tag is still to come. The outermost, with no name, is the text as a whole. */
export interface OpenElement {
  name: string;
  /** The element around it; `undefined` for the outermost. */
  parent?: OpenElement;
}

interface WalkedElement<Context> extends OpenElement {
  /** The context and the language of the element's content. */
  context: Context;
  language: Language;
  /** The start tags that end the element. */
  endedBy?: ReadonlySet<string> | undefined;
  parent?: WalkedElement<Context>;
}

/** The most open elements that an end tag is compared with. Without a limit, time would be quadratic. */
const maxSearchDepth = 512;

/** Matches a comment, or what counts as a comment: `<!doctype>`, `<?xml?>`, `</ >`. */
const markupComment = /<!--(?:-?>|.*?(?:--!?>|$))|<.*?(?:>|$)/sy;
const xmlComment = new RegExp(`<\\?.*?(?:\\?>|$)|${markupComment.source}`, 'sy');

/** Matches a CDATA section, with those right behind: text that contains "]]>" is written as two sections. */
const cdataSection = /<!\[CDATA\[.*?(?:\]\]>(?!<!\[CDATA\[)|$)/sy;

class MarkupWalker<Context> {
  readonly #text: string;
  readonly #visitor: MarkupVisitor<Context>;
  readonly #isXml: boolean;
  #current: WalkedElement<Context>;

  constructor(text: string, context: Context, visitor: MarkupVisitor<Context>) {
    this.#text = text;
    this.#visitor = visitor;
    this.#isXml = visitor.isXml ?? false;
    this.#current = { name: '', context, language: this.#isXml ? 'xml' : 'html' };
  }

  walk(): void {
    const text = this.#text;
    const visitor = this.#visitor;
    let read = 0;
    for (let start = markupAt(text, 0); start !== -1; start = markupAt(text, read)) {
      if (start > read) visitor.text?.({ start: read, end: start }, this.#current.context, 'text');
      if (visitor.isDone?.(start, this.#current.context)) return;

      const isEndTag = text[start + 1] === '/';
      if (isLetter(text.charCodeAt(isEndTag ? start + 2 : start + 1))) read = this.#tag(start, isEndTag);
      else if (this.#current.language !== 'html' && text.startsWith('<![CDATA[', start))
        read = this.#cdata(start);
      else read = this.#comment(start);
    }

    if (read < text.length) visitor.text?.({ start: read, end: text.length }, this.#current.context, 'text');
    while (this.#current.parent) this.#close(text.length);
  }

  /** Reads a tag. Returns the offset at which the walk goes on. */
  #tag(start: number, isEndTag: boolean) {
    const tag = tagAt(this.#text, start);
    if (!tag) {
      if (!isEndTag) this.#visitor.unfinishedTag?.(start, this.#current.context);
      return this.#text.length;
    }
    if (!isEndTag) return this.#startTag(tag);
    this.#endTag(tag);
    return tag.end;
  }

  /** Opens an element. Returns where the walk goes on: behind the tag, or behind the element's raw text. */
  #startTag(tag: Tag) {
    const { name, start, end } = tag;
    if (this.#current.language !== 'html' && foreignBreakouts.has(name)) this.#leaveForeign(start);
    const isHtml = this.#current.language === 'html';
    while (isHtml && this.#current.endedBy?.has(name)) this.#close(start);

    const { isBlock, isVoid, textKind, endedBy } = elementFacts.get(name) ?? ordinaryFacts;
    const context = this.#visitor.open(tag, this.#current.context, isBlock, this.#current);
    const language = languageIn(name, this.#current.language);
    const isEmpty = isHtml && language === 'html' ? isVoid : tag.isSelfClosing;
    if (context === undefined || isEmpty) return end;
    this.#current = { name, context, language, endedBy, parent: this.#current };

    const contentEnd = isHtml && textKind !== 'text' ? rawEnd(this.#text, end, name) : end;
    if (contentEnd > end) this.#visitor.text?.({ start: end, end: contentEnd }, context, textKind);
    return contentEnd;
  }

  #endTag({ name, start, end }: Tag) {
    if (name === 'p' || name === 'br') this.#leaveForeign(start);
    let opened: WalkedElement<Context> | undefined = this.#current;
    for (let depth = 0; opened && opened.name !== name && depth < maxSearchDepth; depth += 1) {
      opened = opened.parent;
    }
    if (opened?.name !== name) return;
    while (this.#current !== opened) this.#close(start);
    this.#close(start, end);
  }

  #cdata(start: number) {
    const text = this.#text;
    const sectionEnd = matchEnd(cdataSection, text, start) ?? text.length;
    const end = text.endsWith(']]>', sectionEnd) ? sectionEnd - 3 : sectionEnd;
    this.#visitor.text?.({ start: start + '<![CDATA['.length, end }, this.#current.context, 'cdata');
    return sectionEnd;
  }

  #comment(start: number) {
    const end = matchEnd(this.#isXml ? xmlComment : markupComment, this.#text, start) ?? this.#text.length;
    this.#visitor.comment?.({ start, end });
    return end;
  }

  /** Closes the current element. Without `end`, another tag or the text's end closes it. */
  #close(start: number, end = start) {
    const closed = this.#current;
    this.#current = closed.parent ?? closed;
    this.#visitor.close?.(closed.name, { start, end }, closed.context);
  }

  /** Closes the SVG and MathML elements around a tag that starts at an offset. */
  #leaveForeign(start: number) {
    while (this.#current.language === 'svg' || this.#current.language === 'math') this.#close(start);
  }
}

function languageIn(name: string, language: Language) {
  if (language === 'html') return name === 'svg' || name === 'math' ? name : 'html';
  return htmlIntegrationPoints[language].has(name) ? 'html' : language;
}

/** Finds the next `<` of a tag or a comment. A `<` before anything but a letter, `/`, `!` or `?` is text. */
function markupAt(text: string, from: number) {
  for (let index = text.indexOf('<', from); index !== -1; index = text.indexOf('<', index + 1)) {
    const next = text[index + 1];
    if (next === '/' ? index + 2 < text.length : next === '!' || next === '?') return index;
    if (isLetter(text.charCodeAt(index + 1))) return index;
  }
  return -1;
}

/** Finds the end of raw text. In scripts, an end tag in `<!-- <script> </script> -->` does not count. */
function rawEnd(text: string, from: number, name: string) {
  if (name === 'plaintext') return text.length;
  // "<!--" is matched without its dashes, since "<!-->" opens and closes a comment with the same dashes.
  const tag = name === 'script' ? '<!(?=--)|-->|</?script' : `</${name}`;
  const mark = new RegExp(`${tag}(?=[\\t\\n\\f\\r />])`, 'gi');
  mark.lastIndex = from;
  // 0 outside of comments, 1 in a comment, 2 in a script in a comment, whose end tag does not count.
  let depth = 0;
  for (let match = mark.exec(text); match; match = mark.exec(text)) {
    if (match[0] === '<!') depth ||= 1;
    else if (match[0] === '-->') depth = 0;
    else if (!match[0].startsWith('</')) depth &&= 2;
    else if (depth === 2) depth = 1;
    else return match.index;
  }
  return text.length;
}
