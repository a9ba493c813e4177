import { escapeText, escapeUTF8 } from 'entities/escape';
import { textOf } from '../../embed/html-scanner.ts';
import type { ChangingPage } from './revisions.ts';

// What other tools make from pages holds the contents of snippets: search.json, llms-full.txt, headers with the hash of a
// script. Such a file is found by what a snippet showed.

/** What a changing snippet shows until then. */
export interface OldContent {
  id: number;
  /** As the service sent it. */
  text: string;
  /** What a policy allowed for it, and no longer does. */
  sources: readonly string[];
}

// A shorter text may stand in a file for another reason. With its neighbors in a page, it does not.
const longEnough = 16;
const neighbors = 24;

/** How other files write a text. */
const spellings: ((text: string) => string)[] = [
  (text) => text,
  (text) => JSON.stringify(text).slice(1, -1),
  escapeText,
  escapeUTF8,
];

interface Needle {
  id: number;
  text: string;
  /** Only for a text that is short: it counts with its neighbors. */
  spell?: (text: string) => string;
  /** What was found with {@link spell}, once it was needed. */
  withNeighbors?: string[];
}

/**
 * Finds what shows a content that changes. Of the files nothing is kept, since they may be of any size.
 *
 * @param pages where these contents are shown. They are read only if a file has a short text that changes.
 * @returns a function that returns the id of a snippet whose old content is in a text.
 */
export function oldTextFinder(
  contents: readonly OldContent[],
  pages: readonly ChangingPage[],
): (text: string) => number | undefined {
  const needles = contents.flatMap(needlesOf);
  const isIn = (file: string, needle: Needle) => {
    if (!file.includes(needle.text)) return false;
    if (needle.spell === undefined) return true;
    needle.withNeighbors ??= withNeighbors(pages, needle.text, needle.spell);
    return needle.withNeighbors.some((text) => file.includes(text));
  };
  return (file) => needles.find((needle) => isIn(file, needle))?.id;
}

function needlesOf({ id, text, sources }: OldContent): Needle[] {
  const found = new Map<string, Needle>();
  for (const shown of [text.trim(), textOf(text).trim()]) {
    for (const spell of spellings) {
      const text = spell(shown);
      const needle = shown.length < longEnough ? { id, text, spell } : { id, text };
      if (text !== '' && !found.has(text)) found.set(text, needle);
    }
  }
  return [...found.values(), ...sources.map((text) => ({ id, text }))];
}

/** A short text with its neighbors, each time that a page shows it: in its HTML, and in its text. */
function withNeighbors(
  pages: readonly ChangingPage[],
  text: string,
  spell: (text: string) => string,
): string[] {
  const found = new Set<string>();
  for (const page of pages) {
    const html = page.read()?.toString() ?? '';
    for (const spelled of [html, textOf(html)].map(spell)) {
      for (let at = spelled.indexOf(text); at !== -1; at = spelled.indexOf(text, at + 1)) {
        const around = spelled.slice(Math.max(0, at - neighbors), at + text.length + neighbors);
        // A page with little else says nothing of another file.
        if (around.length >= longEnough) found.add(around);
      }
    }
  }
  return [...found];
}
