import { applyEdits, blockElements, isBlockLevel, type Range, tagAt } from './html-scanner.ts';

/** Code of Markdown: a fence, or text between backticks. */
export interface MarkdownCode extends Range {
  /** Whether it may be none: the text may be HTML, where backticks and tildes mean nothing. */
  isDoubtful: boolean;
}

/** Replaces Markdown code with spaces, so that offsets stay the same. */
export function withoutCodeSpans(text: string, code: readonly Range[] = findCode(text)): string {
  return applyEdits(
    text,
    code.map(({ start, end }) => ({ start, end, text: ' '.repeat(end - start) })),
  );
}

const item = '(?:[-*+]|\\d{1,9}[.)])[ \\t]';
const fences = '`{3,}(?=[^`\\n]*$)|~{3,}';
const mark = new RegExp(
  [
    `^(?:[ \\t>]|${item})*(?<fence>${fences})`,
    // An escaped backtick begins no code.
    '\\\\[\\\\`]',
    '(?<run>`+)',
    '(?<blankLine>\\n[ \\t\\r>]*(?=\\n))',
    '(?<markdown>^[ \\t>]*#{1,6}[ \\t]|\\]\\()',
    '<!(?=--)[^]*?(?:-->|(?![^]))',
    '(?<embed><snippet-embed(?=[\\s/>]))',
    // Without backticks, so that "a<b `c` d>e" is none.
    '</?(?<tag>[a-z][^\\s/>`<"\']*)(?:[^"\'<>`]|"[^"]*"|\'[^\']*\')*>',
  ].join('|'),
  'gim',
);
// Backticks, or the end of their paragraph: before a blank line, an item, a heading, a row or a fence.
const runOrEnd = new RegExp(`(\`+)|\\n(?=[ \\t>]*(?:\\r?$|${item}|#{1,6}[ \\t]|\\||${fences}))`, 'gm');
const closingFence = /^[ \t>]*(`{3,}|~{3,})[ \t\r]*$/gm;
// Their content is no Markdown.
const opaque = /^(?:code|kbd|pre|samp|script|style|textarea|title)$/;

/**
 * Finds what is code if a text is Markdown, which may have HTML in it. As in Markdown, what begins first counts, and the
 * tag of a block begins HTML that ends at a blank line.
 */
export function findCode(text: string): MarkdownCode[] {
  if (!/[`~]/.test(text) || isPlainHtml(text)) return [];
  const code: MarkdownCode[] = [];
  // Up to where nothing closes runs of a length, or elements of a name.
  const unclosedUntil = new Map<number | string, number>();
  let holdsTags = false;
  let isMarkdown = false;
  let inHtml = false;

  const readRun = (start: number, inside: number): number => {
    const length = inside - start;
    if (inHtml || inside < (unclosedUntil.get(length) ?? 0)) return inside;
    runOrEnd.lastIndex = inside;
    let closing = runOrEnd.exec(text);
    while (closing?.[1] !== undefined && closing[1].length !== length) closing = runOrEnd.exec(text);
    if (closing?.[1] === undefined) {
      unclosedUntil.set(length, closing?.index ?? text.length);
      return inside;
    }
    const content = text.slice(inside, closing.index);
    const end = closing.index + length;
    // "it`s <p>…</p> it`s" is no code.
    const isTight = !/^\s|\n|\s$/.test(content) && !/\w/.test(text.charAt(start - 1) + text.charAt(end));
    if (!isTight && isBlockLevel(content)) return inside;
    code.push({ start, end, isDoubtful: false });
    return end;
  };

  const readFence = (written: string, inside: number): number => {
    if (inHtml) return inside;
    closingFence.lastIndex = inside;
    let closing = closingFence.exec(text);
    while (closing !== null && !closing[1]?.startsWith(written)) closing = closingFence.exec(text);
    const end = closing === null ? text.length : closingFence.lastIndex;
    isMarkdown ||= closing !== null;
    code.push({ start: inside - written.length, end, isDoubtful: closing === null });
    return end;
  };

  const readTag = (name: string, end: number): number => {
    holdsTags = true;
    inHtml ||= blockElements.has(name) || name.includes('-');
    if (!opaque.test(name) || unclosedUntil.has(name)) return end;
    const closing = new RegExp(`</${name}(?=[\\s/>])[^>]*>`, 'gi');
    closing.lastIndex = end;
    if (closing.test(text)) return closing.lastIndex;
    unclosedUntil.set(name, text.length);
    return end;
  };

  mark.lastIndex = 0;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    const { index, groups = {} } = found;
    const { fence, run, blankLine, markdown, embed, tag } = groups;
    const end = mark.lastIndex;
    if (fence !== undefined) mark.lastIndex = readFence(fence, end);
    else if (run !== undefined) mark.lastIndex = readRun(index, end);
    else if (blankLine !== undefined) inHtml = false;
    else if (markdown !== undefined) isMarkdown ||= !inHtml;
    // If this tag has no end, neither has any later one.
    else if (embed !== undefined) mark.lastIndex = tagAt(text, index)?.end ?? text.length;
    else if (tag !== undefined) mark.lastIndex = readTag(tag.toLowerCase(), end);
  }
  return code.map((one) => ({ ...one, isDoubtful: one.isDoubtful || (holdsTags && !isMarkdown) }));
}

/** What renders Markdown, or an editor, writes: tags from the first character to the last, and nothing of Markdown. */
function isPlainHtml(text: string): boolean {
  const trimmed = text.trim();
  return (
    /^<[a-z!]/i.test(trimmed) &&
    trimmed.endsWith('>') &&
    !/^[ \t]*(?:#{1,6}[ \t]|`{3}|~{3})|\]\(/m.test(trimmed)
  );
}
