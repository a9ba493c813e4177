import { elementName } from '../embed/element.ts';
import { type Range, walk } from '../embed/html-scanner.ts';

/** A node of the syntax tree (ESTree) that Vite's parser returns, with offsets into the code. */
export interface SyntaxNode extends Range {
  type: string;
}

/** How a module uses the element. All offsets are into its code. */
export interface WrittenEmbeds {
  /** Where it writes the element. */
  written: number[];
  /** Where it passes the element to a server island. Astro encrypts it, so no file of the output contains it. */
  passedToIsland: number[];
  /** Where it imports `<Snippet>`. */
  imports: number[];
  /** Whether it names the element without writing it, as in `querySelector('snippet-embed')`. */
  isMentioned: boolean;
}

const components = 'astro-snippets/components';

// The functions that create an element of the name they are given, without the `_` and `$` that compilers put in front.
const creators = new Set(
  `h jsx jsxs jsxDEV jsxTemplate createElement createElementNS createElementVNode createElementBlock createVNode
  createBlock createComponent resolveComponent resolveDynamicComponent renderComponent element ssrRenderComponent`.split(
    /\s+/,
  ),
);
// The functions that only search for the text they are given.
const searches = new Set(
  `includes indexOf lastIndexOf startsWith endsWith split search match matchAll replace replaceAll querySelector
  querySelectorAll closest matches getElementsByTagName define get whenDefined test exec`.split(/\s+/),
);
const codeElements = new Set(['code', 'pre', 'kbd', 'samp']);
const ignored = 'data-snippets-ignore';
const islandDirective = 'server:component-directive';
// Shown until the island arrives: part of the page, not of the island.
const islandFallback = 'fallback';

const name = new RegExp(elementName, 'i');
const wholeName = new RegExp(`^${elementName}$`, 'i');
// A placeholder for an expression of a template that no source contains.
const hole = '\ue000';
const opening = new RegExp(`<${elementName}(?=[\\t\\n\\f\\r />${hole}])`, 'i');

interface Context {
  isExample: boolean;
  inIsland: boolean;
  /** Whether text is only searched for, or describes an error. */
  isOnlyNamed: boolean;
}

/** Finds out from the syntax tree whether a module writes the element, instead of only mentioning it. */
export function findWritten(program: SyntaxNode): WrittenEmbeds {
  const found: WrittenEmbeds = { written: [], passedToIsland: [], imports: [], isMentioned: false };
  const snippets = new Set<unknown>();

  const write = ({ start }: SyntaxNode, { isExample, inIsland, isOnlyNamed }: Context) => {
    if (isExample) return;
    if (isOnlyNamed) found.isMentioned = true;
    else (inIsland ? found.passedToIsland : found.written).push(start);
  };

  const visitText = (node: SyntaxNode, pieces: readonly SyntaxNode[], context: Context) => {
    const text = pieces.map(textOf).join(hole);
    const expressions = children(node, 'expressions');
    const examples = name.test(text) || text.includes('<') ? examplesIn(text) : new Set<number>();
    if (name.test(text)) {
      const { isWritten, isMentioned } = readHtml(text);
      if (isWritten) write(node, context);
      else if (isMentioned && !context.isExample) found.isMentioned = true;
    }
    for (const [number, expression] of expressions.entries()) {
      visit(expression, examples.has(number) ? { ...context, isExample: true } : context);
    }
  };

  const visitCall = (node: SyntaxNode, context: Context) => {
    const callee = calleeName(node);
    const given = children(node, 'arguments');
    const [first, ...others] = given;
    visit(child(node, 'callee'), context);
    if (creators.has(callee.replace(/^[_$]+/, ''))) {
      const named = given.slice(0, 3).map(textOf);
      if (named.some((text) => wholeName.test(text))) write(node, context);
      const isIsland = given.some((one) => hasKey(one, islandDirective));
      if (context.inIsland && given.some((one) => snippets.has(nameOf(one)))) write(node, context);
      const isExample =
        named.some((text) => codeElements.has(text)) || given.some((one) => hasKey(one, ignored));
      const inside = {
        ...context,
        isExample: context.isExample || isExample,
        inIsland: context.inIsland || isIsland,
      };
      for (const one of given) {
        if (wholeName.test(textOf(one))) continue;
        for (const part of isIsland && one.type === 'ObjectExpression'
          ? children(one, 'properties')
          : [one]) {
          visit(part, keyOf(part) === islandFallback ? context : inside);
        }
      }
    } else if (searches.has(callee)) {
      visit(first, { ...context, isOnlyNamed: true });
      for (const one of others) visit(one, context);
    } else {
      const isSaid = calleeObject(node) === 'console' || /Error$/.test(callee);
      for (const one of given) visit(one, isSaid ? { ...context, isOnlyNamed: true } : context);
    }
  };

  const visit = (node: SyntaxNode | undefined, context: Context): void => {
    if (node === undefined) return;
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ExportNamedDeclaration':
      case 'ExportAllDeclaration':
        if (textOf(child(node, 'source')) === components) found.imports.push(node.start);
        break;
      case 'FunctionDeclaration':
        // The source of a Markdown file, which Astro adds to its module: as a page it is shown as HTML.
        if (nameOf(child(node, 'id')) === 'rawContent') return;
        break;
      case 'Literal':
        visitText(node, [node], context);
        return;
      case 'TemplateLiteral':
        visitText(node, children(node, 'quasis'), context);
        return;
      case 'CallExpression':
      case 'NewExpression':
        visitCall(node, context);
        return;
      case 'JSXOpeningElement':
        if (wholeName.test(String(nameOf(child(node, 'name'))))) write(node, context);
        break;
      case 'BinaryExpression':
        visitParts(node, {
          ...context,
          isOnlyNamed: /^[!=]==?$/.test(String((node as { operator?: unknown }).operator)),
        });
        return;
      case 'SwitchCase':
        visit(child(node, 'test'), { ...context, isOnlyNamed: true });
        for (const one of children(node, 'consequent')) visit(one, context);
        return;
    }
    visitParts(node, context);
  };

  const visitParts = (node: SyntaxNode, context: Context) => {
    for (const part of Object.values(node)) {
      if (isNode(part)) visit(part, context);
      else if (Array.isArray(part)) for (const one of part) if (isNode(one)) visit(one, context);
    }
  };

  for (const declaration of children(program, 'body')) {
    if (declaration.type !== 'ImportDeclaration' || textOf(child(declaration, 'source')) !== components)
      continue;
    for (const specifier of children(declaration, 'specifiers'))
      snippets.add(nameOf(child(specifier, 'local')));
  }
  visit(program, { isExample: false, inIsland: false, isOnlyNamed: false });
  return found;
}

