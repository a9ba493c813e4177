import { applyEdits, type Range } from '../markup/edits.ts';
import { blockElements } from '../markup/elements.ts';
import { isBlockLevel } from '../markup/start-tags.ts';
import { matchEnd, tagAt } from '../markup/tags.ts';

/** Replaces Markdown code with spaces, so that offsets stay. */
export function withoutCodeSpans(text: string, code: readonly Range[] = findCode(text)): string {
  const edits = code.map(({ start, end }) => ({ start, end, text: ' '.repeat(end - start) }));
  return applyEdits(text, edits);
}

const listItem = '(?:[-*+]|\\d{1,9}[.)])[ \\t]';
const codeFence = '`{3,}(?=[^`\\n]*$)|~{3,}';
const markdownParagraphEnd = `\\n(?=[ \\t>]*(?:\\r?$|${listItem}|#{1,6}[ \\t]|\\||${codeFence}))`;
const markdownMark = new RegExp(
  [
    `^(?<before>(?:[ \\t>]|${listItem})*)(?<fence>${codeFence})(?:[^]*?^(?<closed>[ \\t>]*\\k<fence>[\`~]*[ \\t\\r]*)$|[^]*)`,
    // An escaped backtick begins no code.
    '\\\\[\\\\`]',
    // No more, so that the time stays linear.
    `(?<!\`)(?<run>\`{1,32})(?!\`)(?:(?<inside>(?:(?!${markdownParagraphEnd})[^])*?)(?<!\`)\\k<run>(?!\`))?`,
    '(?<blankLine>\\n[ \\t\\r>]*(?=\\n))',
    '(?<markdown>^[ \\t>]*#{1,6}[ \\t]|\\]\\()',
    '<!(?=--)[^]*?(?:-->|(?![^]))',
    '(?<embed><snippet-embed(?=[\\s/>]))',
    // Without backticks, so that "a<b `c` d>e" is no tag.
    '</?(?<tag>[a-z][^\\s/>`<"\']*)(?:[^"\'<>`]|"[^"]*"|\'[^\']*\')*>',
  ].join('|'),
  'gim',
);
// Their content is no Markdown.
const opaqueElements = /^(?:code|kbd|pre|samp|script|style|textarea|title)$/;

/**
 * Finds fences and text between backticks in Markdown, where the tag of a block begins HTML that ends at a blank line.
 * Code is doubtful where the text may be HTML.
 */
export function findCode(text: string): (Range & {
  isDoubtful: boolean;
})[] {
  const code: (Range & { isDoubtful: boolean })[] = [];
  if (!/[`~]/.test(text) || isPlainHtml(text)) return code;
  const unclosed = new Set<string>();
  let holdsTags = false;
  let isMarkdown = false;
  let inHtml = false;
  markdownMark.lastIndex = 0;
  for (let found = markdownMark.exec(text); found; found = markdownMark.exec(text)) {
    const { before = '', fence, closed, run, inside, blankLine, markdown, embed, tag } = found.groups ?? {};
    const start = found.index + before.length;
    const end = markdownMark.lastIndex;
    const name = tag?.toLowerCase() ?? '';
    holdsTags ||= name !== '';
    if (blankLine) inHtml = false;
    else if (markdown) isMarkdown ||= !inHtml;
    // If this tag has no end, no later one has.
    else if (embed) markdownMark.lastIndex = tagAt(text, start)?.end ?? text.length;
    else if (blockElements.has(name) || name.includes('-')) inHtml = true;
    if (opaqueElements.test(name) && !unclosed.has(name)) {
      markdownMark.lastIndex = matchEnd(new RegExp(`</${name}(?=[\\s/>])[^>]*>`, 'gi'), text, end) ?? end;
      if (markdownMark.lastIndex === end) unclosed.add(name);
    }
    const opening = fence ?? run;
    if (!opening) continue;
    // "it`s <p>…</p> it`s" is no code.
    const isTight = /^\S(?:.*\S)?$/.test(inside ?? '') && !/\w/.test(text.charAt(start - 1));
    const isRun = inside !== undefined && (isTight || !isBlockLevel(inside));
    if (inHtml || (run && !isRun)) markdownMark.lastIndex = start + opening.length;
    else {
      isMarkdown ||= !!closed;
      code.push({ start, end, isDoubtful: !!fence && !closed });
    }
  }
  return code.map((one) => ({ ...one, isDoubtful: one.isDoubtful || (holdsTags && !isMarkdown) }));
}

/** As editors write it: it begins and ends with tags, and holds no Markdown. */
function isPlainHtml(text: string) {
  const trimmed = text.trim();
  return (
    /^<[a-z!]/i.test(trimmed) &&
    trimmed.endsWith('>') &&
    !/^[ \t]*(?:#{1,6}[ \t]|`{3}|~{3})|\]\(/m.test(trimmed)
  );
}
