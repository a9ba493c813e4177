/**
 * The same text with blanks in place of the code that Markdown marks: what stands in a fence, or between backticks
 * in one paragraph.
 */
export function withoutCodeSpans(text: string): string {
  if (!/[`~]/.test(text)) return text;
  let blanked = '';
  let read = 0;
  for (const { start, end } of [...fences(text)]) {
    blanked += withoutBackticks(text.slice(read, start)) + ' '.repeat(end - start);
    read = end;
  }
  return blanked + withoutBackticks(text.slice(read));
}

function* fences(text: string) {
  let opened: { start: number; fence: string } | undefined;
  for (const { 1: fence = '', 2: info = '', index, 0: line } of text.matchAll(
    /^[ \t>]*(`{3,}|~{3,})([^\n]*)$/gm,
  )) {
    if (opened === undefined) {
      if (!info.includes('`')) opened = { start: index, fence };
    } else if (fence.startsWith(opened.fence) && info.trim() === '') {
      yield { start: opened.start, end: index + line.length };
      opened = undefined;
    }
  }
  if (opened !== undefined) yield { start: opened.start, end: text.length };
}

// A paragraph of Markdown, or of the HTML that was made of it, where a backtick is just a character.
const paragraphEnd = /\n[ \t\r]*\n|<\/?(?:p|div|li|td|h[1-6])\b/gi;

function withoutBackticks(text: string): string {
  let blanked = '';
  let read = 0;
  for (const { index } of text.matchAll(paragraphEnd)) {
    blanked += withoutSpans(text.slice(read, index));
    read = index;
  }
  return blanked + withoutSpans(text.slice(read));
}

function withoutSpans(paragraph: string): string {
  const runs = [...paragraph.matchAll(/`+/g)].map(({ 0: { length }, index }) => ({ length, index }));
  const last = new Map(runs.map(({ length }, number) => [length, number]));
  let blanked = '';
  let read = 0;
  for (let number = 0; number < runs.length; number += 1) {
    const { length = 0, index: start = 0 } = runs[number] ?? {};
    // Code ends with as many backticks as it begins with.
    if ((last.get(length) ?? 0) <= number) continue;
    do number += 1;
    while (runs[number]?.length !== length);
    const end = (runs[number]?.index ?? 0) + length;
    blanked += paragraph.slice(read, start) + ' '.repeat(end - start);
    read = end;
  }
  return blanked + paragraph.slice(read);
}