/** How HTML or text in a module uses the element. */
function readHtml(text: string): { isWritten: boolean; isMentioned: boolean } {
  const read = { isWritten: false, isMentioned: false };
  const look = (part: string, isExample: boolean, pattern = opening) => {
    if (isExample) return;
    if (pattern.test(part)) read.isWritten = true;
    else if (name.test(part)) read.isMentioned = true;
  };
  walkExamples(text, {
    onTag: (tag, isExample) => look(tag, isExample),
    onText: ({ start, end }, isExample) => look(text.slice(start, end), isExample),
  });
  return read;
}

/** The indexes of the expressions in an example: `<code>${text}</code>`. */
function examplesIn(text: string): Set<number> {
  const found = new Set<number>();
  let number = 0;
  let counted = 0;
  walkExamples(text, {
    onText({ start, end }, isExample) {
      const before = text.slice(counted, start).split(hole).length - 1;
      const inside = text.slice(start, end).split(hole).length - 1;
      if (isExample) for (let each = 0; each < inside; each += 1) found.add(number + before + each);
      number += before + inside;
      counted = end;
    },
  });
  return found;
}

function walkExamples(
  text: string,
  visitor: {
    onTag?(tag: string, isExample: boolean): void;
    onText(range: Range, isExample: boolean): void;
  },
): void {
  walk(text, false, {
    open({ name, start, end }, isExample) {
      const tag = text.slice(start, end);
      visitor.onTag?.(tag, isExample);
      return isExample || codeElements.has(name) || tag.includes(ignored);
    },
    text: (range, isExample) => visitor.onText(range, isExample),
    cut: (start, isExample) => visitor.onTag?.(text.slice(start), isExample),
  });
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string';
}

function child(node: SyntaxNode | undefined, key: string): SyntaxNode | undefined {
  const value = (node as Record<string, unknown> | undefined)?.[key];
  return isNode(value) ? value : undefined;
}

function children(node: SyntaxNode, key: string): SyntaxNode[] {
  const value = (node as unknown as Record<string, unknown>)[key];
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** The text of a string, or of a piece of a template. */
function textOf(node: SyntaxNode | undefined): string {
  const { value } = (node ?? {}) as { value?: unknown };
  if (typeof value === 'string') return value;
  const { cooked } = (value ?? {}) as { cooked?: unknown };
  return typeof cooked === 'string' ? cooked : '';
}

function nameOf(node: SyntaxNode | undefined): unknown {
  return (node as { name?: unknown } | undefined)?.name;
}

function calleeName(call: SyntaxNode): string {
  const callee = child(call, 'callee');
  // Bundlers write (0, jsx)(…).
  const called = callee?.type === 'SequenceExpression' ? children(callee, 'expressions').at(-1) : callee;
  return String(nameOf(called) ?? nameOf(child(called, 'property')) ?? '');
}

function calleeObject(call: SyntaxNode): unknown {
  return nameOf(child(child(call, 'callee'), 'object'));
}

function hasKey(node: SyntaxNode, key: string): boolean {
  return node.type === 'ObjectExpression' && children(node, 'properties').some((one) => keyOf(one) === key);
}

function keyOf(property: SyntaxNode): unknown {
  const key = child(property, 'key');
  return nameOf(key) ?? (key && textOf(key));
}
