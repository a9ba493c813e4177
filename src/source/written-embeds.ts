import { elementName, embedName } from '../embed/element.ts';

type Parts = { [Name in 'id' | 'callee' | 'key' | 'property' | 'source']?: SyntaxNode | null };
type Lists = { [Name in 'arguments' | 'expressions' | 'properties' | 'quasis']?: SyntaxNode[] };

/** A node of the syntax tree (ESTree) that Vite's parser returns, with the parts that are looked at by name. */
export interface SyntaxNode extends Parts, Lists {
  type: string;
  name?: unknown;
  value?: unknown;
}

/** `passes`: to a server island. Astro encrypts it, so no file shows it. `names`: as in `querySelector('snippet-embed')`. */
type Use = 'writes' | 'passes' | 'names' | 'imports';

/** What a module does with the element, and whether it imports the component. */
export type WrittenEmbeds = ReadonlySet<Use>;

// Characters that no source contains stand for the expressions of a template.
const hole = (index: number) => `\ue000${index}\ue001`;
const opening = new RegExp(`<${elementName}(?=[\\s/>\\ue000])`, 'i');
const examples =
  /<(code|pre|kbd|samp|[\w-]+(?=\s[^>]*\bdata-snippets-ignore))\b[\s\S]*?(?:<\/\1>|$)|<!--[\s\S]*?(?:-->|$)/gi;
// They create an element of the name they are given.
const creators = /^[_$]*(?:h|element|jsx\w*|create\w*|resolve\w*Component|(?:ssrR|r)enderComponent)$/;
// They only search for the text that they are given first, or say it.
const naming =
  /^(?:includes|\w*ndexOf|\w+With|split|search|match\w*|replace\w*|querySelector\w*|closest|getElementsByTagName|define|get|whenDefined|test|exec|debug|info|log|warn|error|\w*Error)$/;
const codeElement = /^(?:code|pre|kbd|samp)$/;

/** Tells from the syntax tree of a module whether it writes the element, or only mentions it. */
export function findWritten(program: SyntaxNode): WrittenEmbeds {
  const found = new Set<Use>();

  /** @param use what it is to write the element here; `undefined` in an example. */
  const visit = (node: SyntaxNode, use: Use | undefined): void => {
    const { type, quasis = [node], expressions = [] } = node;
    if (textOf(node.source) === 'astro-snippets/components') found.add('imports');
    // Astro adds the source of a Markdown file to its module. A page shows it as HTML.
    if (type === 'FunctionDeclaration' && node.id?.name === 'rawContent') return;
    if (type === 'Literal' || type === 'TemplateLiteral') {
      const pieces = quasis.map((piece, at) => textOf(piece) + (at in expressions ? hole(at) : ''));
      const text = pieces.join('').replace(examples, '');
      if (use !== undefined && embedName.test(text)) found.add(opening.test(text) ? use : 'names');
      for (const [at, one] of expressions.entries()) visit(one, text.includes(hole(at)) ? use : undefined);
    } else if (type === 'CallExpression' || type === 'NewExpression') visitCall(node, use);
    else for (const part of Object.values(node).flat()) if (typeof part?.type === 'string') visit(part, use);
  };

  const visitCall = ({ callee: called, arguments: given = [] }: SyntaxNode, use: Use | undefined) => {
    // Bundlers write (0, jsx)(…).
    const callee = called?.expressions?.at(-1) ?? called;
    const calleeName = String(callee?.name ?? callee?.property?.name);
    if (called) visit(called, use);
    if (!creators.test(calleeName)) {
      const first = use && naming.test(calleeName) ? 'names' : use;
      for (const [index, one] of given.entries()) visit(one, index === 0 ? first : use);
      return;
    }
    const created = given.slice(0, 3).map(textOf);
    const keys = given.flatMap(({ properties = [] }) => properties.map(keyOf));
    const isIsland = keys.includes('server:component-directive');
    const isExample = keys.includes('data-snippets-ignore') || created.some((one) => codeElement.test(one));
    // The component writes nothing here by itself: it does so on a page.
    const isPassed = use === 'passes' && found.has('imports') && created.includes('Snippet');
    if (use !== undefined && (isPassed || created.some((one) => one.toLowerCase() === elementName)))
      found.add(use);
    const inside = isExample ? undefined : use && (isIsland ? 'passes' : use);
    for (const one of given) {
      for (const part of (isIsland && one.properties) || [one]) {
        // A fallback is part of the page, and shown until the island arrives.
        visit(part, isIsland && keyOf(part) === 'fallback' ? use : inside);
      }
    }
  };

  visit(program, 'writes');
  return found;
}

function textOf(node: SyntaxNode | null | undefined): string {
  const value = node?.value;
  const text = typeof value === 'object' ? (value as { cooked?: unknown } | null)?.cooked : value;
  return typeof text === 'string' ? text : '';
}

const keyOf = ({ key }: SyntaxNode) => key?.name ?? textOf(key);
