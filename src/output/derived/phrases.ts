import { forEachWord, type Readings } from './words.ts';

/** How many words in a row are a phrase: fewer are in other texts by chance. */
export const phraseLength = 3;

/** Lists each three words in a row. @param isPage whether two words are all that a page has, and a phrase */
export function phrasesOf(words: readonly string[], isPage = false): string[] {
  if (isPage && words.length === 2) return [words.join(' ')];
  const following = words.slice(phraseLength - 1);
  return following.map((third, index) => `${words[index]} ${words[index + 1]} ${third}`);
}

/** How many letters in a row are a phrase of joined words: fewer are in other words by chance. */
const joinedLength = 12;

/** Lists each so many letters in a row of a word, as of `ApplesPears` where tags are dropped without a space. */
export function joinedLettersOf(word: string): string[] {
  const count = Math.max(0, word.length - joinedLength + 1);
  return Array.from({ length: count }, (_, start) => word.slice(start, start + joinedLength));
}

/** A number for three letters; other letters may have the same. */
const joinedStartOf = (word: string, start: number): number =>
  (word.charCodeAt(start) * 961 + word.charCodeAt(start + 1) * 31 + word.charCodeAt(start + 2)) & 0xffff;

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
export interface FoundPhrase {
  phrase: string;
  /** The snippet that had the phrase, or beside which a page has it. */
  snippetId: number;
  /** Whether new pages have the phrase, too. */
  isOnNewPages: boolean;
  /** Whether the text has so many phrases of old pages in a row that it was made from one. */
  isUnmistakable: boolean;
}

/** Phrases that texts are searched for. */
export class Phrases {
  readonly #origins = new Map<string, PhraseOrigin>();
  /** The last words of phrases: three words are only joined if they may be a phrase. */
  readonly #lastWords = new Set<string>();
  /** The snippets whose old contents have letters of joined words. */
  readonly #joined = new Map<string, number>();
  /** How letters of joined words may start: cutting them out of all long words, as of images, is slow. */
  readonly #joinedStarts = new Uint8Array(0x10000);

  add(phrase: string, origin: PhraseOrigin): void {
    if (this.#origins.get(phrase)?.isOutdated) return;
    this.#origins.set(phrase, origin);
    this.#lastWords.add(phrase.slice(phrase.lastIndexOf(' ') + 1));
  }

  addJoined(letters: string, snippetId: number): void {
    this.#joined.set(letters, snippetId);
    this.#joinedStarts[joinedStartOf(letters, 0)] = 1;
  }

  /** Calls a function with each outdated phrase that a text contains. */
  find({ withoutTags, withTags }: Readings, use: (found: FoundPhrase) => void): void {
    if (this.#origins.size + this.#joined.size === 0) return;
    this.#findIn(withoutTags, use);
    if (withTags !== withoutTags) this.#findIn(withTags, use);
  }

  #findIn(text: string, use: (found: FoundPhrase) => void): void {
    let [first, second] = ['', ''];
    let run = 0;
    let outdatedInRun: { phrase: string; origin: PhraseOrigin } | undefined;
    forEachWord(text, (word) => {
      if (this.#joined.size > 0 && word.length >= joinedLength) this.#findJoined(word, use);
      let phrase = '';
      let origin: PhraseOrigin | undefined;
      if (this.#lastWords.has(word)) {
        const pair = `${second} ${word}`;
        phrase = `${first} ${pair}`;
        origin = this.#origins.get(phrase);
        // On a page of two words, both are a phrase.
        if (!origin) [phrase, origin] = [pair, this.#origins.get(pair)];
      }
      [first, second] = [second, word];
      run = origin ? run + 1 : 0;
      if (origin?.isOutdated) outdatedInRun = { phrase, origin };
      else if (!origin) outdatedInRun = undefined;
      if (!outdatedInRun) return;
      const { snippetId, isOnNewPages, unmistakableRun } = outdatedInRun.origin;
      const isUnmistakable = run >= unmistakableRun;
      if (!origin?.isOutdated && !isUnmistakable) return;
      use({ phrase: outdatedInRun.phrase, snippetId, isOnNewPages, isUnmistakable });
    });
  }

  #findJoined(word: string, use: (found: FoundPhrase) => void): void {
    for (let start = 0; start + joinedLength <= word.length; start++) {
      if (!this.#joinedStarts[joinedStartOf(word, start)]) continue;
      const phrase = word.slice(start, start + joinedLength);
      const snippetId = this.#joined.get(phrase);
      if (snippetId === undefined) continue;
      use({ phrase, snippetId, isOnNewPages: false, isUnmistakable: false });
    }
  }
}
