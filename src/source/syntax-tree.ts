type SyntaxParts = {
  [Name in
    | 'alternate'
    | 'argument'
    | 'callee'
    | 'consequent'
    | 'expression'
    | 'id'
    | 'init'
    | 'key'
    | 'left'
    | 'local'
    | 'property'
    | 'right'
    | 'source'
    | 'test']?: SyntaxNode | null;
};
type SyntaxLists = {
  [Name in
    | 'arguments'
    | 'declarations'
    | 'expressions'
    | 'properties'
    | 'quasis'
    | 'specifiers']?: SyntaxNode[];
};

/** A node of Vite's syntax tree (ESTree), with the parts that are read by name. */
export interface SyntaxNode extends SyntaxParts, SyntaxLists {
  type: string;
  /** Where the node is in the text of its module. */
  start: number;
  end: number;
  name?: unknown;
  value?: unknown;
  operator?: unknown;
  kind?: unknown;
  computed?: unknown;
}

/** Whether a part of a node is a node, too. */
export const isNode = (part: unknown): part is SyntaxNode =>
  typeof (part as SyntaxNode | null | undefined)?.type === 'string';

/** The nodes of a syntax tree, each before those in it. */
export function* nodesIn(node: SyntaxNode): Generator<SyntaxNode> {
  yield node;
  for (const part of Object.values(node).flat()) if (isNode(part)) yield* nodesIn(part);
}

/** The text of a literal or of a template's piece; empty for any other node. */
export function literalText(node?: SyntaxNode | null): string {
  const value = node?.value as { cooked?: unknown } | null | undefined;
  const text = value?.cooked ?? value;
  return typeof text === 'string' ? text : '';
}
