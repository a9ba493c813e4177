import { parseRequest, type SnippetRequest } from '../client/snippet-request.ts';
import { elementName } from '../embed/element.ts';
import {
  blankOut,
  frontmatterOf,
  markdownFile,
  readSource,
  relativeSource,
  withoutComments,
} from './source-file.ts';

/** An embed as a source writes it: an element, a component, or a definition, `defineSnippet({ id: 42 })`. */
export interface SourceEmbed {
  /** The absolute path of the source. */
  file: string;
  /** Begins at 1, like `column`. */
  line: number;
  column: number;
  /** Whether it is `<Snippet>`, or another name that the component is imported as. */
  isComponent: boolean;
  /** The id as it is written; empty without one, `undefined` where it is computed. */
  id: string | undefined;
  /** The attributes of the tag, as they are written; empty for a definition. */
  attributes: string;
  /** Whether it is in a Markdown heading (`## …`), from which Astro makes a slug. `<h2>` does not count. */
  inHeading: boolean;
  /** Whether it is in the frontmatter of Markdown. */
  inFrontmatter: boolean;
}

/** A tag or a definition at an offset in a source. */
interface Mention extends Pick<SourceEmbed, 'isComponent' | 'id' | 'attributes'> {
  offset: number;
}

/** `## Plans`, also in a quote or a list: `> - ## Plans`. Without a space, `#plans` is text. */
const markdownHeading = /^(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])[ \t])*#{1,6}[ \t]/;
/** The line of `===` or `---` that makes the text above it a heading, also in a quote. */
const headingUnderline = /^[ \t>]*(?:=+|-+)\s*$/;

/** `<code>…</code>` and others that hold examples, up to the end tag of the same name. */
const codeElement = /<(code|pre|kbd|samp)\b[\s\S]*?<\/\1\s*>/gi;

/** `import { Snippet as Text } from 'astro-snippets/components'`: the tags are then `<Text id={42} />`. */
const componentAlias =
  /import\s*\{[^}]*\bSnippet\s+as\s+([\w$]+)[^}]*\}\s*from\s*["']astro-snippets\/components["']/g;

/**
 * `defineSnippet({ … })` and `snippetLoader<Type>({ … })`, without the last `)`. Parentheses nest three deep
 * inside, or the first `)` in `schema: () => z.object(…)` would hide the ids that follow.
 */
const snippetDefinition =
  /\b(?:defineSnippet|snippetLoader)\s*(?:<[^(]*>)?\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*/g;

/**
 * A literal id, which `data-id` and `props.id` are not: in quotes (`id="42"`, `id={'42'}`, `id=\"42\"` in
 * JSON), a number in braces (`id={42}`), or bare (`id=42`). Quotes that hold `{`, `$`, `<` or `+` are
 * computed: `id="${id}"`, `'<snippet-embed id="' + id + '">'`.
 */
const literalId =
  /(?<![\w:.-])id\s*=\s*(?:(?:\{\s*)?\\?(["'`])([^"'`{}$<>+\\]*)\\?\1|\{\s*(-?[\d.]+)\s*\}|([\w.-]+))/i;

/**
 * The attributes of a tag, up to its `>`. Braces, up to three deep, and quotes may contain a `>`, as in
 * `<Snippet params={{ a: b > c }} id={42} />`.
 */
const attributesOfTag = String.raw`(?:\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}|"[^"]*"|'[^']*'|[^>])*`;

/** The embeds that a source writes outside of comments and examples, in their order. */
export function embedsIn(file: string, text: string = readSource(file)): SourceEmbed[] {
  if (!/snippet/i.test(text)) return [];
  const uncommented = withoutComments(text, file);
  const mentions = [...tagsIn(uncommented, text), ...definitionsIn(uncommented)];
  mentions.sort((a, b) => a.offset - b.offset);

  const isMarkdown = markdownFile.test(file);
  const bodyStart = isMarkdown ? frontmatterOf(text).length : Number.POSITIVE_INFINITY;
  let line = 1;
  let countedTo = 0;

  return mentions.map(({ offset, ...mention }) => {
    line += text.slice(countedTo, offset).split('\n').length - 1;
    countedTo = offset;

    const lineStart = text.lastIndexOf('\n', offset) + 1;
    const [ownLine = '', nextLine = ''] = uncommented.slice(lineStart).split('\n', 2);
    const isHeading = markdownHeading.test(ownLine) || headingUnderline.test(nextLine);
    return {
      file,
      line,
      column: offset - lineStart + 1,
      ...mention,
      inHeading: offset >= bodyStart && isHeading,
      inFrontmatter: isMarkdown && offset < bodyStart,
    };
  });
}

/** @param uncommented the text of a source without comments and, in Markdown, without code. */
function tagsIn(uncommented: string, text: string): Mention[] {
  const aliases = Array.from(text.matchAll(componentAlias), ([, name]) => name);
  const components = ['Snippet', ...aliases].join('|').replaceAll('$', '\\$');
  // A `{` or `$` may follow the name: `<Snippet{...props}`, `<snippet-embed${attributes}>`.
  const tag = new RegExp(`<(?:(${elementName})|${components})(?=[\\s/>{$])(${attributesOfTag})`, 'gi');
  const tags = Array.from(uncommented.matchAll(tag), ({ index, 1: element, 2: attributes = '' }) => {
    return { offset: index, isComponent: !element, id: idIn(attributes), attributes };
  });

  // An element in <code> is an example, but Astro renders a component there.
  const withoutCode = blankOut(uncommented, codeElement);
  return tags.filter(({ offset, isComponent }) => isComponent || withoutCode[offset] !== ' ');
}

function definitionsIn(uncommented: string): Mention[] {
  return [...uncommented.matchAll(snippetDefinition)].flatMap(({ index: callStart, 0: call }) =>
    Array.from(call.matchAll(/\bid:\s*(\d+)/g), ({ index, 1: id }) => {
      return { offset: callStart + index, isComponent: false, id, attributes: '' };
    }),
  );
}

function idIn(attributes: string) {
  const [, , quoted, number, bare] = literalId.exec(attributes) ?? [];
  const isComputed = /\b(?:id|of)\b|\.\.\.|\$/.test(attributes);
  return quoted ?? number ?? bare ?? (isComputed ? undefined : '');
}

/** The request of an embed; `undefined` where it is computed while a page is rendered, and for an example. */
export function literalRequest({ id, isComponent, attributes }: SourceEmbed): SnippetRequest | undefined {
  const params = isComponent ? undefined : /\bparams='([^']*)'/i.exec(attributes)?.[1];
  try {
    return parseRequest(id, params);
  } catch {
    return undefined;
  }
}

/** The lines of a source that mention embeds. */
export interface SourcePlace {
  /** The file and the lines, for people: "src/pages/index.astro:12 or 30". */
  place: string;
  /** The first of its lines, beginning at 1. */
  line: number;
}

/** Finds the lines that write embeds, or else the line that names the element or imports the component. */
export function placeIn(file: string, root: string): SourcePlace {
  const text = readSource(file);
  const lines = [...new Set(embedsIn(file, text).map(({ line }) => line))];
  if (lines.length === 0) {
    const uncommented = withoutComments(text, file).split('\n');
    const index = uncommented.findIndex((line) => /snippet-embed|astro-snippets\/components/i.test(line));
    if (index !== -1) lines.push(index + 1);
  }
  const place = [relativeSource(file, root), lines.join(' or ')].filter(Boolean).join(':');
  return { place, line: lines[0] ?? 1 };
}
