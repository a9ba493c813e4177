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
export function embedsIn(text: string, file: string): SourceEmbed[] {
  if (!/snippet/i.test(text)) return [];
  const shown = withoutComments(text, file);
  const elements = blank(shown, codeElement);
  const found: (Pick<SourceEmbed, 'isComponent' | 'id' | 'attributes'> & { index: number })[] = [];
  const aliases = Array.from(text.matchAll(alias), ([, name]) => name);
  const names = ['Snippet', ...aliases].join('|').replaceAll('$', '\\$');
  const tag = new RegExp(`<(?:(${elementName})|${names})(?=[\\s/>{$])(${attributesOfTag})`, 'gi');
  for (const { index, 1: element, 2: attributes = '' } of shown.matchAll(tag)) {
    // A component in <code> is rendered.
    if (element !== undefined && elements[index] === ' ') continue;
    found.push({ index, isComponent: element === undefined, id: idIn(attributes), attributes });
  }
  for (const { index, 0: call } of shown.matchAll(definition)) {
    for (const { index: at, 1: id } of call.matchAll(/\bid:\s*(\d+)/g)) {
      found.push({ index: index + at, isComponent: false, id, attributes: '' });
    }
  }
  const isMarkdown = markdown.test(file);
  const bodyStart = isMarkdown ? frontmatterOf(text).length : Number.POSITIVE_INFINITY;
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  const lineAt = (line: number) => shown.slice(starts[line] ?? shown.length, starts[line + 1]);
  let line = 0;
  return found
    .sort((a, b) => a.index - b.index)
    .map(({ index, ...embed }) => {
      while ((starts[line + 1] ?? Number.POSITIVE_INFINITY) <= index) line += 1;
      const inHeading =
        index >= bodyStart && (heading.test(lineAt(line)) || underline.test(lineAt(line + 1)));
      const inFrontmatter = isMarkdown && index < bodyStart;
      const column = index - (starts[line] ?? 0) + 1;
      return { file, line: line + 1, column, ...embed, inHeading, inFrontmatter };
    });
}

/** The snippet that an embed asks for, if that is known before a page is rendered. Params are if they are JSON. */
export function literalRequest({ id, isComponent, attributes }: SourceEmbed): SnippetRequest | undefined {
  const params = isComponent ? undefined : /\bparams='([^']*)'/i.exec(attributes)?.[1];
  try {
    return parseRequest(id, params);
  } catch {
    // Computed, or an example: what the pages contain has the last word.
    return undefined;
  }
}

/** Blanks out the comments of a source, and code of Markdown. Offsets stay. */
export function withoutComments(text: string, file: string): string {
  if (!markdown.test(file)) return blank(blank(text, htmlComment), codeComment);
  const start = frontmatterOf(text);
  const shown = start + withoutCodeSpans(text.slice(start.length));
  return blank(blank(shown, htmlComment), mdxComment);
}

function frontmatterOf(text: string): string {
  return frontmatter.exec(text)?.[0] ?? '';
}

function blank(text: string, pattern: RegExp): string {
  return text.replace(pattern, (found) => found.replace(/[^\n]/g, ' '));
}

function idIn(attributes: string): string | undefined {
  const [found, , quoted, number, bare] = literalId.exec(attributes) ?? [];
  if (found !== undefined) return quoted ?? number ?? bare;
  return /\b(?:id|of)\b|\.\.\.|\$/.test(attributes) ? undefined : '';
}
