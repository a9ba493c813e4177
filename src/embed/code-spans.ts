import { applyEdits, type Range } from '../markup/edits.ts';
import { blockElements } from '../markup/elements.ts';
import { isBlockLevel } from '../markup/start-tags.ts';
import { matchEnd, tagAt } from '../markup/tags.ts';

/** Code in Markdown: a fence with what is in it, or text between backticks. */
export interface CodeRange extends Range {
  /** Whether the text may be HTML, in which backticks and fences mean nothing, or the fence has no end. */
  isDoubtful: boolean;
}

/** Replaces Markdown code with spaces, so that offsets stay. */
export function withoutCodeSpans(text: string, code: readonly Range[] = findCode(text)): string {
  const edits = code.map(({ start, end }) => ({ start, end, text: ' '.repeat(end - start) }));
  return applyEdits(text, edits);
}

const listItem = '(?:[-*+]|\\d{1,9}[.)])[ \\t]';
const codeFence = '`{3,}(?=[^`\\n]*$)|~{3,}';
const paragraphEnd = `\\n(?=[ \\t>]*(?:\\r?$|${listItem}|#{1,6}[ \\t]|\\||${codeFence}))`;

/** Matches what decides where Markdown code begins, and code up to its end. Alternatives share no groups. */
const markdownMark = new RegExp(
  [
    // A fence up to the line that closes it, or up to the end of the text.
    `^(?<indent>(?:[ \\t>]|${listItem})*)(?<fence>${codeFence})(?:[^]*?^(?<closed>[ \\t>]*\\k<fence>[\`~]*[ \\t\\r]*)$|[^]*)`,
    // An escaped backtick, which begins no code, or an escaped backslash.
    '\\\\[\\\\`]',
    // A run of backticks, with code up to an equal run in its paragraph. Longer runs: quadratic time.
    `(?<!\`)(?<run>\`{1,32})(?!\`)(?:(?<inside>(?:(?!${paragraphEnd})[^])*?)(?<!\`)\\k<run>(?!\`))?`,
    '(?<blankLine>\\n[ \\t\\r>]*(?=\\n))',
    // A heading or a link of Markdown, neither of which HTML has.
    '(?<markdown>^[ \\t>]*#{1,6}[ \\t]|\\]\\()',
    // An HTML comment, in which no code begins.
    '<!(?=--)[^]*?(?:-->|(?![^]))',
    '(?<embed><snippet-embed(?=[\\s/>]))',
    // Any other tag, without backticks, so that "a<b `c` d>e" is no tag.
    '</?(?<tag>[a-z][^\\s/>`<"\']*)(?:[^"\'<>`]|"[^"]*"|\'[^\']*\')*>',
  ].join('|'),
  'gim',
);

/** Elements whose content is not Markdown. */
const opaqueElements = /^(?:code|kbd|pre|samp|script|style|textarea|title)$/;

/**
 * Finds fences and text between backticks in Markdown. The tag of a block begins HTML, which has no such
 * code, up to the next blank line.
 */
export function findCode(text: string): CodeRange[] {
  if (!/[`~]/.test(text) || isPlainHtml(text)) return [];
  const code: CodeRange[] = [];
  /** Opaque elements without an end tag behind them: searching for each again would take quadratic time. */
  const unclosedElements = new Set<string>();
  let hasTags = false;
  let isMarkdown = false;
  let inHtml = false;

  markdownMark.lastIndex = 0;
  for (let match = markdownMark.exec(text); match; match = markdownMark.exec(text)) {
    const { indent = '', fence, closed, run, inside, blankLine, markdown, embed, tag } = match.groups ?? {};
    const start = match.index + indent.length;
    const end = markdownMark.lastIndex;

    if (fence && !inHtml) {
      isMarkdown ||= !!closed;
      code.push({ start, end, isDoubtful: !closed });
    } else if (run && !inHtml && isCodeSpan(text, start, inside)) {
      code.push({ start, end, isDoubtful: false });
    } else if (fence || run) {
      markdownMark.lastIndex = start + (fence ?? run ?? '').length;
    } else if (blankLine) {
      inHtml = false;
    } else if (markdown) {
      isMarkdown ||= !inHtml;
    } else if (embed) {
      // An embed's tag without an end takes the rest of the text, so no later tag has an end.
      markdownMark.lastIndex = tagAt(text, start)?.end ?? text.length;
    } else if (tag) {
      const name = tag.toLowerCase();
      hasTags = true;
      if (blockElements.has(name) || name.includes('-')) inHtml = true;
      if (opaqueElements.test(name) && !unclosedElements.has(name)) {
        const endTag = new RegExp(`</${name}(?=[\\s/>])[^>]*>`, 'gi');
        markdownMark.lastIndex = matchEnd(endTag, text, end) ?? end;
        if (markdownMark.lastIndex === end) unclosedElements.add(name);
      }
    }
  }

  const mayBeHtml = hasTags && !isMarkdown;
  return code.map((range) => ({ ...range, isDoubtful: range.isDoubtful || mayBeHtml }));
}

/** Whether backticks that begin at an offset hold code. In "it`s <p>…</p> it`s", they are apostrophes. */
function isCodeSpan(text: string, start: number, inside: string | undefined) {
  if (inside === undefined) return false;
  const isTight = /^\S(?:.*\S)?$/.test(inside) && !/\w/.test(text.charAt(start - 1));
  return isTight || !isBlockLevel(inside);
}

/** Whether text is HTML as editors write it: it begins and ends with tags, and holds no Markdown. */
function isPlainHtml(text: string) {
  const trimmed = text.trim();
  return (
    /^<[a-z!]/i.test(trimmed) &&
    trimmed.endsWith('>') &&
    !/^[ \t]*(?:#{1,6}[ \t]|`{3}|~{3})|\]\(/m.test(trimmed)
  );
}
