import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { attributesOf, readAttribute, walk } from '../embed/html-scanner.ts';
import { listNames, listPlaces } from '../failures/report.ts';
import type { MadePage } from './inline-page.ts';

const namesShown = 10;

/**
 * Finds classes of snippets that no style sheet of their pages has.
 *
 * @param base the site's base path.
 * @param made the classes for which CSS was asked.
 */
export function classChecker(directory: string, base: string, made: readonly string[]) {
  const root = base.replace(/\/$/, '');
  const sheets = new Map<string, ReadonlySet<string> | undefined>();
  /** By the ids of snippets. */
  const missing = new Map<number, { names: Set<string>; places: Set<string> }>();

  /** The classes of a style sheet; `undefined` if it is not part of the site, so that it may have any. */
  const sheetOf = (href: string) => {
    if (sheets.has(href)) return sheets.get(href);
    const [path = ''] = href.split(/[?#]/);
    const inside = path.startsWith(`${root}/`) ? path.slice(root.length) : path;
    let classes: ReadonlySet<string> | undefined;
    try {
      if (/^\/(?!\/)/.test(inside))
        classes = classesOfStyles(readFileSync(join(directory, decodeURI(inside)), 'utf8'));
    } catch {
      // It is written later, or not part of the output.
    }
    sheets.set(href, classes);
    return classes;
  };

  const sheetsOn = (html: string) => {
    const found: (ReadonlySet<string> | undefined)[] = [];
    walk(html, '', {
      open: (tag) => {
        const attributes = tag.name === 'link' ? attributesOf(html, tag) : [];
        const kinds = readAttribute(attributes, 'rel')?.toLowerCase().split(/\s+/);
        const href = kinds?.includes('stylesheet') ? readAttribute(attributes, 'href') : undefined;
        if (href !== undefined) found.push(sheetOf(href));
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
      { file, embeds }: Pick<MadePage, 'file' | 'embeds'>,
      classesOf: (key: string) => readonly string[] | undefined,
    ): void {
      const shown = embeds.flatMap(({ form, request: { id, key } }) =>
        (form.as === 'html' ? (classesOf(key) ?? []) : []).map((name) => ({ id, name })),
      );
      if (shown.length === 0) return;
      const known = sheetsOn(file.toString());
      for (const { id, name } of shown) {
        if (known.some((sheet) => sheet === undefined || sheet.has(name))) continue;
        const { names, places } = missing.get(id) ?? { names: new Set(), places: new Set() };
        missing.set(id, { names: names.add(name), places: places.add(page) });
      }
    },

    warnings(): string[] {
      return [...missing].map(([id, { names, places }]) => {
        const isNew = [...names].some((name) => !made.includes(name));
        const next = isNew ? ' Build again: some of them were not known before.' : '';
        return `Snippet ${id} has classes that no style sheet of ${listPlaces([...places])} has: ${listNames([...names], namesShown)}.${next}`;
      });
    },
  };
}

// An escaped character comes first: a quote in the name of a class begins no string.
const notSelectors = /\\[\s\S]|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/g;
// A letter, a dash, an underscore, any other character but ASCII, or an escaped one; then digits, too.
const classSelector =
  /\.((?:[a-z_\u0080-\uffff-]|\\(?:[0-9a-f]{1,6}[\t\n\f\r ]?|[^\n]))(?:[\w\u0080-\uffff-]|\\(?:[0-9a-f]{1,6}[\t\n\f\r ]?|[^\n]))*)/gi;

/** The names of classes that a style sheet mentions. May contain more, such as the ends of file names. */
export function classesOfStyles(css: string): Set<string> {
  const found = new Set<string>();
  const selectors = css.replace(notSelectors, (found) => (found.startsWith('\\') ? found : ' '));
  for (const [, written = ''] of selectors.matchAll(classSelector)) {
    found.add(withoutEscapes(written));
  }
  return found;
}

function withoutEscapes(written: string): string {
  return written.replace(/\\(?:([0-9a-f]{1,6})[\t\n\f\r ]?|([\s\S]))/gi, (_whole, hex?: string, one = '') =>
    hex === undefined ? one : String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10ffff)),
  );
}
