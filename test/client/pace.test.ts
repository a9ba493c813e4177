import { describe, expect, test } from 'vitest';
import { chooseIds, simulate } from './simulation.ts';

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

  test('makes fewer requests at once while a service is overloaded', async () => {
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
    // 1,851 if failures did not slow the client down.
    expect(requests.render).toBeLessThan(1_500);
  });
});
