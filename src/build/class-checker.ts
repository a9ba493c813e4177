import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { walk } from '../embed/html-scanner.ts';
import { listNames, listPlaces } from '../failures/report.ts';
import { readAttribute } from '../html/attributes.ts';
import type { FileEmbed } from '../snippets/file-embeds.ts';
import type { ScannableFile } from './scan-site.ts';

const namesShown = 10;

/** Finds classes of snippets that no style sheet of their pages has. */
export class ClassChecker {
  readonly #directory: string;
  readonly #base: string;
  readonly #made: ReadonlySet<string>;
  readonly #sheets = new Map<string, ReadonlySet<string> | undefined>();
  /** By the ids of snippets. */
  readonly #missing = new Map<number, { names: Set<string>; places: Set<string> }>();

  /**
   * @param base the site's base path.
   * @param made the classes for which CSS was asked.
   */
  constructor(directory: string, base: string, made: readonly string[]) {
    this.#directory = directory;
    this.#made = new Set(made);
    this.#base = base.replace(/\/$/, '');
  }

  add(
    { name: page, kind }: ScannableFile,
    { file, embeds }: { file: Buffer; embeds: readonly FileEmbed[] },
    classesOf: (key: string) => readonly string[] | undefined,
  ): void {
    if (kind !== 'html') return;
    const shown = embeds.flatMap(({ form, request: { id, key } }) => {
      const classes = form.as === 'html' ? (classesOf(key) ?? []) : [];
      return classes.map((name) => ({ id, name }));
    });
    const known = shown.length === 0 ? undefined : this.#classesOn(file.toString());
    if (known === undefined) return;
    for (const { id, name } of shown) {
      if (known.some((sheet) => sheet.has(name))) continue;
      const missing = this.#missing.get(id) ?? { names: new Set(), places: new Set() };
      this.#missing.set(id, missing);
      missing.names.add(name);
      missing.places.add(page);
    }
  }

  /** One for each snippet. */
  get warnings(): string[] {
    return [...this.#missing].map(([id, { names, places }]) => {
      const isNew = [...names].some((name) => !this.#made.has(name));
      const next = isNew ? ' Build again: some of them were not known before.' : '';
      return `Snippet ${id} has classes that no style sheet of ${listPlaces([...places])} has: ${listNames([...names], namesShown)}.${next}`;
    });
  }

  /** The classes of each style sheet of a page; `undefined` if one of them is not part of the site. */
  #classesOn(html: string): ReadonlySet<string>[] | undefined {
    const sheets: (ReadonlySet<string> | undefined)[] = [];
    walk(html, '', {
      open: (tag) => {
        if (tag.name !== 'link') return tag.name;
        const kinds = readAttribute(html, tag, 'rel')?.toLowerCase().split(/\s+/);
        const href = readAttribute(html, tag, 'href');
        if (kinds?.includes('stylesheet') && href !== undefined) sheets.push(this.#sheet(href));
        return tag.name;
      },
      text({ start, end }, holder) {
        if (holder === 'style') sheets.push(classesOfStyles(html.slice(start, end)));
      },
    });
    const known = sheets.filter((sheet) => sheet !== undefined);
    return known.length === sheets.length ? known : undefined;
  }

  #sheet(href: string): ReadonlySet<string> | undefined {
    if (this.#sheets.has(href)) return this.#sheets.get(href);
    let classes: ReadonlySet<string> | undefined;
    try {
      const [path = ''] = href.split(/[?#]/);
      const inside = path.startsWith(`${this.#base}/`) ? path.slice(this.#base.length) : path;
      // One of another site, which may have any class.
      if (inside.startsWith('/') && !inside.startsWith('//')) {
        classes = classesOfStyles(readFileSync(join(this.#directory, decodeURI(inside)), 'utf8'));
      }
    } catch {
      // It is written later, or not part of the output.
    }
    this.#sheets.set(href, classes);
    return classes;
  }
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
