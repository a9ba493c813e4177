import type { Clock } from '../../src/client/clock.ts';

export interface InstantClock extends Clock {
  /** The waits that were asked for, in milliseconds. */
  readonly waits: number[];
}

/** A clock on which every wait is over at once, and has taken its time all the same. */
export function instantClock({ random = 0.5 } = {}): InstantClock {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const waits: number[] = [];
  return {
    waits,
    now: () => now,
    random: () => random,
    async wait(milliseconds, signal) {
      signal?.throwIfAborted();
      waits.push(milliseconds);
      now += milliseconds;
      // A macrotask, so that a loop of waits cannot starve the rest of the test.
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
    },
  };
}
