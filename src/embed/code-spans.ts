import { applyEdits, blockElements, isBlockLevel, matchEnd, type Range, tagAt } from './html-scanner.ts';

/** Replaces Markdown code with spaces, so that offsets stay. */
export function withoutCodeSpans(text: string, code: readonly Range[] = findCode(text)): string {
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
 * Finds the fences and the text between backticks of Markdown, in which the tag of a block begins HTML that ends at a blank
 * line. Code is doubtful where the text may be HTML.
 */
export function findCode(text: string): (Range & { isDoubtful: boolean })[] {
  if (!/[`~]/.test(text) || isPlainHtml(text)) return [];
  const code: ReturnType<typeof findCode> = [];
  const unclosed = new Set<string>();
  let holdsTags = false;
  let isMarkdown = false;
  let inHtml = false;
  mark.lastIndex = 0;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    const { before = '', fence, closed, run, inside, blankLine, markdown, embed, tag } = found.groups ?? {};
    const start = found.index + before.length;
    const end = mark.lastIndex;
    const name = tag?.toLowerCase() ?? '';
    holdsTags ||= tag !== undefined;
    if (blankLine !== undefined) inHtml = false;
    else if (markdown !== undefined) isMarkdown ||= !inHtml;
    // If this tag has no end, neither has any later one.
    else if (embed !== undefined) mark.lastIndex = tagAt(text, start)?.end ?? text.length;
    else if (blockElements.has(name) || name.includes('-')) inHtml = true;
    if (opaque.test(name) && !unclosed.has(name)) {
      mark.lastIndex = matchEnd(new RegExp(`</${name}(?=[\\s/>])[^>]*>`, 'gi'), text, end) ?? end;
      if (mark.lastIndex === end) unclosed.add(name);
    }
    const opening = fence ?? run;
    if (opening === undefined) continue;
    // "it`s <p>…</p> it`s" is no code.
    const isTight = /^\S(?:.*\S)?$/.test(inside ?? '') && !/\w/.test(text.charAt(start - 1));
    const isRun = inside !== undefined && (isTight || !isBlockLevel(inside));
    if (inHtml || (run !== undefined && !isRun)) mark.lastIndex = start + opening.length;
    else {
      isMarkdown ||= closed !== undefined;
      code.push({ start, end, isDoubtful: fence !== undefined && closed === undefined });
    }
  }
  return code.map((one) => ({ ...one, isDoubtful: one.isDoubtful || (holdsTags && !isMarkdown) }));
}

/** As editors write it: tags from the first character to the last, and nothing of Markdown. */
function isPlainHtml(text: string): boolean {
  const trimmed = text.trim();
  return (
    /^<[a-z!]/i.test(trimmed) &&
    trimmed.endsWith('>') &&
    !/^[ \t]*(?:#{1,6}[ \t]|`{3}|~{3})|\]\(/m.test(trimmed)
  );
}
