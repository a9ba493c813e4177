import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listNames, listPlaces } from '../failures/places.ts';
import { attributesOf, readAttribute } from '../markup/tags.ts';
import { walk } from '../markup/walk.ts';
import type { InlinedPage } from './inline-page.ts';

/** Finds classes of snippets that no style sheet of their pages has. @param made those with CSS */
export function classChecker(directory: string, base: string, made: readonly string[]) {
  const root = base.replace(/\/$/, '');
  /** By their URLs. `undefined`: not of the site, so it may have any class. */
  const sheets = new Map<string, Set<string> | undefined>();
  const missing = new Map<number, { names: Set<string>; places: Set<string> }>();

  const sheetAt = (href: string) => {
    const [path = ''] = href.split(/[?#]/);
    const inside = path.startsWith(`${root}/`) ? path.slice(root.length) : path;
    try {
      const file = join(directory, decodeURI(inside));
      return /^\/(?!\/)/.test(inside) ? classesOfStyles(readFileSync(file, 'utf8')) : undefined;
    } catch {
      // It is written later, or not part of the output.
      return undefined;
    }
  };

  const sheetsOn = (html: string) => {
    const found: (Set<string> | undefined)[] = [];
    walk(html, '', {
      open(tag) {
        const attributes = tag.name === 'link' ? attributesOf(html, tag) : [];
        const kinds = readAttribute(attributes, 'rel')?.toLowerCase().split(/\s+/);
        const href = readAttribute(attributes, 'href');
        if (href === undefined || !kinds?.includes('stylesheet')) return tag.name;
        if (!sheets.has(href)) sheets.set(href, sheetAt(href));
        found.push(sheets.get(href));
        return tag.name;
      },
      text({ start, end }, holder) {
        if (holder === 'style') found.push(classesOfStyles(html.slice(start, end)));
      },
    });
    return found;
  };

  return {
    add(
      page: string,
      { file, embeds }: InlinedPage,
      classesOf: (key: string) => readonly string[] | undefined,
    ): void {
      const shown = embeds.flatMap(({ format, request: { id, key } }) =>
        (format.as === 'html' ? (classesOf(key) ?? []) : []).map((name) => ({ id, name })),
      );
      if (shown.length === 0) return;
      const known = sheetsOn(file.toString());
      for (const { id, name } of shown) {
        if (known.some((sheet) => !sheet || sheet.has(name))) continue;
        const { names, places } = missing.get(id) ?? { names: new Set(), places: new Set() };
        missing.set(id, { names: names.add(name), places: places.add(page) });
      }
    },

    warnings: (): string[] =>
      [...missing].map(([id, { names, places }]) => {
        const isNew = [...names].some((name) => !made.includes(name));
        const next = isNew ? ' Build again: some of them were not known before.' : '';
        return `Snippet ${id} has classes that no style sheet of ${listPlaces([...places])} has: ${listNames([...names])}.${next}`;
      }),
  };
}

// Escaped characters first: a quote in a class begins no string.
const notSelectors = /\\[\s\S]|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/g;

// Letters, dashes, underscores, what is not ASCII, and escaped characters; then digits, too.
const classSelector =
  /\.((?:[a-z_\u0080-\uffff-]|\\(?:[0-9a-f]{1,6}\s?|.))(?:[\w\u0080-\uffff-]|\\(?:[0-9a-f]{1,6}\s?|.))*)/gi;

const cssEscape = /\\(?:([0-9a-f]{1,6})\s?|(.))/gi;

/** May contain more, such as file extensions. */
export function classesOfStyles(css: string): Set<string> {
  const selectors = css.replace(notSelectors, (found) => (found.startsWith('\\') ? found : ' '));
  const unescaped = (_: string, hex?: string, character = '') =>
    hex === undefined ? character : String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10ffff));
  const names = selectors.matchAll(classSelector);
  return new Set(names.map(([, written = '']) => written.replace(cssEscape, unescaped)));
}
