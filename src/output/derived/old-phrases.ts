import { textOf } from '../../markup/text-of.ts';
import { phraseLength, phrasesOf } from './phrases.ts';
import { readingsOf, toWords } from './words.ts';

/** By what a text made from an old content or page is recognized. */
export interface OldPhrases {
  /** The phrases that only the old content or page has; or all, if there are none of these. */
  outdated: ReadonlySet<string>;
  /** Whether these are in the new one, too, as it only adds words, or changes marks such as in "40 €". */
  areInNew: boolean;
  /** The other phrases of the old content: a text that has all of them was made from it. */
  others: ReadonlySet<string>;
  /** How many phrases in a row are in no other text by chance. */
  unmistakableRun: number;
}

/** So many phrases in a row are in no other text by chance: of a content, or of a page around a content. */
const unmistakableRuns = { ofContent: 6, ofPage: 3 } as const;

/** Compares the old and the new content of a snippet. Tags count only if the displayed texts are equal. */
export function comparePhrases(oldHtml: string, newHtml: string): OldPhrases {
  const displayed = textOf(oldHtml);
  const isDisplayed = displayed !== '' && displayed !== textOf(newHtml);
  const words = extractWords(oldHtml);
  const text = phrasesIn(words.displayed);
  const phrases = isDisplayed ? text : phrasesIn([words.withTags]).difference(text);
  const onlyOld = phrases.difference(phrasesIn(all(extractWords(newHtml))));
  const areInNew = onlyOld.size === 0;
  const outdated = areInNew ? phrases : onlyOld;
  // A shorter content is unmistakable as a whole.
  const count = isDisplayed ? phrasesOf(words.displayed[0] ?? []).length : 0;
  const unmistakableRun = Math.min(unmistakableRuns.ofContent, count || unmistakableRuns.ofContent);
  return { outdated, areInNew, others: phrases.difference(outdated), unmistakableRun };
}

/** How many bytes around a change are compared: if tags leave too few words of them, more. */
const contextLengths = [150, 3_000];

/** Compares the old and the new bytes of a page, around what differs: a change together with its neighbors. */
export function comparePagePhrases(oldPage: Buffer, newPage: Buffer): OldPhrases {
  for (const context of contextLengths) {
    const [oldPart, newPart] = changedParts(oldPage, newPage, context);
    const oldWords = all(extractWords(oldPart));
    const newWords = all(extractWords(newPart));
    const changes = oldWords.map((words, index) => changedWords(words, newWords[index] ?? []));
    if (context !== contextLengths.at(-1) && changes.some(({ hasContext }) => !hasContext)) continue;
    const onlyOld = phrasesIn(changes.map(({ old }) => old)).difference(
      phrasesIn(changes.map(({ current }) => current)),
    );
    if (onlyOld.size > 0) {
      const unmistakableRun = unmistakableRuns.ofPage;
      return { outdated: onlyOld, areInNew: false, others: new Set(), unmistakableRun };
    }
  }
  return comparePhrases(...changedParts(oldPage, newPage, unchangedContextLength));
}

/** How many bytes around a change are searched for if all phrases there are on the new page as well. */
const unchangedContextLength = 80;

/** Cuts off what two files have in common at their starts and ends, except for so many bytes. */
function changedParts(first: Buffer, second: Buffer, context: number): [string, string] {
  const [start, end] = commonEnds(first, second);
  const from = Math.max(0, start - context);
  const cut = (bytes: Buffer) => {
    const part = bytes.toString('utf8', from, bytes.length - end + context);
    // Words that are cut are left out.
    const whole = from > 0 ? part.replace(/^[^\s<>]*/, '') : part;
    return end > context ? whole.replace(/[^\s<>]{0,100}$/, '') : whole;
  };
  return [cut(first), cut(second)];
}

interface ChangedWords {
  old: string[];
  current: string[];
  /** Whether there are enough words before and after the change for phrases. */
  hasContext: boolean;
}

/** Cuts off what two lists of words have in common at their starts and ends, except for parts of phrases. */
function changedWords(old: readonly string[], current: readonly string[]): ChangedWords {
  const context = phraseLength - 1;
  const [start, end] = commonEnds(old, current);
  const cut = (words: readonly string[]) =>
    words.slice(Math.max(0, start - context), words.length - end + context);
  return { old: cut(old), current: cut(current), hasContext: Math.min(start, end) >= context };
}

/** Counts how many items two lists have in common at their starts, and at their ends. */
function commonEnds(first: ArrayLike<unknown>, second: ArrayLike<unknown>): [start: number, end: number] {
  const length = Math.min(first.length, second.length);
  let start = 0;
  while (start < length && first[start] === second[start]) start++;
  const [firstEnd, secondEnd] = [first.length - 1, second.length - 1];
  let end = 0;
  while (end < length - start && first[firstEnd - end] === second[secondEnd - end]) end++;
  return [start, end];
}

/** The words of HTML in the ways in which programs extract them. */
interface ExtractedWords {
  /** As displayed, with a space for each tag, and as `textContent` has them. */
  displayed: string[][];
  /** With the names and attributes of tags. */
  withTags: string[];
}

function extractWords(html: string): ExtractedWords {
  const texts = [textOf(html), textOf(html, () => true), textOf(html, () => false)];
  return {
    displayed: texts.map((text) => toWords(readingsOf(text).withoutTags)),
    withTags: toWords(readingsOf(html).withTags),
  };
}

const all = ({ displayed, withTags }: ExtractedWords) => [...displayed, withTags];

const phrasesIn = (texts: readonly string[][]): Set<string> => new Set(texts.flatMap(phrasesOf));

/** How many words of a short content are joined with words next to it, where tags are dropped without a space. */
const shortLength = 5;

/**
 * Returns words of a content that is so short that it has to be found by its neighbors on pages: a text made
 * from these has one of the words. Empty if the content is long enough.
 */
export function wordsOfShort(html: string): readonly string[] {
  const { displayed } = extractWords(html);
  const isShort = displayed.some((words) => words.length < shortLength);
  return isShort ? displayed.flatMap((words) => [words.at(0) ?? '', words.at(-1) ?? '']) : [];
}
