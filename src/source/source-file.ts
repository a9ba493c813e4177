import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { withoutCodeSpans } from '../embed/code-spans.ts';

export const markdownFile: RegExp = /\.(?:mdx?|markdown|mdown|mkdn|mkd|mdwn)$/i;

const frontmatter = /^\ufeff?(---|\+\+\+)[ \t]*\r?\n[\s\S]*?\n\1[ \t]*(?=\r?\n|$)/;

const htmlComment = /<!--[\s\S]*?-->/g;

const mdxComment = /\{\/\*[\s\S]*?\*\/\}/g;

// Not the `/*` of a glob.
const codeComment = /(?<=^|[\s{;,(])\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*$/gm;

/** Blanks out comments, and code of Markdown. Offsets stay. */
export function withoutComments(text: string, file: string): string {
  if (!markdownFile.test(file)) return blankOut(blankOut(text, htmlComment), codeComment);
  const start = frontmatterOf(text);
  const shown = start + withoutCodeSpans(text.slice(start.length));
  return blankOut(blankOut(shown, htmlComment), mdxComment);
}

export const frontmatterOf = (text: string): string => frontmatter.exec(text)?.[0] ?? '';

export const blankOut = (text: string, what: RegExp): string =>
  text.replace(what, (found) => found.replace(/[^\n]/g, ' '));

/** The file of a path or a module's id: with slashes, without a query. */
export const fileOf = (id: string): string => id.replace(/[?#].*$/, '').replaceAll('\\', '/');

export const shownSource = (id: string, root: string): string => posix.relative(fileOf(root), fileOf(id));

export function readSource(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // It does not exist.
    return '';
  }
}
