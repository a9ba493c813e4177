import { readFileSync } from 'node:fs';
import type { SiteFile } from '../site-files.ts';
import type { ChangingPage, SiteChanges, Trace } from './finder.ts';
import { comparePagePhrases, comparePhrases, type OldPhrases, wordsOfShort } from './old-phrases.ts';
import { Phrases } from './phrases.ts';
import { textsOf } from './texts.ts';
import { readingsOf } from './words.ts';

/**
 * Finds old contents of snippets in files such as `search.json`: by phrases that only the old contents have.
 * A short content is found together with its neighbors on the pages. A phrase that another file has, too, or
 * that stays on a page, is no trace.
 */
export class OldTexts {
  readonly #changes: SiteChanges;
  readonly #listOthers: () => readonly SiteFile[];
  readonly #phrases = new Phrases();
  /** The numbers of phrases that stay on pages, or that are in other files; `undefined` until they are needed. */
  #elsewhere: Set<number> | undefined;
  /** Words of short contents: a text that contains one may contain the content with its neighbors. */
  readonly #words = new Set<string>();
  /** The snippets that are found by their neighbors as well. `undefined` once all neighbors are known. */
  #toFindOnPages: Set<number> | undefined = new Set();
  /** The ids of snippets by hashes of scripts and styles that only their old contents have. */
  readonly #sources = new Map<string, number>();

  /** @param listOthers lists the files that were not made from changing pages; called if their texts matter */
  constructor(changes: SiteChanges, listOthers: () => readonly SiteFile[]) {
    this.#changes = changes;
    this.#listOthers = listOthers;
    for (const index of new Set(changes.pages.flatMap(({ changed }) => changed))) this.#addSnippet(index);
    const isUnknown = ({ page, changed }: ChangingPage) =>
      changed.length === 0 || changed.some((index) => page.staleContentHashes?.[index] !== undefined);
    if (changes.pages.some(isUnknown)) this.#words.add('');
  }

  /** Starts to search a file, which is passed part by part. */
  startFile(): FileSearch {
    const weakTraces = new Map<number, Trace>();
    return {
      read: (text) => this.#findIn(text, weakTraces),
      end: () => {
        if (weakTraces.size === 0) return undefined;
        this.#elsewhere ??= this.#findElsewhere();
        const elsewhere = this.#elsewhere;
        return weakTraces.entries().find(([phrase]) => !elsewhere.has(phrase))?.[1];
      },
    };
  }

  /** @param weakTraces gets traces by phrases that other files may have as well */
  #findIn(text: string, weakTraces: Map<number, Trace>): Trace | undefined {
    const readings = readingsOf(text);
    if (this.#words.values().some((word) => readings.withTags.includes(word))) this.#addPages();
    for (const [source, snippetId] of this.#sources) {
      if (text.includes(source)) return { kind: 'old-content', snippetId };
    }
    let trace: Trace | undefined;
    this.#phrases.find(readings, ({ phrase, snippetId, isUnmistakable }) => {
      const found: Trace = { kind: 'old-content', snippetId };
      if (isUnmistakable) trace ??= found;
      else weakTraces.set(phrase, found);
    });
    return trace;
  }

  #addSnippet(index: number): void {
    const { manifest, currentContents } = this.#changes;
    const old = manifest.snippets[index]?.content;
    const current = currentContents[index];
    const snippetId = this.#idOf(index);
    for (const source of old?.sources ?? []) {
      if (!current?.sources?.includes(source)) this.#sources.set(source, snippetId);
    }
    // What pages show is on the pages alone if it is the children of embeds, or holds the API key.
    const words = old?.text === undefined ? [''] : wordsOfShort(old.text);
    for (const word of words) this.#words.add(word);
    if (words.length > 0) this.#toFindOnPages?.add(index);
    if (old?.text !== undefined) this.#add(comparePhrases(old.text, current?.text ?? ''), snippetId);
  }

  #add({ outdated, others, areInNew, unmistakableRun }: OldPhrases, snippetId: number): void {
    const origin = { snippetId, isOnNewPages: areInNew, unmistakableRun };
    for (const phrase of outdated) this.#phrases.add(phrase, { ...origin, isOutdated: true });
    for (const phrase of others) this.#phrases.add(phrase, { ...origin, isOutdated: false });
  }

  /** Adds the phrases around snippets on pages. They are read only if a file has a word of a short content. */
  #addPages(): void {
    const toFind = this.#toFindOnPages;
    this.#toFindOnPages = undefined;
    this.#words.clear();
    this.#elsewhere = undefined;
    for (const { file, page, changed, makeBytes } of this.#changes.pages) {
      const isNeeded = (index: number) =>
        toFind?.has(index) || page.staleContentHashes?.[index] !== undefined;
      const index = changed.find(isNeeded) ?? (changed.length === 0 ? page.shows[0] : undefined);
      if (index === undefined) continue;
      const phrases = comparePagePhrases(readFileSync(file), makeBytes());
      this.#add(phrases, this.#idOf(index));
    }
  }

  /** Finds the phrases that stay on pages, or that are in other files. */
  #findElsewhere(): Set<number> {
    const elsewhere = new Set<number>();
    for (const { makeBytes } of this.#changes.pages) {
      this.#phrases.find(readingsOf(makeBytes().toString()), ({ phrase, isOnNewPages }) => {
        if (!isOnNewPages) elsewhere.add(phrase);
      });
    }
    for (const { file } of this.#listOthers()) {
      for (const text of textsOf(file)) {
        this.#phrases.find(readingsOf(text), ({ phrase }) => elsewhere.add(phrase));
      }
    }
    return elsewhere;
  }

  #idOf(index: number): number {
    return this.#changes.manifest.snippets[index]?.id ?? 0;
  }
}

/** The search of one file for old contents. */
export interface FileSearch {
  read(text: string): Trace | undefined;
  /** Returns a trace that counts only if no other file has it. */
  end(): Trace | undefined;
}
