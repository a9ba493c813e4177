/** Text in place of a part of a text. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** @param edits of parts that do not overlap, in any order. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let written = '';
  let done = 0;
  for (const { start, end, text: piece } of [...edits].sort((a, b) => a.start - b.start)) {
    written += text.slice(done, start) + piece;
    done = end;
  }
  return written + text.slice(done);
}
