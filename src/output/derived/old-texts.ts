import { readFileSync } from 'node:fs';
import { textOf } from '../../markup/text-of.ts';
import type { SiteFile } from '../site-files.ts';
import { comparePages, comparePhrases, type OldPhrases, wordsOfShort } from './old-phrases.ts';
import { type FoundPhrase, Phrases } from './phrases.ts';
import type { ChangingPage, SiteChanges, Trace } from './site-changes.ts';
import { textsOf } from './texts.ts';
import { readingsOf } from './words.ts';

/**
 * Finds old contents of snippets in files such as `search.json`: by phrases that only the old contents have.
 * A short content is found together with its neighbors on the pages. A phrase that another file has, too, or
 * that stays on a page, is no trace: see {@link OldTexts.findElsewhere}.
 */
export class OldTexts {
  readonly #changes: SiteChanges;
  readonly #phrases = new Phrases();
  /** Words of short contents: a text that contains one may contain the content with its neighbors. */
  readonly #words = new Set<string>();
  /** The indexes of the snippets that are found by their neighbors as well. */
  readonly #toFindOnPages = new Set<number>();

  constructor(changes: SiteChanges) {
    this.#changes = changes;
    for (const index of new Set(changes.pages.flatMap(({ changed }) => changed))) this.#addSnippet(index);
    const isUnknown = ({ page, changed }: ChangingPage) =>
      changed.length === 0 || changed.some((index) => page.staleContentHashes?.[index] !== undefined);
    if (changes.pages.some(isUnknown)) this.#words.add('');
  }

  /**
   * Finds a trace in a part of a file's text.
   *
   * @param doubtful gets the phrases that are a trace unless they are elsewhere, too, with their traces
   */
  find(text: string, doubtful: Map<string, Trace>): Trace | undefined {
    const readings = readingsOf(text);
    if (this.#words.values().some((word) => readings.withTags.includes(word))) this.#addPages();
    let trace: Trace | undefined;
    this.#phrases.find(readings, ({ phrase, snippetId, isUnmistakable }) => {
      const found: Trace = { kind: 'old-content', snippetId };
      if (isUnmistakable) trace ??= found;
      else doubtful.set(phrase, found);
    });
    return trace;
  }

  /** Finds which of these phrases stay on pages, or are in other files. @param others the other files */
  findElsewhere(phrases: ReadonlySet<string>, others: Iterable<SiteFile>): Set<string> {
    const elsewhere = new Set<string>();
    const hasJoined = [...phrases].some((phrase) => !phrase.includes(' '));
    const mayHold = wordPattern(hasJoined ? [''] : phrases);
    const search = (text: string, isNewPage: boolean) => {
      if (!mayHold.test(text)) return;
      const add = ({ phrase, isOnNewPages }: FoundPhrase) => {
        if (phrases.has(phrase) && !(isNewPage && isOnNewPages)) elsewhere.add(phrase);
      };
      this.#phrases.find(readingsOf(text), add);
      // Words that are joined where tags are dropped without a space are apart in the HTML.
      if (hasJoined) this.#phrases.find(readingsOf(textOf(text, () => false)), add);
    };
    for (const { makeBytes } of phrases.size > 0 ? this.#changes.pages : []) {
      if (elsewhere.size === phrases.size) return elsewhere;
      search(makeBytes().toString(), true);
    }
    for (const { file } of phrases.size > 0 ? others : []) {
      if (elsewhere.size === phrases.size) return elsewhere;
      for (const text of textsOf(file)) search(text, false);
    }
    return elsewhere;
  }

  #addSnippet(index: number): void {
    const { manifest, currentContents } = this.#changes;
    const old = manifest.snippets[index]?.content;
    const current = currentContents[index];
    const snippetId = this.#idOf(index);
    // What pages show is on the pages alone if it is the children of embeds, or holds the API key.
    const words = old?.text === undefined ? [''] : wordsOfShort(old.text);
    for (const word of words) this.#words.add(word);
    if (words.length > 0) this.#toFindOnPages.add(index);
    if (old?.text !== undefined) this.#add(comparePhrases(old.text, current?.text ?? ''), snippetId);
  }

  #add({ outdated, others, joined, areInNew, unmistakableRun }: OldPhrases, snippetId: number): void {
    for (const letters of joined) this.#phrases.addJoined(letters, snippetId);
    const origin = { snippetId, isOnNewPages: areInNew, unmistakableRun };
    for (const phrase of outdated) this.#phrases.add(phrase, { ...origin, isOutdated: true });
    for (const phrase of others) this.#phrases.add(phrase, { ...origin, isOutdated: false });
  }

  /**
   * Adds the phrases around snippets on pages. They are read only if a file has a word of a short content. All
   * are in memory: about 1.5 KB for each place that has neighbors of its own.
   */
  #addPages(): void {
    // Without these words, no further text has the pages added again.
    this.#words.clear();
    const compared = new Set<string>();
    for (const { file, page, changed, makeBytes } of this.#changes.pages) {
      const isNeeded = (index: number) =>
        this.#toFindOnPages.has(index) || page.staleContentHashes?.[index] !== undefined;
      const index = changed.find(isNeeded) ?? (changed.length === 0 ? page.shows[0] : undefined);
      if (index === undefined) continue;
      for (const phrases of comparePages(readFileSync(file), makeBytes(), compared)) {
        this.#add(phrases, this.#idOf(index));
      }
    }
  }

  #idOf(index: number): number {
    return this.#changes.manifest.snippets[index]?.id ?? 0;
  }
}

/** A longer pattern would take longer than it saves. */
const maxPatternWords = 100;

/** A pattern that each text with one of these phrases matches: decoding all texts to words takes longer. */
function wordPattern(phrases: Iterable<string>): RegExp {
  // Other letters than these may be escaped.
  const words = [...phrases].map((phrase) =>
    phrase
      .split(' ')
      .reduce(
        (longest, word) => (/^[a-z0-9]+$/.test(word) && word.length > longest.length ? word : longest),
        '',
      ),
  );
  return new RegExp(words.length > maxPatternWords ? '' : [...new Set(words)].join('|'), 'i');
}
