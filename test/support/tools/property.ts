import fc from 'fast-check';

/**
 * Says how often a property is tried. `PROPERTY_RUNS=100 npx vitest run test/embed/layers.test.ts` tries it
 * 100 times as often.
 */
export function runs(usual: number): number {
  return Math.ceil(usual * Number(process.env['PROPERTY_RUNS'] ?? 1));
}

/** Draws one of the words of a text, or one of the other strings. */
export function oneOf(words: string, ...others: string[]): fc.Arbitrary<string> {
  return fc.constantFrom(...words.trim().split(/\s+/), ...others);
}
