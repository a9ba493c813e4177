/**
 * How often a property is tried. For as long as one likes: PROPERTY_RUNS=100 npx vitest run test/embed/layers.test.ts tries
 * it 100 times as often.
 */
export function runs(usual: number): number {
  return Math.ceil(usual * Number(process.env['PROPERTY_RUNS'] ?? 1));
}
