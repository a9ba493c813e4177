import type { Range } from './html-scanner.ts';

/** Text in place of a part of a text. */
export interface Edit extends Range {
  text: string;
}

/** @param edits in any order. Of parts that overlap, all is taken out. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let written = '';
  let done = 0;
  for (const { start, end, text: piece } of [...edits].sort((a, b) => a.start - b.start)) {
    written += text.slice(done, start) + piece;
    done = Math.max(done, end);
  }
  return written + text.slice(done);
}
