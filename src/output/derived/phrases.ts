import { forEachWord, type Readings } from './words.ts';

/** How many words in a row are a phrase: fewer are in other texts by chance. */
export const phraseLength = 3;

/** Lists each three words in a row. */
export function phrasesOf(words: readonly string[]): string[] {
  return words.slice(phraseLength - 1).map((_, index) => words.slice(index, index + phraseLength).join(' '));
}

/** What is known about a phrase of old pages. */
export interface PhraseOrigin {
  snippetId: number;
  /** Whether a text with the phrase is out of date, unless the phrase is from another file. */
  isOutdated: boolean;
  /** Whether new pages have the phrase, too, since they differ by more words, or by marks such as in "40 €". */
  isOnNewPages: boolean;
  /** How many phrases of old pages in a row are in no other text by chance. */
  unmistakableRun: number;
}

/** A phrase of old pages that a text has. */
export interface FoundPhrase extends PhraseOrigin {
  /** The number of the phrase. */
  phrase: number;
  /** Whether the text has so many phrases of old pages in a row that it was made from one. */
  isUnmistakable: boolean;
}

/** Numbers are made of two numbers, which have half of the bits each. */
const combine = (first: number, second: number) => first * 2 ** 26 + second;

/** Phrases that texts are searched for. Words and phrases have numbers, as strings would be joined too often. */
export class Phrases {
  readonly #words = new Map<string, number>();
  /** The numbers of two words in a row, by the numbers of the words. */
  readonly #pairs = new Map<number, number>();
  readonly #origins = new Map<number, PhraseOrigin>();

  add(phrase: string, origin: PhraseOrigin): void {
    const [first = 0, second = 0, third = 0] = phrase.split(' ').map((word) => numberOf(this.#words, word));
    const key = combine(numberOf(this.#pairs, combine(first, second)), third);
    if (!this.#origins.get(key)?.isOutdated) this.#origins.set(key, origin);
  }

  /** Calls a function with each outdated phrase that a text contains. */
  find({ withoutTags, withTags }: Readings, use: (found: FoundPhrase) => void): void {
    if (this.#origins.size === 0) return;
    this.#findIn(withoutTags, use);
    if (withTags !== withoutTags) this.#findIn(withTags, use);
  }

  #findIn(text: string, use: (found: FoundPhrase) => void): void {
    let pair: number | undefined;
    let last: number | undefined;
    let run = 0;
    let outdatedInRun: FoundPhrase | undefined;
    forEachWord(text, (written) => {
      const word = this.#words.get(written);
      const phrase = pair !== undefined && word !== undefined ? combine(pair, word) : undefined;
      const origin = phrase === undefined ? undefined : this.#origins.get(phrase);
      run = origin ? run + 1 : 0;
      pair = last !== undefined && word !== undefined ? this.#pairs.get(combine(last, word)) : undefined;
      last = word;
      if (phrase === undefined || !origin) {
        outdatedInRun = undefined;
        return;
      }
      if (origin.isOutdated) outdatedInRun = { ...origin, phrase, isUnmistakable: false };
      if (!outdatedInRun) return;
      const isUnmistakable = run >= outdatedInRun.unmistakableRun;
      if (origin.isOutdated || isUnmistakable) use({ ...outdatedInRun, isUnmistakable });
    });
  }
}

function numberOf<Key>(numbers: Map<Key, number>, key: Key): number {
  const known = numbers.get(key);
  if (known !== undefined) return known;
  numbers.set(key, numbers.size);
  return numbers.size - 1;
}
