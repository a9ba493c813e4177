import { elementName } from '../embed/element.ts';
import { withoutComments } from './source-file.ts';
import { nodesIn, type SyntaxNode } from './syntax-tree.ts';

/** A module as it is compiled from MDX: its text, and its syntax tree. */
export interface CompiledMdx {
  code: string;
  program: SyntaxNode;
}

/** An element or a component that MDX leaves out, as only the text of an image remains. */
export interface LostTag {
  /** The name as the source writes it: `S`, `all.Snippet`, `snippet-embed`. */
  name: string;
  /** Begins at 1. */
  line: number;
  /** Whether it is certain that the tag is an embed. A component may come from anywhere. */
  isEmbed: boolean;
}

/**
 * A paragraph with the start of an image, and a tag of a component or an embed behind it. JSX takes a name for that of
 * a component if no small letter begins it, or if it has a dot. The element counts in any case.
 */
const imageBeforeTag = /!\[(?:(?!\n[ \t>]*\n)[\s\S])*?<(?:[^a-z\s/>]|[^\s/>.]+\.|s[a-zA-Z]+-)/;

/** The start of an image, whose `!` makes the difference to a link. */
const imageStart = /!(?=\[)/g;

/**
 * Finds the embeds in the texts of images. MDX itself is asked: what it renders once images are links, and not
 * before, was in the text of an image.
 *
 * @param compile compiles MDX as the site does
 */
export async function findLostTags(
  source: string,
  file: string,
  compile: (source: string) => Promise<CompiledMdx>,
): Promise<LostTag[]> {
  if (!imageBeforeTag.test(source)) return [];
  const compiled = await compile(source).catch(() => undefined);
  // The site's own plugin reports what is wrong with the source.
  if (!compiled) return [];
  const withLinks = await compile(source.replace(imageStart, ' ')).catch(() => undefined);
  if (!withLinks) return [{ name: 'Snippet', line: lineOf('', source, file), isEmbed: false }];

  const rendered = countTags(compiled);
  const components = componentNames(compiled);
  const lost = [...countTags(withLinks)].filter(([name, times]) => times > (rendered.get(name) ?? 0));
  return lost.flatMap(([name]) => {
    const isElement = name.toLowerCase() === elementName;
    // Other elements are markup, of which the text stays.
    if (!isElement && /^[a-z][\w-]*$/.test(name)) return [];
    return { name, line: lineOf(name, source, file), isEmbed: isElement || components.has(name) };
  });
}

/** How often a module renders each element and component. What MDX makes of Markdown does not count. */
function countTags({ code, program }: CompiledMdx): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { type, callee, arguments: [tag] = [] } of nodesIn(program)) {
    if (type !== 'CallExpression' || !/^_jsxs?$/.test(String(callee?.name)) || !tag) continue;
    const name = writtenAs(tag, code).replace(/^(["'])(.*)\1$/, '$2');
    if (!/^_(?:components\b|Fragment$)/.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** The names by which a module has the component: as it imports it, and assigned to another name or key. */
function componentNames({ code, program }: CompiledMdx): Set<string> {
  const names = new Set<string>();
  for (const { type, source, specifiers = [] } of nodesIn(program)) {
    if (type !== 'ImportDeclaration' || source?.value !== 'astro-snippets/components') continue;
    for (const { type: kind, local } of specifiers) {
      names.add(kind === 'ImportNamespaceSpecifier' ? `${local?.name}.Snippet` : String(local?.name));
    }
  }
  // An assignment may follow another one, so each round may find more.
  for (let known = -1; known < names.size; ) {
    known = names.size;
    for (const { type, id, init, key, value } of nodesIn(program)) {
      const assigned = type === 'VariableDeclarator' ? init : type === 'Property' && (value as SyntaxNode);
      const name = id ?? key;
      if (assigned && name && names.has(writtenAs(assigned, code))) names.add(writtenAs(name, code));
    }
  }
  return names;
}

const writtenAs = ({ start, end }: SyntaxNode, code: string) => code.slice(start, end);

/** The first line that has the tag behind the start of an image, or else the first image. */
function lineOf(name: string, source: string, file: string): number {
  const text = withoutComments(source, file);
  const tag = new RegExp(
    `!\\[(?:(?!\\n[ \\t>]*\\n)[\\s\\S])*?<${name.replace(/[^\w-]/g, '\\$&')}(?![\\w.-])`,
    'i',
  );
  const match = tag.exec(text) ?? imageBeforeTag.exec(source);
  return source.slice(0, (match?.index ?? 0) + (match?.[0].length ?? 0)).split('\n').length;
}
