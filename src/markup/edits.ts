/** Part of a text, from `start` to before `end`. In a file read as Latin-1, both are byte offsets. */
export interface Range {
  start: number;
  end: number;
}

/** A replacement of part of a text with a new text. */
export interface Edit extends Range {
  text: string;
}

/** Applies edits, given in any order. Where edits overlap, everything that any of them covers is removed. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let edited = '';
  let copiedTo = 0;
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    edited += text.slice(copiedTo, edit.start) + edit.text;
    copiedTo = Math.max(copiedTo, edit.end);
  }
  return edited + text.slice(copiedTo);
}

/**
 * Encodes text as a byte string: each character is one byte of the UTF-8. Files are read as byte strings (as
 * Latin-1), so that every offset is a byte offset, and what is inserted into these has to be a byte string, too.
 */
export const toByteString = (text: string): string => Buffer.from(text).toString('latin1');
