import type { SnippetErrorCode } from '../../src/client/index.ts';

/** What becomes of a snippet however often it is asked for; `good` ones fail by chance alone. */
export type Kind =
  | 'good'
  | 'dead'
  | 'missing'
  | 'forbidden'
  | 'cut'
  | 'malformed'
  | 'reset'
  | 'silent'
  | 'huge';

// How any attempt may fail: its connection ends, or the service is out of order just then.
const byChance: readonly SnippetErrorCode[] = ['network', 'timeout', 'server-error'];

/**
 * What the retry policy promises for each kind: content if there is no code, else one of the codes. A snippet that is
 * asked for again and again fails with the code of its last attempt.
 */
export const promised: Readonly<Record<Kind, readonly SnippetErrorCode[]>> = {
  good: [],
  dead: byChance,
  missing: ['not-found'],
  forbidden: ['forbidden'],
  cut: byChance,
  malformed: ['bad-answer', ...byChance],
  reset: byChance,
  silent: byChance,
  huge: ['too-large'],
};

const kinds = Object.keys(promised) as Kind[];
const idsOfAKind = 10_000;

/** @param number from 1 to 9,999. */
export function idOf(kind: Kind, number: number): number {
  return kinds.indexOf(kind) * idsOfAKind + number;
}

export function kindOf(id: number): Kind {
  return kinds[Math.floor(id / idsOfAKind)] ?? 'missing';
}

/** The same for each id: a few bytes for most, 100 kB for some. */
export function contentOf(id: number): string {
  const length = id % 50 === 0 ? 3_000 : id % 7;
  return `<p>Snippet ${id}: Grüße & more</p>${'<b>“quoted”</b> and then some more.\n'.repeat(length)}`;
}
