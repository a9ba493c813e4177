import { parseRequest, type SnippetRequest } from '../client/snippet-request.ts';
import { elementName } from '../embed/element.ts';
import {
  blankOut,
  frontmatterOf,
  markdownFile,
  readSource,
  shownSource,
  withoutComments,
} from './source-file.ts';

// Also inside a quote or a list.
const markdownHeading = /^(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t])*#{1,6}[ \t]/;

const headingUnderline = /^[ \t>]*(?:=+|-+)\s*$/;

const codeElement = /<(code|pre|kbd|samp)\b[\s\S]*?<\/\1\s*>/gi;

const componentAlias =
  /import\s*\{[^}]*\bSnippet\s+as\s+([\w$]+)[^}]*\}\s*from\s*["']astro-snippets\/components["']/g;

// Up to the parenthesis that closes it.
const snippetDefinition =
  /\b(?:defineSnippet|snippetLoader)\s*(?:<[^(]*>)?\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*/g;

// In quotes, which JSON escapes; a number in braces; or without quotes.
const literalId =
  /(?<![\w:.-])id\s*=\s*(?:(?:\{\s*)?\\?(["'`])([^"'`{}$<>+\\]*)\\?\1|\{\s*(-?[\d.]+)\s*\}|([\w.-]+))/i;

// With `>` in braces and in quotes.
const attributesOfTag = String.raw`(?:\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|"[^"]*"|'[^']*'|[^>])*`;

export type SourceEmbed = ReturnType<typeof embedsIn>[number];

/**
 * The embeds that a source writes outside of comments and examples, in order. Lines and columns begin at 1. `id` is empty
 * without one, and `undefined` if it is computed. `inHeading`: of Markdown, not of `<h2>`.
 */
export function embedsIn(
  file: string,
  text: string = readSource(file),
): {
  inHeading: boolean;
  inFrontmatter: boolean;
  isComponent: boolean;
  id: string | undefined;
  attributes: string;
  file: string;
  line: number;
  column: number;
}[] {
  if (!/snippet/i.test(text)) return [];
  const shown = withoutComments(text, file);
  const elements = blankOut(shown, codeElement);
  const names = ['Snippet', ...Array.from(text.matchAll(componentAlias), ([, name]) => name)];
  const components = names.join('|').replaceAll('$', '\\$');
  const tag = new RegExp(`<(?:(${elementName})|${components})(?=[\\s/>{$])(${attributesOfTag})`, 'gi');
  const tags = shown.matchAll(tag).map(({ index, 1: element, 2: attributes = '' }) => {
    return { index, isComponent: !element, id: idIn(attributes), attributes };
  });
  const defined = [...shown.matchAll(snippetDefinition)].flatMap(({ index, 0: call }) =>
    Array.from(call.matchAll(/\bid:\s*(\d+)/g), ({ index: at, 1: id }) => {
      return { index: index + at, isComponent: false, id, attributes: '' };
    }),
  );
  const isMarkdown = markdownFile.test(file);
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
      const inHeading = index >= bodyStart && (markdownHeading.test(own) || headingUnderline.test(next));
      const inFrontmatter = isMarkdown && index < bodyStart;
      return { file, line, column: index - start + 1, ...embed, inHeading, inFrontmatter };
    });
}

/** The request of an embed, if it is known before a page is rendered. */
export function literalRequest({ id, isComponent, attributes }: SourceEmbed): SnippetRequest | undefined {
  const params = isComponent ? undefined : /\bparams='([^']*)'/i.exec(attributes)?.[1];
  try {
    return parseRequest(id, params);
  } catch {
    // Computed, or an example.
    return undefined;
  }
}

function idIn(attributes: string) {
  const [found, , quoted, number, bare] = literalId.exec(attributes) ?? [];
  if (found) return quoted ?? number ?? bare;
  return /\b(?:id|of)\b|\.\.\.|\$/.test(attributes) ? undefined : '';
}

/** The lines that write embeds, or else the one that names the element or the component. */
export function placeIn(
  file: string,
  root: string,
): {
  place: string;
  line: number;
} {
  const text = readSource(file);
  const lines = [...new Set(embedsIn(file, text).map(({ line }) => line))];
  const shown = withoutComments(text, file).split('\n');
  const named = shown.findIndex((line) => /snippet-embed|astro-snippets\/components/i.test(line)) + 1;
  if (lines.length === 0 && named > 0) lines.push(named);
  const place = [shownSource(file, root), lines.join(' or ')].filter(Boolean).join(':');
  return { place, line: lines[0] ?? 1 };
}
