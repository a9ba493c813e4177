import { tagAt } from './html-scanner.ts';

/**
 * Replaces Markdown code with spaces, so that offsets stay the same: fences, and backticks within one paragraph.
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

// Backticks; an embed, which keeps those in its attributes; or the end of a paragraph, of Markdown or of the HTML that
// was made of it.
const mark = /(`+)|(<snippet-embed(?=[\t\n\f\r />]))|\n[ \t\r]*\n|<\/?(?:p|div|li|td|h[1-6])\b/gi;

function withoutBackticks(text: string): string {
  const marks: { start: number; end: number; kind: string }[] = [];
  let paragraph = 0;
  for (const { 1: run, 2: embed, 0: all, index } of text.matchAll(mark)) {
    if (run === undefined && embed === undefined) paragraph += 1;
    // Code ends with the same number of backticks as it begins with.
    else marks.push({ start: index, end: index + all.length, kind: embed ?? `${paragraph} ${run?.length}` });
  }
  const last = new Map(marks.map(({ kind }, number) => [kind, number]));
  let blanked = '';
  let copied = 0;
  let read = 0;
  for (const [number, { start, kind }] of marks.entries()) {
    if (start < read) continue;
    if (kind.startsWith('<')) {
      // If this tag has no end, neither has any later one.
      read = tagAt(text, start)?.end ?? text.length;
    } else if ((last.get(kind) ?? 0) > number) {
      let closing = number + 1;
      while (marks[closing]?.kind !== kind) closing += 1;
      read = marks[closing]?.end ?? text.length;
      blanked += text.slice(copied, start) + ' '.repeat(read - start);
      copied = read;
    }
  }
  return blanked + text.slice(copied);
}
