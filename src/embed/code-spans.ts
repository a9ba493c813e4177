import { blockElements, type Range, tagAt } from './html-scanner.ts';

/** Code of Markdown: a fence, or text between backticks. */
export interface MarkdownCode extends Range {
  /** Whether the text may as well be HTML, where backticks and tildes mean nothing. */
  isDoubtful: boolean;
}

/** Replaces Markdown code with spaces, so that offsets stay the same. */
export function withoutCodeSpans(text: string, code: readonly Range[] = findCode(text)): string {
  let blanked = '';
  let read = 0;
  for (const { start, end } of code) {
    blanked += text.slice(read, start) + ' '.repeat(end - start);
    read = end;
  }
  return blanked + text.slice(read);
}

const listMarker = '(?:[-*+]|\\d{1,9}[.)])[ \\t]';
const fenceMarks = '`{3,}|~{3,}';
const token = new RegExp(
  [
    `^(?<indent>(?:[ \\t>]|${listMarker})*)(?<fence>${fenceMarks})(?<info>[^\\n]*)`,
    // An escaped backtick begins no code.
    '\\\\[\\\\`]',
    '(?<run>`+)',
    '(?<blankLine>\\n[ \\t\\r>]*(?=\\n))',
    '(?<markdown>^[ \\t>]*#{1,6}[ \\t]|\\]\\()',
    '(?<tag><(?=[a-z/!]))',
  ].join('|'),
  'gim',
);
const closingFence = new RegExp(`^[ \\t>]*(${fenceMarks})[ \\t\\r]*$`, 'gm');
const paragraphEnd = new RegExp(
  `\\n(?=[ \\t>]*(?:\\r?$|${listMarker}|#{1,6}[ \\t]|\\||(?:${fenceMarks})[^\`\\n]*$))`,
  'gm',
);
// Without backticks, so that "a<b `c` d>e" is none.
const htmlTag = /<(\/?)([a-z][^\s/>`<"']*)(?:[^"'<>`]|"[^"]*"|'[^']*')*>/gi;
const htmlTagHere = new RegExp(htmlTag, 'iy');
const embedHere = /<snippet-embed(?=[\t\n\f\r />])/iy;

const blocks = new Set([
  ...blockElements,
  ...'body caption head html link meta tbody td tfoot th thead tr'.split(' '),
]);
// Their content is no Markdown.
const opaque = new Set(
  'code iframe kbd noembed noframes pre samp script style textarea title xmp'.split(' '),
);

/**
 * Finds the code of Markdown in text that may be Markdown, with HTML in it; HTML, with examples of Markdown in it; or
 * plain text. As in Markdown, what begins first counts, and the tag of a block begins HTML that ends at a blank line.
 */
