import { existsSync, readFileSync } from 'node:fs';
import { decodeHTMLAttribute } from 'entities/decode';
import { escapeAttribute } from 'entities/escape';
import { writeAtomically } from '../files/write.ts';

export type ClassFile = ReturnType<typeof openClassFile>;

/**
 * What tools that make CSS read while Vite bundles: only classes, so CSS changes only when they do.
 *
 * @param keeps whether the classes of the last time stay: which are used is not known.
 */
export function openClassFile(
  file: string,
  keeps: boolean,
): {
  file: string;
  written: readonly string[];
  add(names: Iterable<string>): void;
  /** Only if it changes: a tool may watch it. A build beside a dev server writes it, too. */
  write(): void;
} {
  const read = () => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);
  const before = read();
  const [, names] = /^<div class="([^"]+)"/.exec(before ?? '') ?? [];
  const written: readonly string[] = names ? decodeHTMLAttribute(names).split(' ') : [];
  const known = new Set(keeps ? written : []);
  const opened = {
    file,
    written,
    add(names: Iterable<string>) {
      for (const name of names) known.add(name);
    },
    /** Only if it changes: a tool may watch it. A build beside a dev server writes it, too. */
    write() {
      opened.written = [...known].sort();
      const text = `<div class="${escapeAttribute(opened.written.join(' '))}"></div>\n`;
      if (text !== read()) writeAtomically(file, text);
    },
  };
  // Before a tool looks for it.
  if (before === undefined) opened.write();
  return opened;
}
