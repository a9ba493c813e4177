/** Part of a text, without its end. In a file read as Latin-1, these are bytes. */
export interface Range {
  start: number;
  end: number;
}

export type Edit = Range & { text: string };

/** @param edits in any order. Where they overlap, all is removed. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let written = '';
  let done = 0;
  for (const { start, end, text: piece } of [...edits].sort((a, b) => a.start - b.start)) {
    written += text.slice(done, start) + piece;
    done = Math.max(done, end);
  }
  return written + text.slice(done);
}
