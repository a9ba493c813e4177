import { expect, test } from 'vitest';
import { progressLogger } from '../../src/build/summary.ts';

test('a build logs its progress every five seconds while it fetches', () => {
  let now = 0;
  const lines: string[] = [];
  const onSettled = progressLogger(
    900,
    (line) => lines.push(line),
    () => now,
  );
  for (let second = 1; second <= 12; second++) {
    now = second * 1000;
    onSettled(second * 10);
  }
  expect(lines).toEqual(['50 of 900 snippets', '100 of 900 snippets']);
});
