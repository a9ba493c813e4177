import { forEachWord, type Readings } from './words.ts';

/** How many words in a row are a phrase: fewer are in other texts by chance. */
export const phraseLength = 3;

/** Lists each three words in a row. */
export function phrasesOf(words: readonly string[]): string[] {
  const following = words.slice(phraseLength - 1);
  return following.map((third, index) => `${words[index]} ${words[index + 1]} ${third}`);
}

/** What is known about a phrase of an old content, or of a changed part of a page. */
export interface PhraseOrigin {
  snippetId: number;
  /** Whether a text with the phrase is out of date, unless the phrase is from another file. */
  isOutdated: boolean;
  /** Whether new pages have the phrase, too, since they differ by more words, or by marks such as in "40 €". */
  isOnNewPages: boolean;
  /** How many phrases of the content in a row are in no other text by chance. */
  unmistakableRun: number;
}

/** A phrase that a text has. */
export interface FoundPhrase extends PhraseOrigin {
  phrase: string;
  /** Whether the text has so many phrases of old pages in a row that it was made from one. */
  isUnmistakable: boolean;
}

/** Phrases that texts are searched for. */
export class Phrases {
  readonly #origins = new Map<string, PhraseOrigin>();
  /** The last words of phrases: three words are only joined if they may be a phrase. */
  readonly #lastWords = new Set<string>();

  add(phrase: string, origin: PhraseOrigin): void {
    if (this.#origins.get(phrase)?.isOutdated) return;
    this.#origins.set(phrase, origin);
    this.#lastWords.add(phrase.slice(phrase.lastIndexOf(' ') + 1));
  }

  /** Calls a function with each outdated phrase that a text contains. */
  find({ withoutTags, withTags }: Readings, use: (found: FoundPhrase) => void): void {
    if (this.#origins.size === 0) return;
    this.#findIn(withoutTags, use);
    if (withTags !== withoutTags) this.#findIn(withTags, use);
  }

  #findIn(text: string, use: (found: FoundPhrase) => void): void {
    let [first, second] = ['', ''];
    let run = 0;
    let outdatedInRun: FoundPhrase | undefined;
    forEachWord(text, (word) => {
      const phrase = this.#lastWords.has(word) ? `${first} ${second} ${word}` : '';
      const origin = phrase === '' ? undefined : this.#origins.get(phrase);
      [first, second] = [second, word];
      run = origin ? run + 1 : 0;
      if (origin?.isOutdated) outdatedInRun = { ...origin, phrase, isUnmistakable: false };
      else if (!origin) outdatedInRun = undefined;
      if (!outdatedInRun) return;
      const isUnmistakable = run >= outdatedInRun.unmistakableRun;
      if (origin?.isOutdated || isUnmistakable) use({ ...outdatedInRun, isUnmistakable });
    });
  }
}
