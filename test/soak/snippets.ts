import type { SnippetErrorCode } from '../../src/client/index.ts';

/** What becomes of a snippet however often it is asked for; `good` ones fail by chance alone. */
export type Kind = 'good' | 'dead' | 'missing';

/** What the retry policy promises for each kind: content if there is no code, else one of the codes. */
export const promised: Readonly<Record<Kind, readonly SnippetErrorCode[]>> = {
  good: [],
  // Its last attempt may end with its connection.
  dead: ['server-error', 'network', 'timeout'],
  missing: ['not-found'],
};

/** Of twenty snippets, one is dead and one is missing. */
export function kindOf(id: number): Kind {
  return id % 20 === 1 ? 'dead' : id % 20 === 2 ? 'missing' : 'good';
}

/** The same for each id: a few bytes for most, 100 kB for some. */
export function contentOf(id: number): string {
  const length = id % 50 === 0 ? 3_000 : id % 7;
  return `<p>Snippet ${id}: Grüße & more</p>${'<b>“quoted”</b> and then some more.\n'.repeat(length)}`;
}
