import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeHTMLAttribute } from 'entities/decode';
import { escapeAttribute } from 'entities/escape';
import { attributesOf, readAttribute, walk } from '../embed/html-scanner.ts';
import { listNames, listPlaces } from '../failures/errors.ts';
import { writeAtomically } from '../files/disk.ts';
import type { MadePage } from './inline-page.ts';

/** What tools that make CSS read while Vite bundles. It names only classes, so that CSS changes only when they do. */
export class ClassFile {
  readonly file: string;
  readonly #names: Set<string>;
  written: readonly string[];

  /** @param keeps whether the classes of the last time stay, as it is not known which of them are used. */
  constructor(file: string, keeps: boolean) {
    this.file = file;
    const text = this.#read();
    const names = /^<div class="([^"]+)"/.exec(text ?? '')?.[1];
    this.written = names === undefined ? [] : decodeHTMLAttribute(names).split(' ');
    this.#names = new Set(keeps ? this.written : []);
    // Before a tool looks for it.
    if (text === undefined) this.write();
  }

  add(names: Iterable<string>) {
    for (const name of names) this.#names.add(name);
  }

  /** Only if it changes: a tool that watches it would make CSS again. A build beside a dev server writes it, too. */
  write() {
    this.written = [...this.#names].sort();
    const text = `<div class="${escapeAttribute(this.written.join(' '))}"></div>\n`;
    if (text !== this.#read()) writeAtomically(this.file, text);
  }

  #read() {
    return existsSync(this.file) ? readFileSync(this.file, 'utf8') : undefined;
  }
}

/** The classes of a style sheet; `undefined` if it may have any, as it is not part of the site. */
type Sheet = ReadonlySet<string> | undefined;

/** Finds classes of snippets that no style sheet of their pages has. @param made those for which CSS was asked */
export function classChecker(directory: string, base: string, made: readonly string[]) {
  const root = base.replace(/\/$/, '');
  const sheets = new Map<string, Sheet>();
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
    const found: Sheet[] = [];
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
    add(page: string, { file, embeds }: MadePage, classesOf: (key: string) => readonly string[] | undefined) {
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

    warnings: () =>
      [...missing].map(([id, { names, places }]) => {
        const isNew = [...names].some((name) => !made.includes(name));
        const next = isNew ? ' Build again: some of them were not known before.' : '';
        return `Snippet ${id} has classes that no style sheet of ${listPlaces([...places])} has: ${listNames([...names])}.${next}`;
      }),
  };
}

// Escaped characters first: a quote in the name of a class begins no string.
const notSelectors = /\\[\s\S]|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/g;
// Letters, dashes, underscores, what is not ASCII, and escaped characters; then digits, too.
const classSelector =
  /\.((?:[a-z_\u0080-\uffff-]|\\(?:[0-9a-f]{1,6}\s?|.))(?:[\w\u0080-\uffff-]|\\(?:[0-9a-f]{1,6}\s?|.))*)/gi;
const escaped = /\\(?:([0-9a-f]{1,6})\s?|(.))/gi;

/** The classes that a style sheet mentions. May contain more, such as file extensions. */
export function classesOfStyles(css: string) {
  const selectors = css.replace(notSelectors, (found) => (found.startsWith('\\') ? found : ' '));
  const names = selectors
    .matchAll(classSelector)
    .map(([, written = '']) =>
      written.replace(escaped, (_, hex?: string, character = '') =>
        hex === undefined ? character : String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10ffff)),
      ),
    );
  return new Set(names);
}
