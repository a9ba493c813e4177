import { existsSync, readFileSync } from 'node:fs';
import { decodeHTMLAttribute } from 'entities/decode';
import { escapeAttribute } from 'entities/escape';
import { writeAtomically } from '../files/write.ts';

// In milliseconds: from one snippet of a page to the next.
const pause = 100;

/** What tools that make CSS read while Vite bundles: it names only classes, so that CSS changes only when they do. */
export class ClassFile {
  readonly file: string;
  readonly #names: Set<string>;
  written: readonly string[];
  #soon: NodeJS.Timeout | undefined;

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

  /** Once for classes that are added one after another. */
  writeSoon(onError: (error: Error) => void): void {
    clearTimeout(this.#soon);
    this.#soon = setTimeout(() => {
      try {
        this.write();
      } catch (error) {
        onError(error as Error);
      }
    }, pause).unref();
  }

  /** Unless it is as it should be: a tool that watches it would make CSS again. A build beside a dev server writes it, too. */
  write(): void {
    clearTimeout(this.#soon);
    this.written = [...this.#names].sort();
    const text = `<div class="${escapeAttribute(this.written.join(' '))}"></div>\n`;
    if (text !== this.#read()) writeAtomically(this.file, text);
  }

  /** `undefined` before the first build. */
  #read(): string | undefined {
    return existsSync(this.file) ? readFileSync(this.file, 'utf8') : undefined;
  }
}
