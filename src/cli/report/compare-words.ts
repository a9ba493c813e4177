import { diffWordsWithSpace } from 'diff';

/** A part of two texts that were compared. */
export interface Part {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

// Beyond this, two texts have so little in common that a comparison takes long and helps no reader.
const maxEdits = 1_000;
/** How much of what stays is shown beside a change, in characters. */
const context = 100;
/** How much is shown of what changes in one place, in characters. */
const longest = 4_000;

/**
 * Compares two texts word by word. Of long parts that stay the same, only the beginning and the end are returned.
 *
 * @param before safe to show, as is `after`: they are compared, and then cut.
 */
export function compareWords(before: string, after: string): Part[] {
  const changes = diffWordsWithSpace(before, after, { maxEditLength: maxEdits });
  const parts = changes?.map(({ added, removed, value }): Part => {
    return { kind: added ? 'added' : removed ? 'removed' : 'same', text: value };
  }) ?? [
    { kind: 'removed', text: before },
    { kind: 'added', text: after },
  ];
  return parts
    .filter(({ text }) => text !== '')
    .map(({ kind, text }, index, { length }) => {
      if (kind !== 'same') return { kind, text: shorten(text, longest, 0) };
      const isFirst = index === 0 && length > 1;
      const isLast = index === length - 1 && length > 1;
      return { kind, text: shorten(text, isFirst ? 0 : context, isLast ? 0 : context) };
    });
}

/** The first and the last words of a text that has more of them, with about so many characters. */
function shorten(text: string, first: number, last: number): string {
  if (text.length <= first + last) return text;
  const start = text.slice(0, first).replace(/\s\S{0,30}$/, ' ');
  const end = last === 0 ? '' : text.slice(-last).replace(/^\S{0,30}\s/, ' ');
  // Where a word is cut: half of a surrogate pair is not a character.
  return `${start.replace(/[\ud800-\udbff]$/, '')}…${end.replace(/^[\udc00-\udfff]/, '')}`;
}
