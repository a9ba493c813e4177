import { applyEdits, blockElements, isBlockLevel, matchEnd, type Range, tagAt } from './html-scanner.ts';

/** Replaces Markdown code with spaces, so that offsets stay. */
export function withoutCodeSpans(text: string, code: readonly Range[] = findCode(text)) {
  const edits = code.map(({ start, end }) => ({ start, end, text: ' '.repeat(end - start) }));
  return applyEdits(text, edits);
}

const item = '(?:[-*+]|\\d{1,9}[.)])[ \\t]';
const fence = '`{3,}(?=[^`\\n]*$)|~{3,}';
const paragraphEnd = `\\n(?=[ \\t>]*(?:\\r?$|${item}|#{1,6}[ \\t]|\\||${fence}))`;
const mark = new RegExp(
  [
    `^(?<before>(?:[ \\t>]|${item})*)(?<fence>${fence})(?:[^]*?^(?<closed>[ \\t>]*\\k<fence>[\`~]*[ \\t\\r]*)$|[^]*)`,
    // An escaped backtick begins no code.
    '\\\\[\\\\`]',
    // No more, so that the time stays linear.
    `(?<!\`)(?<run>\`{1,32})(?!\`)(?:(?<inside>(?:(?!${paragraphEnd})[^])*?)(?<!\`)\\k<run>(?!\`))?`,
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
const opaque = /^(?:code|kbd|pre|samp|script|style|textarea|title)$/;

/**
 * Finds fences and text between backticks in Markdown, where the tag of a block begins HTML that ends at a blank line.
 * Code is doubtful where the text may be HTML.
 */
export function findCode(text: string) {
  const code: (Range & { isDoubtful: boolean })[] = [];
  if (!/[`~]/.test(text) || isPlainHtml(text)) return code;
  const unclosed = new Set<string>();
  let holdsTags = false;
  let isMarkdown = false;
  let inHtml = false;
  mark.lastIndex = 0;
  for (let found = mark.exec(text); found; found = mark.exec(text)) {
    const { before = '', fence, closed, run, inside, blankLine, markdown, embed, tag } = found.groups ?? {};
    const start = found.index + before.length;
    const end = mark.lastIndex;
    const name = tag?.toLowerCase() ?? '';
    holdsTags ||= name !== '';
    if (blankLine) inHtml = false;
    else if (markdown) isMarkdown ||= !inHtml;
    // If this tag has no end, no later one has.
    else if (embed) mark.lastIndex = tagAt(text, start)?.end ?? text.length;
    else if (blockElements.has(name) || name.includes('-')) inHtml = true;
    if (opaque.test(name) && !unclosed.has(name)) {
      mark.lastIndex = matchEnd(new RegExp(`</${name}(?=[\\s/>])[^>]*>`, 'gi'), text, end) ?? end;
      if (mark.lastIndex === end) unclosed.add(name);
    }
    const opening = fence ?? run;
    if (!opening) continue;
    // "it`s <p>…</p> it`s" is no code.
    const isTight = /^\S(?:.*\S)?$/.test(inside ?? '') && !/\w/.test(text.charAt(start - 1));
    const isRun = inside !== undefined && (isTight || !isBlockLevel(inside));
    if (inHtml || (run && !isRun)) mark.lastIndex = start + opening.length;
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
