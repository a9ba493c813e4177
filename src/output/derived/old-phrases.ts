import { textOf } from '../../markup/text-of.ts';
import { hashOf } from '../../record/hash-of.ts';
import { changedParts, narrowContext } from './changed-parts.ts';
import { joinedLettersOf, phrasesOf } from './phrases.ts';
import { readingsOf, toWords } from './words.ts';

/** By what a text made from an old content, or from a changed part of a page, is recognized. */
export interface OldPhrases {
  /** The phrases that only the old one has; or all, if there are none of these. */
  outdated: ReadonlySet<string>;
  /** Whether these are in the new one, too, as it only adds words, or changes marks such as in "40 €". */
  areInNew: boolean;
  /** The other phrases of the old one. */
  others: ReadonlySet<string>;
  /** Letters that only the old one has, across the words that are joined where tags are dropped without a space. */
  joined: ReadonlySet<string>;
  /** How many of all phrases, in a row, are in no other text by chance. */
  unmistakableRun: number;
}

/** So many phrases in a row are in no other text by chance. Manuals repeat most of a sentence in others. */
const unmistakableRun = 20;
/** A text of fewer phrases is in other texts by chance, even if it is there as a whole. */
const minUnmistakable = 3;

/**
 * Compares the old and the new HTML. Tags count only if the displayed texts are equal.
 *
 * @param isPage whether the HTML is a part of a page, which has as many words as can be compared
 */
export function comparePhrases(oldHtml: string, newHtml: string, isPage = false): OldPhrases {
  const phrasesIn = (texts: readonly string[][]) =>
    new Set(texts.flatMap((words) => phrasesOf(words, isPage)));
  const old = extractWords(oldHtml);
  const current = extractWords(newHtml);
  const isDisplayed = old.text !== '' && old.text !== current.text;
  const text = phrasesIn(old.displayed);
  const phrases = isDisplayed ? text : phrasesIn([old.withTags]).difference(text);
  const onlyOld = phrases.difference(phrasesIn([...current.displayed, current.withTags]));
  const areInNew = onlyOld.size === 0;
  // A change that nobody sees, as of quotes in tags, cannot be told by words.
  const inBoth = isDisplayed ? phrases : new Set<string>();
  const outdated = areInNew ? inBoth : onlyOld;
  const count = phrasesOf((isDisplayed ? old.displayed[0] : undefined) ?? old.withTags).length;
  return {
    outdated,
    areInNew,
    others: phrases.difference(outdated),
    joined: joinedIn(old).difference(joinedIn(current)),
    unmistakableRun: count < minUnmistakable ? Number.POSITIVE_INFINITY : Math.min(count, unmistakableRun),
  };
}

/**
 * Compares the changed parts of a page, each together with its neighbors.
 *
 * @param compared the hashes of the parts that were compared before, which are skipped: pages have headers in common
 */
export function comparePages(oldPage: Buffer, newPage: Buffer, compared: Set<string>): OldPhrases[] {
  const compareParts = (contextLengths?: readonly number[]) =>
    changedParts(oldPage, newPage, contextLengths).flatMap(({ old, current }) => {
      const { size } = compared;
      // A small page is the same part with fewer neighbors, too.
      const key = hashOf(`${contextLengths}\0${old}\0${current}`);
      return compared.add(key).size > size ? comparePhrases(old, current, true) : [];
    });
  const phrases = compareParts();
  if (!phrases.some(({ areInNew }) => areInNew)) return phrases;
  // If the words stay, nothing tells those of the change from their neighbors, so there are fewer of these.
  return [...phrases.filter(({ areInNew }) => !areInNew), ...compareParts(narrowContext)];
}

/** The words of HTML in the ways in which programs extract them. */
interface ExtractedWords {
  /** The text as browsers show it. */
  text: string;
  /** Its words, those with a space for each tag, and those of `textContent`. */
  displayed: string[][];
  /** The words with the names and attributes of tags. */
  withTags: string[];
}

function extractWords(html: string): ExtractedWords {
  const text = textOf(html);
  const texts = [text, textOf(html, () => true), textOf(html, () => false)];
  const displayed = texts.map((extracted) => toWords(readingsOf(extracted).withoutTags));
  return { text, displayed, withTags: toWords(readingsOf(html).withTags) };
}

/** Letters in a row that no single word has: they begin in one word, and end in another. */
function joinedIn({ displayed: [shown = [], spaced = [], joined = []] }: ExtractedWords): Set<string> {
  const words = new Set(joined).difference(new Set([...shown, ...spaced]));
  return new Set([...words].flatMap(joinedLettersOf)).difference(
    new Set([...shown, ...spaced].flatMap(joinedLettersOf)),
  );
}

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
