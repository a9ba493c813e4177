import { describe, expect, test } from 'vitest';
import { nextPace } from '../../src/client/pace.ts';
import { chooseIds, simulate } from './simulation.ts';

test.for([
  // requests at once so far, outcome, the most, requests at once from then on
  [20, 'answered', 100, 21],
  [99, 'answered', 100, 100],
  [100, 'answered', 100, 100],
  [100, 'failed', 100, 50],
  [55, 'failed', 100, 27],
  [30, 'failed', 100, 20],
  [20, 'failed', 100, 20],
  [3, 'answered', 3, 3],
  [3, 'failed', 3, 3],
  [100, 'answered', 20, 20],
  [100, 'failed', 20, 20],
  [20, 'answered', Number.POSITIVE_INFINITY, 21],
] as const)(
  '%i requests at once become, after one that is %s and with a limit of %s, %i',
  ([pace, outcome, most, next]) => {
    expect(nextPace(pace, outcome, most)).toBe(next);
  },
);

describe('a client', () => {
  const { ids } = chooseIds(1_000, 0, 1);

  test('makes 20 requests at once at first and 100 soon', async () => {
    const underWay: number[] = [];
    const { most, milliseconds } = await simulate({
      ids,
      behaviour: ({ at }) => {
        underWay[at] = (underWay[at] ?? 0) + 1;
        return 'good';
      },
    });
    expect(underWay.slice(0, 41).filter((count) => count > 0)).toEqual([20, 40, 80]);
    expect(most).toBe(100);
    // 1,000 snippets at 20 ms, 20 at a time, would take a second.
    expect(milliseconds).toBeLessThan(300);
  });

  test('makes fewer requests at once while a service refuses what is too much for it', async () => {
    const starts: number[] = [];
    let most = 0;
    const { failed, requests } = await simulate({
      ids,
      behaviour: ({ at }) => {
        starts.push(at);
        const underWay = starts.filter((start) => start > at - 20).length;
        most = Math.max(most, underWay);
        return underWay <= 40 ? 'good' : 503;
      },
    });
    expect(failed.size).toBe(0);
    expect(most).toBeLessThan(100);
    // 1,851 if a failure changed nothing.
    expect(requests.render).toBeLessThan(1_500);
  });
});
