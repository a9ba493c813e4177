import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeHTMLAttribute } from 'entities/decode';
import { escapeAttribute } from 'entities/escape';
import { attributesOf, readAttribute, walk } from '../embed/html-scanner.ts';
import { listNames, listPlaces } from '../failures/report.ts';
import { writeAtomically } from '../files/write.ts';
import type { MadePage } from './inline-page.ts';

/** What tools that make CSS read while Vite bundles: it names only classes, so that CSS changes only when they do. */
export class ClassFile {
  readonly file: string;
  readonly #names: Set<string>;
  written: readonly string[];

  /** @param keeps whether the classes of the last time stay, as it is not known which of them are used. */
  constructor(file: string, keeps: boolean) {
    this.file = file;
    const text = this.#read();
    const [, names = ''] = /^<div class="([^"]+)"/.exec(text ?? '') ?? [];
    this.written = names === '' ? [] : decodeHTMLAttribute(names).split(' ');
    this.#names = new Set(keeps ? this.written : []);
    // So that a tool does not look for it in vain.
    if (text === undefined) this.write();
  }

  add(names: Iterable<string>): void {
    for (const name of names) this.#names.add(name);
  }

  /** Unless it is as it should be: a tool that watches it would make CSS again. A build beside a dev server writes it, too. */
  write(): void {
    this.written = [...this.#names].sort();
    const text = `<div class="${escapeAttribute(this.written.join(' '))}"></div>\n`;
    if (text !== this.#read()) writeAtomically(this.file, text);
  }

  /** `undefined` before the first build. */
  #read(): string | undefined {
    return existsSync(this.file) ? readFileSync(this.file, 'utf8') : undefined;
  }
}

/** Finds classes of snippets that no style sheet of their pages has. `made` are those for which CSS was asked. */
export function classChecker(directory: string, base: string, made: readonly string[]) {
  const root = base.replace(/\/$/, '');
  const sheets = new Map<string, ReadonlySet<string> | undefined>();
  const missing = new Map<number, { names: Set<string>; places: Set<string> }>();

  /** The classes of a style sheet; `undefined` if it is not part of the site, so that it may have any. */
  const sheetAt = (href: string) => {
    if (sheets.has(href)) return sheets.get(href);
    const [path = ''] = href.split(/[?#]/);
    const inside = path.startsWith(`${root}/`) ? path.slice(root.length) : path;
    let classes: ReadonlySet<string> | undefined;
    try {
      const file = join(directory, decodeURI(inside));
      if (/^\/(?!\/)/.test(inside)) classes = classesOfStyles(readFileSync(file, 'utf8'));
    } catch {
      // It is written later, or not part of the output.
    }
    sheets.set(href, classes);
    return classes;
  };

  const sheetsOn = (html: string) => {
    const found: (ReadonlySet<string> | undefined)[] = [];
    walk(html, '', {
      open(tag) {
        const attributes = tag.name === 'link' ? attributesOf(html, tag) : [];
        const kinds = readAttribute(attributes, 'rel')?.toLowerCase().split(/\s+/);
        const href = readAttribute(attributes, 'href');
        if (href !== undefined && kinds?.includes('stylesheet')) found.push(sheetAt(href));
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

    warnings: () =>
      [...missing].map(([id, { names, places }]) => {
        const isNew = [...names].some((name) => !made.includes(name));
        const next = isNew ? ' Build again: some of them were not known before.' : '';
        return `Snippet ${id} has classes that no style sheet of ${listPlaces([...places])} has: ${listNames([...names])}.${next}`;
      }),
  };
}

// An escaped character comes first: a quote in the name of a class begins no string.
const notSelectors = /\\[\s\S]|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/g;
// Letters, dashes, underscores, any other character but ASCII, and escaped ones; then digits, too.
const classSelector =
  /\.((?:[a-z_\u0080-\uffff-]|\\(?:[0-9a-f]{1,6}\s?|.))(?:[\w\u0080-\uffff-]|\\(?:[0-9a-f]{1,6}\s?|.))*)/gi;
const escaped = /\\(?:([0-9a-f]{1,6})\s?|(.))/gi;

/** The names of classes that a style sheet mentions. May contain more, such as the ends of file names. */
export function classesOfStyles(css: string): Set<string> {
  const selectors = css.replace(notSelectors, (found) => (found.startsWith('\\') ? found : ' '));
  const names = Array.from(selectors.matchAll(classSelector), ([, written = '']) =>
    written.replace(escaped, (_, hex?: string, character = '') =>
      hex === undefined ? character : String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10ffff)),
    ),
  );
  return new Set(names);
}
