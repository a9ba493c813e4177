import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { withoutCodeSpans } from '../embed/code-spans.ts';

export const markdownFile: RegExp = /\.(?:mdx?|markdown|mdown|mkdn|mkd|mdwn)$/i;

/** YAML between `---` or TOML between `+++`, at the start of a file and after a byte order mark. */
const frontmatter = /^\ufeff?(---|\+\+\+)[ \t]*\r?\n[\s\S]*?\n\1[ \t]*(?=\r?\n|$)/;

const htmlComment = /<!--[\s\S]*?-->/g;
// MDX: {/* … */}
const mdxComment = /\{\/\*[\s\S]*?\*\/\}/g;

/**
 * A block comment, or a line that is a `//` comment: a `//` later in a line may belong to a URL. Only space
 * and `{ ; , (` may precede a block comment, or the glob `'posts/*.md'` would open one.
 */
const codeComment = /(?<=^|[\s{;,(])\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*$/gm;

/** Blanks out what a source does not show: comments, and in Markdown code. Offsets and lines stay. */
export function withoutComments(text: string, file: string): string {
  if (!markdownFile.test(file)) return blankOut(blankOut(text, htmlComment), codeComment);
  const start = frontmatterOf(text);
  const withoutCode = start + withoutCodeSpans(text.slice(start.length));
  return blankOut(blankOut(withoutCode, htmlComment), mdxComment);
}

/** The frontmatter of a Markdown file with its fences; empty without any. */
export const frontmatterOf = (text: string): string => frontmatter.exec(text)?.[0] ?? '';

/** Replaces each match by spaces of the same length. Line breaks stay. */
export const blankOut = (text: string, pattern: RegExp): string =>
  text.replace(pattern, (match) => match.replace(/[^\n]/g, ' '));

/** The path of a module's file, by its id or a path: with forward slashes, without a query. */
export const fileOf = (id: string): string => id.replace(/[?#].*$/, '').replaceAll('\\', '/');

/** The path of a file, or of a module by its id, relative to a folder and with forward slashes. */
export const relativeSource = (id: string, folder: string): string =>
  posix.relative(fileOf(folder), fileOf(id));

/** The text of a source; empty for a module that is no file, or no longer one. */
export function readSource(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
