import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { parseRequest, type SnippetRequest } from '../client/snippet-request.ts';
import { withoutCodeSpans } from '../embed/code-spans.ts';
import { elementName } from '../embed/element.ts';

/** An embed as it is written in a source of the site. Lines and columns begin at 1. */
export interface SourceEmbed {
  file: string;
  line: number;
  column: number;
  isComponent: boolean;
  /** Empty without one; `undefined` where it is computed. */
  id: string | undefined;
  attributes: string;
  /** Whether it is in a heading of Markdown, except one that is written as an element. */
  inHeading: boolean;
  inFrontmatter: boolean;
}

const markdown = /\.(?:mdx?|markdown|mdown|mkdn|mkd|mdwn)$/i;
const frontmatter = /^\ufeff?(---|\+\+\+)[ \t]*\r?\n[\s\S]*?\n\1[ \t]*(?=\r?\n|$)/;
// Also inside a quote or a list.
const heading = /^(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t])*#{1,6}[ \t]/;
const underline = /^[ \t>]*(?:=+|-+)\s*$/;
const htmlComment = /<!--[\s\S]*?-->/g;
const mdxComment = /\{\/\*[\s\S]*?\*\/\}/g;
// Not the `/*` of a glob.
const codeComment = /(?<=^|[\s{;,(])\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*$/gm;
const codeElement = /<(code|pre|kbd|samp)\b[\s\S]*?<\/\1\s*>/gi;
const alias = /import\s*\{[^}]*\bSnippet\s+as\s+([\w$]+)[^}]*\}\s*from\s*["']astro-snippets\/components["']/g;
// Up to the parenthesis that closes it.
const definition =
  /\b(?:defineSnippet|snippetLoader)\s*(?:<[^(]*>)?\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*/g;
// With any quotes, which JSON escapes; a number in braces; or without quotes.
const literalId =
  /(?<![\w:.-])id\s*=\s*(?:(?:\{\s*)?\\?(["'`])([^"'`{}$<>+\\]*)\\?\1|\{\s*(-?[\d.]+)\s*\}|([\w.-]+))/i;
// With `>` in braces and in quotes.
const attributesOfTag = String.raw`(?:\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|"[^"]*"|'[^']*'|[^>])*`;

/** Finds the embeds that a source writes outside of comments and examples, in their order. */
export function embedsIn(file: string, text: string = readSource(file)): SourceEmbed[] {
  if (!/snippet/i.test(text)) return [];
  const shown = withoutComments(text, file);
  const elements = blank(shown, codeElement);
  const names = ['Snippet', ...Array.from(text.matchAll(alias), ([, name]) => name)];
  const components = names.join('|').replaceAll('$', '\\$');
  const tag = new RegExp(`<(?:(${elementName})|${components})(?=[\\s/>{$])(${attributesOfTag})`, 'gi');
  const tags = shown.matchAll(tag).map(({ index, 1: element, 2: attributes = '' }) => {
    return { index, isComponent: element === undefined, id: idIn(attributes), attributes };
  });
  const defined = [...shown.matchAll(definition)].flatMap(({ index, 0: call }) =>
    Array.from(call.matchAll(/\bid:\s*(\d+)/g), ({ index: at, 1: id }) => {
      return { index: index + at, isComponent: false, id, attributes: '' };
    }),
  );
  const isMarkdown = markdown.test(file);
  const bodyStart = isMarkdown ? frontmatterOf(text).length : Number.POSITIVE_INFINITY;
  let line = 1;
  let last = 0;
  // A component in <code> is rendered.
  return [...tags.filter(({ index, isComponent }) => isComponent || elements[index] !== ' '), ...defined]
    .sort((a, b) => a.index - b.index)
    .map(({ index, ...embed }) => {
      line += text.slice(last, index).split('\n').length - 1;
      last = index;
      const start = text.lastIndexOf('\n', index) + 1;
      const [own = '', next = ''] = shown.slice(start).split('\n', 2);
      const inHeading = index >= bodyStart && (heading.test(own) || underline.test(next));
      const inFrontmatter = isMarkdown && index < bodyStart;
      return { file, line, column: index - start + 1, ...embed, inHeading, inFrontmatter };
    });
}

/** The request of an embed, if it is known before a page is rendered. Params are if they are JSON. */
export function literalRequest({ id, isComponent, attributes }: SourceEmbed): SnippetRequest | undefined {
  const params = isComponent ? undefined : /\bparams='([^']*)'/i.exec(attributes)?.[1];
  try {
    return parseRequest(id, params);
  } catch {
    // Computed, or an example. The pages will show which.
    return undefined;
  }
}

/** Blanks out comments, and code of Markdown. Offsets stay. */
export function withoutComments(text: string, file: string): string {
  if (!markdown.test(file)) return blank(blank(text, htmlComment), codeComment);
  const start = frontmatterOf(text);
  const shown = start + withoutCodeSpans(text.slice(start.length));
  return blank(blank(shown, htmlComment), mdxComment);
}

const frontmatterOf = (text: string) => frontmatter.exec(text)?.[0] ?? '';

const blank = (text: string, what: RegExp) => text.replace(what, (found) => found.replace(/[^\n]/g, ' '));

function idIn(attributes: string): string | undefined {
  const [found, , quoted, number, bare] = literalId.exec(attributes) ?? [];
  if (found !== undefined) return quoted ?? number ?? bare;
  return /\b(?:id|of)\b|\.\.\.|\$/.test(attributes) ? undefined : '';
}

/** The file of a path or of a module's id, as Vite writes it: with slashes, and without a query. */
export const fileOf = (id: string): string => id.replace(/[?#].*$/, '').replaceAll('\\', '/');

export const shownSource = (id: string, root: string) => posix.relative(fileOf(root), fileOf(id));

/** A file that does not exist, or no longer does, counts as empty. */
function readSource(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** The lines of a source that write embeds, or else the one that names what does, for people. */
export function placeIn(file: string, root: string): { place: string; line: number } {
  const text = readSource(file);
  const written = new Set(embedsIn(file, text).map(({ line }) => line));
  const shown = withoutComments(text, file).split('\n');
  const named = shown.findIndex((line) => /snippet-embed|astro-snippets\/components/i.test(line)) + 1;
  const lines = written.size > 0 ? [...written] : [named].filter(Boolean);
  const place = [shownSource(file, root), lines.join(' or ')].filter(Boolean).join(':');
  return { place, line: lines[0] ?? 1 };
}
