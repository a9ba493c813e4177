import { escapeText, escapeUTF8 } from 'entities/escape';
import { textOf } from '../../embed/text.ts';

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

/** A page that shows changing contents, as it is until then. */
export interface OldPage {
  name: string;
  read(): Buffer | undefined;
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
  /** Whether it counts only with its neighbors. */
  isShort: boolean;
  spell: (text: string) => string;
}

/**
 * Finds what shows a content that changes. Of the files nothing is kept, since they may be of any size.
 *
 * @param pages where these contents are shown. They are read only if a file has a short text that changes.
 * @returns a function that returns the id of a snippet whose old content is in a text.
 */
export function oldTextFinder(
  contents: readonly OldContent[],
  pages: readonly OldPage[],
): (text: string) => number | undefined {
  const needles = contents.flatMap(needlesOf);
  const surroundings = new Map<Needle, Set<string>>();
  const surroundingsOf = (needle: Needle): Set<string> => {
    const known = surroundings.get(needle) ?? surroundingsIn(pages, needle);
    surroundings.set(needle, known);
    return known;
  };
  return (text) =>
    needles.find((needle) => {
      if (!needle.isShort) return text.includes(needle.text);
      return text.includes(needle.text) && [...surroundingsOf(needle)].some((one) => text.includes(one));
    })?.id;
}

function needlesOf({ id, text, sources }: OldContent): Needle[] {
  const found = new Map<string, Needle>();
  for (const shown of [text, textOf(text)]) {
    const trimmed = shown.trim();
    const isShort = trimmed.length < longEnough;
    for (const spell of spellings) {
      const spelled = spell(trimmed);
      if (spelled !== '' && !found.has(spelled)) found.set(spelled, { id, text: spelled, isShort, spell });
    }
  }
  const allowed = sources.map((source): Needle => ({ id, text: source, isShort: false, spell: String }));
  return [...found.values(), ...allowed];
}

/** A short text with its neighbors, each time that a page shows it: in its HTML, and in its text. */
function surroundingsIn(pages: readonly OldPage[], { text, spell }: Needle): Set<string> {
  const found = new Set<string>();
  for (const page of pages) {
    const html = page.read()?.toString() ?? '';
    for (const written of [html, textOf(html)]) {
      const spelled = spell(written);
      for (let at = spelled.indexOf(text); at !== -1; at = spelled.indexOf(text, at + 1)) {
        const around = spelled.slice(Math.max(0, at - neighbors), at + text.length + neighbors);
        // A page with little else says nothing of another file.
        if (around.length >= longEnough) found.add(around);
      }
    }
  }
  return found;
}
