import type { Rolldown } from 'vite';
import { isNode, literalText, nodesIn, type SyntaxNode } from './syntax-tree.ts';

/** The property that is true while a build prerenders a page: `Astro.isPrerendered`. */
const guardName = 'isPrerendered';

/**
 * Tells which parts of a module run only for prerendered pages, such as what follows `Astro.isPrerendered &&`.
 * An embed there is never rendered on demand.
 */
export class PrerenderGuards {
  /** The constants that hold the property, such as `const isStatic = Astro.isPrerendered`. */
  readonly #constants: Set<string> = new Set();

  constructor(program: SyntaxNode) {
    for (const { kind, declarations = [] } of nodesIn(program)) {
      if (kind !== 'const') continue;
      for (const { id, init } of declarations) this.#noteConstant(id, init);
    }
  }

  /** The part of a node that runs only for prerendered pages; `undefined` if there is none. */
  partOf({ type, operator, left, right, test, consequent, alternate }: SyntaxNode): SyntaxNode | undefined {
    if (type === 'LogicalExpression' && left) {
      const isGuarded =
        operator === '&&' ? this.#isTrueFor(left) : operator === '||' && this.#isFalseFor(left);
      return (isGuarded && right) || undefined;
    }
    if ((type === 'ConditionalExpression' || type === 'IfStatement') && test) {
      return (this.#isTrueFor(test) && consequent) || (this.#isFalseFor(test) && alternate) || undefined;
    }
    return undefined;
  }

  #noteConstant(id: SyntaxNode | null | undefined, init: SyntaxNode | null | undefined) {
    if (id?.type === 'Identifier' && init && this.#isTrueFor(init)) this.#constants.add(String(id.name));
    for (const { key, value } of id?.properties ?? []) {
      const { name } = (value ?? {}) as { name?: unknown };
      if (key?.name === guardName && typeof name === 'string') this.#constants.add(name);
    }
  }

  /** Whether an expression is true for prerendered pages alone. */
  #isTrueFor(test: SyntaxNode): boolean {
    const { type, operator, left, right, argument, expression, property, name, computed } = test;
    if (expression && wrappers.has(type)) return this.#isTrueFor(expression);
    if (type === 'MemberExpression') return !computed && property?.name === guardName;
    if (type === 'Identifier') return this.#constants.has(String(name));
    if (type === 'UnaryExpression' && operator === '!' && argument) return this.#isFalseFor(argument);
    if (type !== 'LogicalExpression' || operator !== '&&' || !left || !right) return false;
    return this.#isTrueFor(left) || this.#isTrueFor(right);
  }

  /** Whether an expression is false for prerendered pages alone. */
  #isFalseFor(test: SyntaxNode): boolean {
    const { type, operator, left, right, argument, expression } = test;
    if (expression && wrappers.has(type)) return this.#isFalseFor(expression);
    if (type === 'UnaryExpression' && operator === '!' && argument) return this.#isTrueFor(argument);
    if (type !== 'LogicalExpression' || operator !== '||' || !left || !right) return false;
    return this.#isFalseFor(left) || this.#isFalseFor(right);
  }
}

/** Nodes that have the value of the expression in them. */
const wrappers = new Set(['ParenthesizedExpression', 'ChainExpression']);

/** Whether a module uses what it imports from another one only where pages are prerendered. */
export async function isGuardedImport(
  context: Rolldown.PluginContext,
  importer: string,
  imported: string,
): Promise<boolean> {
  const code = context.getModuleInfo(importer)?.code;
  if (!code?.includes(guardName)) return false;
  const program = context.parse(code) as unknown as SyntaxNode;
  const sources = new Set([...nodesIn(program)].map(({ source }) => literalText(source)));
  const unguarded = unguardedImports(program);

  let isGuarded = false;
  for (const source of sources) {
    if (source === '' || (await context.resolve(source, importer))?.id !== imported) continue;
    if (unguarded.has(source)) return false;
    isGuarded = true;
  }
  return isGuarded;
}

/**
 * The sources from which a module imports something that it uses also where pages are rendered on demand.
 * Leaves out an import of which each use is guarded, and one that is not used.
 */
export function unguardedImports(program: SyntaxNode): ReadonlySet<string> {
  const guards = new PrerenderGuards(program);
  const unguarded = new Set<string>();
  // The source of each imported name. Imports may stand below what uses them.
  const sources = new Map<unknown, string>();
  for (const { type, source, specifiers = [] } of nodesIn(program)) {
    if (type !== 'ImportDeclaration') continue;
    for (const { local } of specifiers) sources.set(local?.name, literalText(source));
  }

  const visit = (node: SyntaxNode) => {
    if (node.type === 'ImportDeclaration') return;
    const imported = node.type === 'Identifier' && sources.get(node.name);
    if (imported) unguarded.add(imported);
    // What is exported again, or imported dynamically.
    if (node.source) unguarded.add(literalText(node.source));

    const guarded = guards.partOf(node);
    for (const part of Object.values(node).flat()) if (isNode(part) && part !== guarded) visit(part);
  };
  visit(program);
  return unguarded;
}
