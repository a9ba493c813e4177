import { elementName } from '../embed/element.ts';
import { walk } from '../embed/html-scanner.ts';

/** A node of the syntax tree (ESTree) that Vite's parser returns. */
export interface SyntaxNode {
  readonly type: string;
  readonly [part: string]: unknown;
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

const components = 'astro-snippets/components';
const name = new RegExp(elementName, 'i');
const wholeName = new RegExp(`^${elementName}$`, 'i');
// Characters that no source contains stand for the expressions of a template.
const opening = new RegExp(`<${elementName}(?=[\\t\\n\\f\\r />\\ue000-\\uf8ff])`, 'i');
const hole = (index: number) => String.fromCharCode(0xe000 + index);
// The functions that create an element of the name they are given, without the `_` and `$` that compilers put in front.
const creators =
  wordsOf(`h jsx jsxs jsxDEV jsxTemplate element createElement createElementNS createElementVNode
  createElementBlock createVNode createBlock createComponent resolveComponent resolveDynamicComponent renderComponent
  ssrRenderComponent`);
// The functions that only search for the text they are given first.
const searches =
  wordsOf(`includes indexOf lastIndexOf startsWith endsWith split search match matchAll matches replace
  replaceAll querySelector querySelectorAll closest getElementsByTagName define get whenDefined test exec`);
const codeElement = /^(?:code|pre|kbd|samp)$/;
const ignored = 'data-snippets-ignore';
const islandDirective = 'server:component-directive';
// Shown until the island arrives: part of the page, not of the island.
const islandFallback = 'fallback';

interface Context {
  isExample?: boolean;
  inIsland?: boolean;
  /** Whether text is only searched for, or describes an error. */
  isOnlyNamed?: boolean;
}

/** Finds out from the syntax tree whether a module writes the element, instead of only mentioning it. */
export function findWritten(program: SyntaxNode): WrittenEmbeds {
  const found = { isWritten: false, isPassedToIsland: false, importsComponent: false, isMentioned: false };
  const localNames = new Set<unknown>();

  const write = ({ isExample, inIsland, isOnlyNamed }: Context) => {
    if (!isExample) found[isOnlyNamed ? 'isMentioned' : inIsland ? 'isPassedToIsland' : 'isWritten'] = true;
  };

  const visitText = (pieces: readonly string[], expressions: readonly SyntaxNode[], context: Context) => {
    const text = pieces.map((piece, index) => (index === 0 ? piece : hole(index - 1) + piece)).join('');
    const shown = text.includes('<') ? withoutExamples(text) : text;
    if (opening.test(shown)) write(context);
    else if (name.test(shown)) write({ ...context, isOnlyNamed: true });
    for (const [index, one] of expressions.entries()) {
      visit(one, shown.includes(hole(index)) ? context : { ...context, isExample: true });
    }
  };

  const visitCall = (node: SyntaxNode, context: Context) => {
    const called = node['callee'] as SyntaxNode;
    // Bundlers write (0, jsx)(…).
    const callee = nodesIn(called['expressions']).at(-1) ?? called;
    const calleeName = String(callee['name'] ?? nameOf(callee['property']) ?? '');
    const given = nodesIn(node['arguments']);
    visit(called, context);
    if (creators.has(calleeName.replace(/^[_$]+/, ''))) {
      visitCreation(given, context);
      return;
    }
    const isSaid = nameOf(callee['object']) === 'console' || calleeName.endsWith('Error');
    for (const [index, one] of given.entries()) {
      const isOnlyNamed = isSaid || (index === 0 && searches.has(calleeName));
      visit(one, isOnlyNamed ? { ...context, isOnlyNamed } : context);
    }
  };

  const visitCreation = (given: readonly SyntaxNode[], context: Context) => {
    const created = given.slice(0, 3).map(textOf);
    const keys = given.flatMap((one) => nodesIn(one['properties']).map(keyOf));
    const isIsland = keys.includes(islandDirective);
    const isExample = keys.includes(ignored) || created.some((one) => codeElement.test(one));
    if (created.some((one) => wholeName.test(one))) write(context);
    // A component writes nothing here by itself: it does so on a page.
    if (context.inIsland && given.some((one) => localNames.has(one['name']))) write(context);
    const inside = { ...context, ...(isExample && { isExample }), ...(isIsland && { inIsland: true }) };
    for (const one of given.filter((one) => !wholeName.test(textOf(one)))) {
      for (const part of isIsland ? nodesIn(one['properties'] ?? [one]) : [one]) {
        visit(part, isIsland && keyOf(part) === islandFallback ? context : inside);
      }
    }
  };

  const visit = (node: SyntaxNode, context: Context): void => {
    const { type, value, source } = node;
    if (textOf(source) === components) {
      found.importsComponent = true;
      for (const { local } of nodesIn(node['specifiers'])) localNames.add(nameOf(local));
    }
    // The source of a Markdown file, which Astro adds to its module: as a page it is shown as HTML.
    if (type === 'FunctionDeclaration' && nameOf(node['id']) === 'rawContent') return;
    if (type === 'JSXOpeningElement' && wholeName.test(String(nameOf(node['name'])))) write(context);
    if (type === 'Literal') {
      if (typeof value === 'string' && name.test(value)) visitText([value], [], context);
    } else if (type === 'TemplateLiteral') {
      visitText(nodesIn(node['quasis']).map(textOf), nodesIn(node['expressions']), context);
    } else if (type === 'CallExpression' || type === 'NewExpression') {
      visitCall(node, context);
    } else {
      const isCompared = type === 'BinaryExpression' && /^[!=]==?$/.test(String(node['operator']));
      for (const [part, parts] of Object.entries(node)) {
        const isOnlyNamed = isCompared || (type === 'SwitchCase' && part === 'test');
        for (const one of nodesIn(parts)) visit(one, isOnlyNamed ? { ...context, isOnlyNamed } : context);
      }
    }
  };

  visit(program, {});
  return found;
}

function wordsOf(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/));
}

function withoutExamples(html: string): string {
  let shown = '';
  const show = (text: string, isExample: boolean) => {
    if (!isExample) shown += text;
  };
  walk(html, false, {
    open({ name, start, end }, isExample) {
      const tag = html.slice(start, end);
      show(tag, isExample);
      return isExample || codeElement.test(name) || tag.includes(ignored);
    },
    text: ({ start, end }, isExample) => show(html.slice(start, end), isExample),
    cut: (start, isExample) => show(html.slice(start), isExample),
  });
  return shown;
}

function nodesIn(value: unknown): SyntaxNode[] {
  const isNode = (one: unknown) => typeof (one as Partial<SyntaxNode> | null)?.type === 'string';
  return (Array.isArray(value) ? value : [value]).filter(isNode);
}

/** The text of a string, or of a piece of a template. */
function textOf(node: unknown): string {
  const { value } = (node ?? {}) as { value?: string | { cooked?: string } };
  const text = typeof value === 'object' ? value?.cooked : value;
  return typeof text === 'string' ? text : '';
}

function nameOf(node: unknown): unknown {
  return (node as { name?: unknown } | null | undefined)?.name;
}

function keyOf({ key }: SyntaxNode): unknown {
  return nameOf(key) ?? textOf(key);
}
