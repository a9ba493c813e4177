import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SnippetRequest } from '../client/snippet-request.ts';
import { nameSnippet } from '../failures/name-snippet.ts';
import { listNames } from '../failures/places.ts';
import { type SnippetWarning, toSnippetFlaw, WarningList } from '../failures/snippet-warning.ts';
import { attributesOf, readAttribute, type Tag } from '../markup/tags.ts';
import { walk } from '../markup/walk.ts';
import type { FetchedSnippets } from '../snippets/snippet-fetcher.ts';
import type { InlinedPage } from './inline-page.ts';

/** The classes of a style sheet; `undefined` for one outside the site, which may have any class. */
type SheetClasses = ReadonlySet<string> | undefined;

/** The classes of a snippet that no style sheet of some pages has. */
interface MissingClasses {
  request: SnippetRequest;
  /** The name that people gave the snippet, if it is known. */
  title: string | undefined;
  names: Set<string>;
  pages: Set<string>;
}

/**
 * Finds classes of snippets that no style sheet of their pages has a rule for: call `add` for each inlined
 * page, then `list`. A style sheet is read once, however many pages link to it.
 */
export class ClassChecker {
  readonly #directory: string;
  readonly #basePath: string;
  readonly #knownClasses: readonly string[];
  /** The style sheets that pages link to, by their URLs. */
  readonly #sheets = new Map<string, SheetClasses>();
  /** The names of missing classes, and the pages that miss them, by the keys of requests. */
  readonly #missing = new Map<string, MissingClasses>();

  /** @param knownClasses the classes that CSS tools could read while Vite bundled */
  constructor(directory: string, base: string, knownClasses: readonly string[]) {
    this.#directory = directory;
    this.#basePath = base.replace(/\/$/, '');
    this.#knownClasses = knownClasses;
  }

  add(page: string, { bytes, embeds }: InlinedPage, snippets: FetchedSnippets): void {
    const usedClasses = embeds.flatMap(({ format, request }) => {
      const { classes = [], knownName: title } = snippets.get(request.key) ?? {};
      return format.as === 'html' ? classes.map((name) => ({ request, title, name })) : [];
    });
    if (usedClasses.length === 0) return;

    const sheets = this.#sheetsOn(bytes.toString());
    for (const { request, title, name } of usedClasses) {
      if (sheets.some((sheet) => !sheet || sheet.has(name))) continue;
      const missing = this.#missing.get(request.key) ?? {
        request,
        title,
        names: new Set(),
        pages: new Set(),
      };
      missing.names.add(name);
      missing.pages.add(page);
      this.#missing.set(request.key, missing);
    }
  }

  /** The warnings: one for each snippet that has classes without CSS. */
  get list(): SnippetWarning[] {
    const warnings = new WarningList();
    for (const { request, title, names, pages } of this.#missing.values()) {
      const isNew = [...names].some((name) => !this.#knownClasses.includes(name));
      const nextStep = isNew ? ' Build again: some of them were not known before.' : '';
      const text = `has classes that no style sheet of its pages has: ${listNames([...names])}.${nextStep}`;
      const subject = nameSnippet({ id: request.id, name: title });
      const flaw = toSnippetFlaw(subject, { code: 'class-without-css', text });
      for (const place of pages) warnings.add(flaw, { request, place });
    }
    return warnings.list;
  }

  /** Finds the style sheets of a page, both linked and inline. */
  #sheetsOn(html: string): SheetClasses[] {
    const sheets: SheetClasses[] = [];
    walk(html, '', {
      open: (tag) => {
        const href = tag.name === 'link' ? styleSheetUrl(html, tag) : undefined;
        if (href !== undefined) sheets.push(this.#linkedSheet(href));
        return tag.name;
      },
      text({ start, end }, holder) {
        if (holder === 'style') sheets.push(classesOfStyles(html.slice(start, end)));
      },
    });
    return sheets;
  }

  #linkedSheet(href: string): SheetClasses {
    if (!this.#sheets.has(href)) this.#sheets.set(href, this.#readSheet(href));
    return this.#sheets.get(href);
  }

  #readSheet(href: string): SheetClasses {
    const [path = ''] = href.split(/[?#]/);
    const isBelowBase = path.startsWith(`${this.#basePath}/`);
    const sitePath = isBelowBase ? path.slice(this.#basePath.length) : path;
    // Relative and full URLs, and URLs such as `//host/path`, may lead out of the site: any class is assumed.
    if (!/^\/(?!\/)/.test(sitePath)) return undefined;
    try {
      return classesOfStyles(readFileSync(join(this.#directory, decodeURI(sitePath)), 'utf8'));
    } catch {
      // A style sheet that is missing now may be written or served later, so it may have any class.
      return undefined;
    }
  }
}

function styleSheetUrl(html: string, link: Tag): string | undefined {
  const attributes = attributesOf(html, link);
  const kinds = readAttribute(attributes, 'rel')?.toLowerCase().split(/\s+/);
  return kinds?.includes('stylesheet') ? readAttribute(attributes, 'href') : undefined;
}

/** Finds the classes that CSS has rules for. May find more, such as the extensions of file names. */
export function classesOfStyles(css: string): Set<string> {
  // Blanks comments and strings, as a dot in them begins no class. Escapes are part of names, so they stay.
  const selectors = css.replace(notSelectors, (match) => (match.startsWith('\\') ? match : ' '));
  const unescapeName = (_: string, hex?: string, character = '') =>
    hex === undefined ? character : String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10ffff));
  const names = selectors
    .matchAll(classSelector)
    .map(([, escapedName = '']) => escapedName.replace(cssEscape, unescapeName));
  return new Set(names);
}

// Escaped characters are matched before strings, since an escaped quote in a class name begins no string.
const notSelectors = /\\[\s\S]|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/g;

// A name begins with a letter, dash, underscore, escaped or non-ASCII character. Digits may follow.
const classSelector =
  /\.((?:[a-z_\u0080-\uffff-]|\\(?:[0-9a-f]{1,6}\s?|.))(?:[\w\u0080-\uffff-]|\\(?:[0-9a-f]{1,6}\s?|.))*)/gi;

const cssEscape = /\\(?:([0-9a-f]{1,6})\s?|(.))/gi;