export function findCode(text: string): MarkdownCode[] {
  if (!/[`~]/.test(text)) return [];
  const found: (Range & { doubt: 'always' | 'unless Markdown' })[] = [];
  const openElements = new Map<string, number>();
  const unclosed = new Set<string>();
  const closings = closingsIn(text);
  const runs = runsIn(text);
  const paragraphEnds = ascending([...text.matchAll(paragraphEnd)].map(({ index }) => index));
  const containers = new Map<string, number>();
  let holdsElements = false;
  let isMarkdown = false;
  // Whether no blank line has followed the last tag of a block.
  let inHtml = false;
  let noFenceBefore = 0;

  const readTag = (start: number): number => {
    if (text.startsWith('<!--', start)) return endAfter(text, '-->', start + 2);
    embedHere.lastIndex = start;
    // If this tag has no end, neither has any later one.
    if (embedHere.test(text)) return tagAt(text, start)?.end ?? text.length;
    htmlTagHere.lastIndex = start;
    const tag = htmlTagHere.exec(text);
    if (tag === null) return start + 1;
    const { 0: written, 1: slash, 2: name = '' } = tag;
    const end = start + written.length;
    const element = name.toLowerCase();
    if (element === 'snippet-embed') return end;
    holdsElements = true;
    if (blocks.has(element)) inHtml = true;
    const count = openElements.get(element) ?? 0;
    if (slash === '/') openElements.set(element, Math.max(0, count - 1));
    else if (opaque.has(element)) return elementEnd(element, end);
    else if (!written.endsWith('/>')) openElements.set(element, count + 1);
    return end;
  };

  const elementEnd = (name: string, from: number): number => {
    if (unclosed.has(name)) return from;
    const closing = new RegExp(`</${name}(?=[\\s/>])[^>]*>`, 'gi');
    closing.lastIndex = from;
    if (closing.test(text)) return closing.lastIndex;
    unclosed.add(name);
    return from;
  };

  /** The end tag, in a range, of an element that is open before it: then the range is HTML. */
  const outerEnd = ({ start, end }: Range): number | undefined => {
    if (openElements.size === 0) return undefined;
    const inside = new Map<string, number>();
    for (const { 1: slash, 2: name = '', index } of text.slice(start, end).matchAll(htmlTag)) {
      const element = name.toLowerCase();
      const count = inside.get(element) ?? 0;
      if (slash !== '/') inside.set(element, count + 1);
      else if (count > 0) inside.set(element, count - 1);
      else if ((openElements.get(element) ?? 0) > 0) return start + index;
    }
    return undefined;
  };

  const readRun = (start: number, length: number): number => {
    const inside = start + length;
    const closing = inHtml ? undefined : runs.get(length)?.(inside);
    if (closing === undefined || closing > (paragraphEnds(inside) ?? Infinity)) return inside;
    const content = text.slice(inside, closing);
    const end = closing + length;
    // "it`s <p>…</p> it`s" is no code.
    const isTight = !/^\s|\n|\s$/.test(content) && !/\w/.test(text.charAt(start - 1) + text.charAt(end));
    if ((!isTight && holdsBlock(content)) || outerEnd({ start: inside, end: closing }) !== undefined) {
      return inside;
    }
    found.push({ start, end, doubt: 'unless Markdown' });
    return end;
  };

  const readFence = (start: number, indent: string, fence: string, info: string): number => {
    const marks = start + indent.length;
    const inside = marks + fence.length;
    if (fence.startsWith('`') && info.includes('`')) return readRun(marks, fence.length);
    if (start < noFenceBefore) return inside;
    const lineEnd = inside + info.length;
    const closing = closings(lineEnd, fence);
    // Components that contain Markdown are written like this, too.
    const followsTag = closing !== undefined && indent.trim() === '' && endsWithTag(text, start);
    if (inHtml && !followsTag) return inside;
    const containerEnd = containerEndOf(indent, lineEnd);
    const isClosed = closing !== undefined && closing.start < containerEnd;
    const end = isClosed ? closing.end : containerEnd;
    const outer = outerEnd({ start: inside, end });
    if (outer !== undefined) {
      noFenceBefore = outer;
      return inside;
    }
    const isSure = !inHtml && (isClosed || end < text.length);
    if (isSure) isMarkdown = true;
    found.push({ start, end, doubt: isSure ? 'unless Markdown' : 'always' });
    return end;
  };

  /** The end of the quote, or of the item of a list, that begins with an indent. */
  const containerEndOf = (indent: string, from: number): number => {
    if (indent.trim() === '') return text.length;
    const line = indent.includes('>') ? '[ \\t]*>' : `[ \\t]*\\r?$| {${indent.length}}| *\\t`;
    const known = containers.get(line) ?? 0;
    if (known > from) return known;
    const outside = new RegExp(`\\n(?!${line})`, 'gm');
    outside.lastIndex = from;
    const end = outside.exec(text)?.index ?? text.length;
    containers.set(line, end);
    return end;
  };

  let read = 0;
  const next = () => {
    token.lastIndex = read;
    return token.exec(text);
  };
  for (let one = next(); one !== null; one = next()) {
    const { 0: written, index, groups = {} } = one;
    const { indent = '', fence, info = '', run, blankLine, markdown, tag } = groups;
    read = index + written.length;
    if (fence !== undefined) read = readFence(index, indent, fence, info);
    else if (run !== undefined) read = readRun(index, run.length);
    else if (tag !== undefined) read = readTag(index);
    else if (blankLine !== undefined) inHtml = false;
    else if (markdown !== undefined && !inHtml) isMarkdown = true;
  }
  return found.map(({ start, end, doubt }) => ({
    start,
    end,
    isDoubtful: holdsElements && (doubt === 'always' || !isMarkdown),
  }));
}

/** Returns a function that finds the first of ascending offsets from an offset on. Those asked for must not decrease. */
function ascending(offsets: readonly number[]): (from: number) => number | undefined {
  let next = 0;
  return (from) => {
    while ((offsets[next] ?? from) < from) next += 1;
    return offsets[next];
  };
}

/** Finds the next run of a number of backticks. */
function runsIn(text: string): Map<number, (from: number) => number | undefined> {
  const byLength = Map.groupBy(text.matchAll(/`+/g), ({ 0: run }) => run.length);
  return new Map([...byLength].map(([length, runs]) => [length, ascending(runs.map(({ index }) => index))]));
}

/** Returns a function that finds what closes a fence. */
function closingsIn(text: string): (from: number, fence: string) => Range | undefined {
  const all = [...text.matchAll(closingFence)].map(({ 0: line, 1: fence = '', index }) => ({
    fence,
    start: index,
    end: index + line.length,
  }));
  const from = ascending(all.map(({ start }) => start));
  const indexes = new Map(all.map(({ start }, index) => [start, index]));
  const unclosed = new Set<string>();
  return (lineEnd, fence) => {
    const first = from(lineEnd);
    if (first === undefined || unclosed.has(fence)) return undefined;
    let index = indexes.get(first) ?? 0;
    while (index < all.length && !all[index]?.fence.startsWith(fence)) index += 1;
    if (index === all.length) unclosed.add(fence);
    return all[index];
  };
}

function holdsBlock(html: string): boolean {
  return [...html.matchAll(htmlTag)].some(([, , name = '']) => blocks.has(name.toLowerCase()));
}

function endsWithTag(text: string, end: number): boolean {
  let last = end - 1;
  while (/\s/.test(text.charAt(last))) last -= 1;
  return text.charAt(last) === '>';
}

function endAfter(text: string, ending: string, from: number): number {
  const at = text.indexOf(ending, from);
  return at === -1 ? text.length : at + ending.length;
}
