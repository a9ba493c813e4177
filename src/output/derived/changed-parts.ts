import { textOf } from '../../markup/text-of.ts';
import { phraseLength } from './phrases.ts';
import { toWords } from './words.ts';

/** A part of a page that changes, with neighbors: what is before it and after it, and stays. */
export interface ChangedPart {
  old: string;
  current: string;
}

/** How many bytes beside a change are its neighbors. The next number is for places where tags leave few words. */
const contextLengths = [70, 300, 3_000];
/** How many bytes beside a change are neighbors in any case. */
export const narrowContext: readonly number[] = [80];

/** Finds the parts of a page that change: the replaced contents, wherever on the page they are. */
export function changedParts(
  old: Buffer,
  current: Buffer,
  lengths: readonly number[] = contextLengths,
): ChangedPart[] {
  const parts: ChangedPart[] = [];
  const changes = [...findChanges(old, current, 0, 0)];
  const maxLength = Math.max(...lengths);
  let first: Change | undefined;
  let before = 0;
  for (const [index, change] of changes.entries()) {
    const { oldStart, oldEnd, currentEnd } = change;
    if (!first) {
      first = change;
      const available = Math.min(oldStart - (changes[index - 1]?.oldEnd ?? 0), maxLength);
      before =
        neighborsLength(lengths, available, (length) => cut(old, oldStart - length, oldStart)) ?? available;
    }
    const next = changes[index + 1]?.oldStart;
    const available = Math.min((next ?? old.length) - oldEnd, maxLength);
    const after = neighborsLength(lengths, available, (length) => cut(old, oldEnd, oldEnd + length));
    // Few words between two changes are neighbors of both.
    if (after === undefined && next !== undefined && available < maxLength) continue;
    parts.push({
      old: cut(old, first.oldStart - before, oldEnd + (after ?? available)),
      current: cut(current, first.currentStart - before, currentEnd + (after ?? available)),
    });
    first = undefined;
  }
  return parts;
}

/**
 * Chooses how many bytes beside a change are its neighbors: enough words for phrases.
 *
 * @returns `undefined` if there are too few words
 */
const neighborsLength = (
  lengths: readonly number[],
  available: number,
  neighbors: (length: number) => string,
): number | undefined =>
  lengths
    .map((length) => Math.min(length, available))
    .find((length) => toWords(textOf(neighbors(length))).length >= phraseLength);

/** Part of a page, without the words and tags that are cut at its ends. */
function cut(page: Buffer, start: number, end: number): string {
  const text = page.toString('utf8', start, end);
  const whole = start > 0 ? text.replace(/^[^<>]*>|^[^\s<>]*/, '') : text;
  if (end >= page.length) return whole;
  const tag = whole.lastIndexOf('<');
  if (tag > whole.lastIndexOf('>')) return whole.slice(0, tag);
  return whole.slice(
    0,
    Math.max(whole.lastIndexOf(' '), whole.lastIndexOf('\n'), whole.lastIndexOf('>')) + 1,
  );
}

/** Where two versions of a page differ, in bytes. */
interface Change {
  oldStart: number;
  oldEnd: number;
  currentStart: number;
  currentEnd: number;
}

/**
 * Finds where two versions of a page differ: between their common start and end, these are divided where they
 * have the same bytes again, as long as they do.
 */
function* findChanges(
  old: Buffer,
  current: Buffer,
  oldOffset: number,
  currentOffset: number,
): Generator<Change, void, unknown> {
  const [start, end] = commonEnds(old, current);
  const oldRest = old.subarray(start, old.length - end);
  const currentRest = current.subarray(start, current.length - end);
  const [oldStart, currentStart] = [oldOffset + start, currentOffset + start];
  const [oldEnd, currentEnd] = [oldStart + oldRest.length, currentStart + currentRest.length];
  if (oldRest.length + currentRest.length === 0) return;
  const [oldMiddle, currentMiddle] = findAnchor(oldRest, currentRest);
  if (oldMiddle === undefined || currentMiddle === undefined) {
    yield { oldStart, oldEnd, currentStart, currentEnd };
    return;
  }
  const [oldHead, currentHead] = [oldRest.subarray(0, oldMiddle), currentRest.subarray(0, currentMiddle)];
  yield* findChanges(oldHead, currentHead, oldStart, currentStart);
  const [oldTail, currentTail] = [oldRest.subarray(oldMiddle), currentRest.subarray(currentMiddle)];
  yield* findChanges(oldTail, currentTail, oldStart + oldMiddle, currentStart + currentMiddle);
}

/** So many equal bytes are the same place of a page: if they are not, more than the change is compared. */
const anchorLength = 64;
/** Where equal bytes are searched for: one of these places is outside of the contents that change. */
const anchorPlaces = [1 / 2, 1 / 4, 3 / 4, 1 / 8, 3 / 8, 5 / 8, 7 / 8];

/** Finds bytes that two versions have in common. @returns where these are; empty if there are none */
function findAnchor(old: Buffer, current: Buffer): [inOld?: number, inCurrent?: number] {
  for (const place of anchorPlaces) {
    const inCurrent = Math.floor(current.length * place);
    const anchor = current.subarray(inCurrent, inCurrent + anchorLength);
    if (anchor.length < anchorLength) continue;
    // What repeats on a page is searched for where it was, if only one content has changed.
    const expected = Math.max(0, inCurrent + Math.min(0, old.length - current.length));
    const following = old.indexOf(anchor, expected);
    const inOld = following === -1 ? old.lastIndexOf(anchor, expected) : following;
    if (inOld !== -1) return [inOld, inCurrent];
  }
  return [];
}

/** Counts how many bytes two buffers have in common at their starts, and at their ends. */
function commonEnds(first: Buffer, second: Buffer): [start: number, end: number] {
  const length = Math.min(first.length, second.length);
  let start = 0;
  while (start < length && first[start] === second[start]) start++;
  const [firstEnd, secondEnd] = [first.length - 1, second.length - 1];
  let end = 0;
  while (end < length - start && first[firstEnd - end] === second[secondEnd - end]) end++;
  return [start, end];
}
