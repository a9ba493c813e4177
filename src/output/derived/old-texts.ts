import { readFileSync } from 'node:fs';
import { escapeText, escapeUTF8 } from 'entities/escape';
import { textOf } from '../../markup/text-of.ts';
import type { SiteFile } from '../site-files.ts';
import type { Finder, SiteChanges } from './finder.ts';

// A shorter text may be there for another reason, unless its neighbors are, too.
const unambiguousLength = 16;

const neighborCharacters = 24;

type Spell = (text: string) => string;

const inJson: Spell = (text) => JSON.stringify(text).slice(1, -1);

const spellings: Spell[] = [(text) => text, inJson, escapeText, escapeUTF8];

/** Finds old contents, as in `search.json`, or hashes of scripts, as in `_headers`. */
export function oldTextFinder({ manifest, now, changed }: SiteChanges, pages: SiteFile[]): Finder {
  const needles = new Map<string, { id: number; spell?: Spell; around?: Set<string> }>();
  for (const index of changed) {
    const { id = 0, content } = manifest.snippets[index] ?? {};
    const { text = '', sources = [] } = content ?? {};
    for (const source of sources) if (!now[index]?.sources?.includes(source)) needles.set(source, { id });
    for (const shown of [text.trim(), textOf(text).trim()].filter(Boolean)) {
      for (const spell of spellings) {
        const spelled = spell(shown);
        const needle = shown.length < unambiguousLength ? { id, spell } : { id };
        if (!needles.has(spelled)) needles.set(spelled, needle);
      }
    }
  }
  return (file) => {
    for (const [text, needle] of needles) {
      if (!file.includes(text)) continue;
      const { id, spell } = needle;
      if (spell) needle.around ??= withNeighbors(pages, text, spell);
      if (!spell || needle.around?.values().some((one) => file.includes(one)))
        return `what snippet ${id} was`;
    }
    return undefined;
  };
}

function withNeighbors(pages: SiteFile[], text: string, spell: Spell) {
  const found = new Set<string>();
  for (const page of pages) {
    const html = readFileSync(page.file, 'utf8');
    for (const spelled of [html, textOf(html)].map(spell)) {
      for (let at = spelled.indexOf(text); at !== -1; at = spelled.indexOf(text, at + 1)) {
        const around = spelled.slice(
          Math.max(0, at - neighborCharacters),
          at + text.length + neighborCharacters,
        );
        // A page with little else says nothing of another file.
        if (around.length >= unambiguousLength) found.add(around);
      }
    }
  }
  return found;
}
