import { readFileSync } from 'node:fs';
import { escapeText, escapeUTF8 } from 'entities/escape';
import { textOf } from '../../markup/text-of.ts';
import type { SiteFile } from '../site-files.ts';
import type { SiteChanges, TraceFinder } from './finder.ts';

/** A shorter text (in characters) may be in a file by chance, so its neighbors have to be there, too. */
const unambiguousLength = 16;

/** How many characters on each side of a short text have to be there, too. */
const neighborCharacters = 24;

/** Escapes a text as a kind of file, such as JSON or HTML, may have it. */
type Spelling = (text: string) => string;

const inJson: Spelling = (text) => JSON.stringify(text).slice(1, -1);
const spellings: readonly Spelling[] = [(text) => text, inJson, escapeText, escapeUTF8];

/** What is known about a text of a snippet's old content that is searched for. */
interface Needle {
  snippetId: number;
  /** How the text is escaped; only for one so short that it counts only together with its neighbors. */
  spelling?: Spelling;
  /** The text with its neighbors, as the changing pages have it; read when the text is first found. */
  inContext?: Set<string>;
}

/** Finds old contents of snippets, as in `search.json`, and hashes of their scripts, as in `_headers`. */
export function oldTextFinder(changes: SiteChanges, changingPages: readonly SiteFile[]): TraceFinder {
  const needles = listNeedles(changes);
  return (fileText) => {
    for (const [text, needle] of needles) {
      if (!fileText.includes(text)) continue;
      const { snippetId, spelling } = needle;
      if (!spelling) return { kind: 'old-content', snippetId };
      needle.inContext ??= withNeighbors(changingPages, text, spelling);
      if (needle.inContext.values().some((context) => fileText.includes(context))) {
        return { kind: 'old-content', snippetId };
      }
    }
    return undefined;
  };
}

function listNeedles({ manifest, currentContents, changedSnippets }: SiteChanges): Map<string, Needle> {
  const needles = new Map<string, Needle>();
  for (const index of changedSnippets) {
    const { id: snippetId = 0, content } = manifest.snippets[index] ?? {};
    const { text = '', sources = [] } = content ?? {};
    for (const source of sources) {
      if (!currentContents[index]?.sources?.includes(source)) needles.set(source, { snippetId });
    }
    const texts = [text.trim(), textOf(text).trim()].filter(Boolean);
    for (const shown of texts) {
      const isAmbiguous = shown.length < unambiguousLength;
      for (const spelling of spellings) {
        const spelled = spelling(shown);
        if (needles.has(spelled)) continue;
        needles.set(spelled, isAmbiguous ? { snippetId, spelling } : { snippetId });
      }
    }
  }
  return needles;
}

/** Collects a text with its neighbors from everywhere on the pages. */
function withNeighbors(pages: readonly SiteFile[], text: string, spelling: Spelling): Set<string> {
  const contexts = new Set<string>();
  for (const page of pages) {
    const html = readFileSync(page.file, 'utf8');
    for (const spelled of [spelling(html), spelling(textOf(html))]) {
      for (let index = spelled.indexOf(text); index !== -1; index = spelled.indexOf(text, index + 1)) {
        const start = Math.max(0, index - neighborCharacters);
        const context = spelled.slice(start, index + text.length + neighborCharacters);
        // With hardly any neighbors, even this may be in another file by chance.
        if (context.length >= unambiguousLength) contexts.add(context);
      }
    }
  }
  return contexts;
}
