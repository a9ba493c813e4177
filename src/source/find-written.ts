import { elementName, embedName } from '../embed/element.ts';

type SyntaxParts = { [Name in 'id' | 'callee' | 'key' | 'property' | 'source']?: SyntaxNode | null };

type SyntaxLists = { [Name in 'arguments' | 'expressions' | 'properties' | 'quasis']?: SyntaxNode[] };

/** A node of Vite's syntax tree (ESTree), with the parts that are read. */
export interface SyntaxNode extends SyntaxParts, SyntaxLists {
  type: string;
  name?: unknown;
  value?: unknown;
}

/** `passes`: to a server island. Astro encrypts it, so no file shows it. `names`: as in `querySelector('snippet-embed')`. */
type MentionKind = 'writes' | 'passes' | 'names' | 'imports';

/** What a module does with the element and the component. */
export type WrittenEmbeds = ReadonlySet<MentionKind>;

// Characters that no source contains stand for the expressions of a template.
const hole = (index: number) => `\ue000${index}\ue001`;

const elementOpening = new RegExp(`<${elementName}(?=[\\s/>\\ue000])`, 'i');

const exampleMarkup =
  /<(code|pre|kbd|samp|[\w-]+(?=\s[^>]*\bdata-snippets-ignore))\b[\s\S]*?(?:<\/\1>|$)|<!--[\s\S]*?(?:-->|$)/gi;

// They create an element of the name they are given.
const elementCreators = /^[_$]*(?:h|element|jsx\w*|create\w*|resolve\w*Component|(?:ssrR|r)enderComponent)$/;

// They search for their first argument, or say it.
const namingFunctions =
  /^(?:includes|\w*ndexOf|\w+With|split|search|match\w*|replace\w*|querySelector\w*|closest|getElementsByTagName|define|get|whenDefined|test|exec|debug|info|log|warn|error|\w*Error)$/;

const codeTagName = /^(?:code|pre|kbd|samp)$/;

/** Whether a module writes the element, or only mentions it. */
export function findWritten(program: SyntaxNode): Set<MentionKind> {
  const found = new Set<MentionKind>();

  /** @param use what it is to write the element here; `undefined` in an example. */
  const visit = (node: SyntaxNode, use: MentionKind | undefined) => {
    const { type, quasis = [node], expressions = [] } = node;
    if (literalText(node.source) === 'astro-snippets/components') found.add('imports');
    // Astro adds the source of a Markdown file to its module. A page shows it as HTML.
    if (type === 'FunctionDeclaration' && node.id?.name === 'rawContent') return;
    if (type === 'Literal' || type === 'TemplateLiteral') {
      const pieces = quasis.map((piece, at) => literalText(piece) + (at in expressions ? hole(at) : ''));
      const text = pieces.join('').replace(exampleMarkup, '');
      if (use && embedName.test(text)) found.add(elementOpening.test(text) ? use : 'names');
      for (const [at, one] of expressions.entries()) visit(one, text.includes(hole(at)) ? use : undefined);
    } else if (type === 'CallExpression' || type === 'NewExpression') visitCall(node, use);
    else for (const part of Object.values(node).flat()) if (typeof part?.type === 'string') visit(part, use);
  };

  const visitCall = ({ callee: called, arguments: given = [] }: SyntaxNode, use: MentionKind | undefined) => {
    // Bundlers write (0, jsx)(…).
    const callee = called?.expressions?.at(-1) ?? called;
    const calleeName = String(callee?.name ?? callee?.property?.name);
    if (called) visit(called, use);
    if (!elementCreators.test(calleeName)) {
      const first = use && namingFunctions.test(calleeName) ? 'names' : use;
      for (const [index, one] of given.entries()) visit(one, index === 0 ? first : use);
      return;
    }
    const created = given.slice(0, 3).map(literalText);
    const keys = given.flatMap(({ properties = [] }) => properties.map(propertyName));
    const isIsland = keys.includes('server:component-directive');
    const isExample = keys.includes('data-snippets-ignore') || created.some((one) => codeTagName.test(one));
    // The component writes nothing here by itself: it does so on a page.
    const isPassed = use === 'passes' && found.has('imports') && created.includes('Snippet');
    if (use && (isPassed || created.some((one) => one.toLowerCase() === elementName))) found.add(use);
    const inside = isExample ? undefined : use && (isIsland ? 'passes' : use);
    for (const one of given) {
      for (const part of (isIsland && one.properties) || [one]) {
        // A fallback is part of the page, and shown until the island arrives.
        visit(part, isIsland && propertyName(part) === 'fallback' ? use : inside);
      }
    }
  };

  visit(program, 'writes');
  return found;
}

function literalText(node?: SyntaxNode | null) {
  const value = node?.value as { cooked?: unknown } | null | undefined;
  const text = value?.cooked ?? value;
  return typeof text === 'string' ? text : '';
}

const propertyName = ({ key }: SyntaxNode) => key?.name ?? literalText(key);
