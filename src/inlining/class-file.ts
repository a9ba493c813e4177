import { existsSync, readFileSync } from 'node:fs';
import { decodeHTMLAttribute } from 'entities/decode';
import { escapeAttribute } from 'entities/escape';
import { writeAtomically } from '../files/write.ts';

/**
 * The file that tells tools such as Tailwind which classes snippets have, while Vite bundles. The file
 * contains nothing but classes, so that CSS changes only when they do.
 */
export class ClassFile {
  readonly file: string;
  /** The classes that the file had when it was opened or last written. */
  written: readonly string[];
  readonly #classes: Set<string>;

  /** @param keepsClasses whether all classes stay: a dev server cannot know which are in use */
  constructor(file: string, keepsClasses: boolean) {
    this.file = file;
    const text = this.#read();
    this.written = text === undefined ? [] : listedClasses(text);
    this.#classes = new Set(keepsClasses ? this.written : []);
    // A CSS tool may look for the file before any snippet is known, so an empty one is written.
    if (text === undefined) this.write();
  }

  /** Adds classes, which `write` then writes. */
  add(names: Iterable<string>): void {
    for (const name of names) this.#classes.add(name);
  }

  /**
   * Writes the file only if its text changes, since CSS tools may watch it. The text is read again first: a
   * build beside a dev server writes the same file.
   */
  write(): void {
    this.written = [...this.#classes].sort();
    const text = `<div class="${escapeAttribute(this.written.join(' '))}"></div>\n`;
    if (text !== this.#read()) writeAtomically(this.file, text);
  }

  #read() {
    return existsSync(this.file) ? readFileSync(this.file, 'utf8') : undefined;
  }
}

function listedClasses(text: string): string[] {
  const [, names] = /^<div class="([^"]+)"/.exec(text) ?? [];
  return names ? decodeHTMLAttribute(names).split(' ') : [];
}
