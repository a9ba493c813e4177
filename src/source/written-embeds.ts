import { elementName } from '../embed/element.ts';
import { walk } from '../embed/html-scanner.ts';

/** A node of the syntax tree (ESTree) that Vite's parser returns, with the parts that are looked at by name. */
export interface SyntaxNode {
  type: string;
  name?: unknown;
  value?: unknown;
  callee?: SyntaxNode;
  id?: SyntaxNode | null;
  key?: SyntaxNode;
  local?: SyntaxNode;
  property?: SyntaxNode;
  source?: SyntaxNode | null;
  arguments?: SyntaxNode[];
  expressions?: SyntaxNode[];
  properties?: SyntaxNode[];
  quasis?: SyntaxNode[];
  specifiers?: SyntaxNode[];
}

/** How a module uses the element. */
export interface WrittenEmbeds {
  isWritten: boolean;
  /** Whether it passes the element to a server island. Astro encrypts it, so no file of the output contains it. */
  isPassedToIsland: boolean;
  importsComponent: boolean;
  /** Whether it names the element without writing it, as in `querySelector('snippet-embed')`. */
  isMentioned: boolean;
}

/** Whether a module holds the entries of all collections. */
export function isStore(id: string): boolean {
  return id.endsWith('astro:data-layer-content');
}

/** What is taken for granted of the entries of collections, which are too many to be read. */
export const inStore: WrittenEmbeds = {
  isWritten: false,
  isPassedToIsland: false,
  importsComponent: false,
  isMentioned: true,
};

const name = new RegExp(elementName, 'i');
const wholeName = new RegExp(`^${elementName}$`, 'i');
// Characters that no source contains stand for the expressions of a template.
const opening = new RegExp(`<${elementName}(?=[\\t\\n\\f\\r />\\ue000-\\uf8ff])`, 'i');
const hole = (index: number) => String.fromCharCode(0xe000 + index);
// They create an element of the name they are given.
const creators = /^[_$]*(?:h|element|jsx\w*|create\w*|resolve\w*Component|(?:ssrR|r)enderComponent)$/;
// They only search for the text that they are given first, or say it.
const naming =
  /^(?:includes|\w*ndexOf|\w+With|split|search|match\w*|replace\w*|querySelector\w*|closest|getElementsByTagName|define|get|whenDefined|test|exec|debug|info|log|warn|error|\w*Error)$/;
const codeElement = /^(?:code|pre|kbd|samp)$/;
const ignored = 'data-snippets-ignore';
const islandDirective = 'server:component-directive';
// Shown until the island arrives: part of the page, not of the island.
const islandFallback = 'fallback';

interface Context {
  isExample?: boolean;
  inIsland?: boolean;
  isOnlyNamed?: boolean;
}

/** Finds out from the syntax tree whether a module writes the element, instead of only mentioning it. */
export function findWritten(program: SyntaxNode): WrittenEmbeds {
  const found = { isWritten: false, isPassedToIsland: false, importsComponent: false, isMentioned: false };
  const localNames = new Set<unknown>();

  const write = ({ isExample, inIsland, isOnlyNamed }: Context) => {
    if (!isExample) found[isOnlyNamed ? 'isMentioned' : inIsland ? 'isPassedToIsland' : 'isWritten'] = true;
  };

  const visitText = (pieces: readonly SyntaxNode[], expressions: readonly SyntaxNode[], context: Context) => {
    const text = pieces.map(
      (piece, index) => textOf(piece) + (index < expressions.length ? hole(index) : ''),
    );
    const shown = withoutExamples(text.join(''));
    if (opening.test(shown)) write(context);
    else if (name.test(shown)) write({ ...context, isOnlyNamed: true });
    for (const [index, one] of expressions.entries()) {
      visit(one, shown.includes(hole(index)) ? context : { ...context, isExample: true });
    }
  };

  const visitCall = ({ callee: called, arguments: given = [] }: SyntaxNode, context: Context) => {
    // Bundlers write (0, jsx)(…).
    const callee = called?.expressions?.at(-1) ?? called;
    const calleeName = String(callee?.name ?? callee?.property?.name);
    if (called !== undefined) visit(called, context);
    if (creators.test(calleeName)) visitCreation(given, context);
    else {
      for (const [index, one] of given.entries()) {
        visit(one, index === 0 && naming.test(calleeName) ? { ...context, isOnlyNamed: true } : context);
      }
    }
  };

  const visitCreation = (given: readonly SyntaxNode[], context: Context) => {
    const created = given.slice(0, 3).map(textOf);
    const keys = given.flatMap(({ properties = [] }) => properties.map(keyOf));
    const isIsland = keys.includes(islandDirective);
    const isExample = keys.includes(ignored) || created.some((one) => codeElement.test(one));
    if (created.some((one) => wholeName.test(one))) write(context);
    // A component writes nothing here by itself: it does so on a page.
    if (context.inIsland && given.some((one) => localNames.has(one.name))) write(context);
    const inside = { ...context, ...(isExample && { isExample }), ...(isIsland && { inIsland: true }) };
    for (const one of given) {
      for (const part of (isIsland && one.properties) || [one]) {
        visit(part, isIsland && keyOf(part) === islandFallback ? context : inside);
      }
    }
  };

  const visit = (node: SyntaxNode, context: Context): void => {
    const { type, source, specifiers = [], quasis = [], expressions = [] } = node;
    if (textOf(source) === 'astro-snippets/components') {
      found.importsComponent = true;
      for (const { local } of specifiers) localNames.add(local?.name);
    }
    // The source of a Markdown file, which Astro adds to its module: as a page it is shown as HTML.
    if (type === 'FunctionDeclaration' && node.id?.name === 'rawContent') return;
    if (type === 'Literal') visitText([node], [], context);
    else if (type === 'TemplateLiteral') visitText(quasis, expressions, context);
    else if (type === 'CallExpression' || type === 'NewExpression') visitCall(node, context);
    else
      for (const part of Object.values(node).flat()) if (typeof part?.type === 'string') visit(part, context);
  };

  visit(program, {});
  return found;
}

function withoutExamples(html: string): string {
  let shown = '';
  const show = (start: number, end: number | undefined, isExample: boolean) => {
    if (!isExample) shown += html.slice(start, end);
  };
  walk(html, false, {
    open({ name, start, end }, isExample) {
      show(start, end, isExample);
      return isExample || codeElement.test(name) || html.slice(start, end).includes(ignored);
    },
    text: ({ start, end }, isExample) => show(start, end, isExample),
    cut: (start, isExample) => show(start, undefined, isExample),
  });
  return shown;
}

/** The text of a string, or of a piece of a template. */
function textOf(node: SyntaxNode | null | undefined): string {
  const value = node?.value;
  const text = typeof value === 'object' ? (value as { cooked?: unknown } | null)?.cooked : value;
  return typeof text === 'string' ? text : '';
}

function keyOf({ key }: SyntaxNode): unknown {
  return key?.name ?? textOf(key);
}
