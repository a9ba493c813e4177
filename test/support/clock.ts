import type { Clock } from '../../src/client/clock.ts';

export interface TestClock extends Clock {
  /** The waits that were asked for, in milliseconds, in the order in which they were. */
  readonly waits: number[];
}

const start = Date.parse('2026-01-01T00:00:00Z');

/** A clock on which every wait is over at once, and has taken its time all the same. For one wait at a time. */
export function instantClock({ random = 0.5 } = {}): TestClock {
  let now = start;
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

interface Waiter {
  at: number;
  wake(): void;
}

/**
 * A clock for many who wait at once: when nothing else has happened for a moment, it is the time at which the
 * first of them is to wake.
 */
export function virtualClock({
  random = Math.random,
  quietFor = 2,
} = {}): TestClock & { advanced(): number } {
  let now = start;
  const waits: number[] = [];
  const waiting = new Set<Waiter>();
  let pump: NodeJS.Timeout | undefined;
  const wakeFirst = () => {
    pump = undefined;
    const first = [...waiting].sort((a, b) => a.at - b.at)[0];
    if (first === undefined) return;
    now = Math.max(now, first.at);
    first.wake();
    schedule();
  };
  const schedule = () => {
    clearTimeout(pump);
    pump = waiting.size > 0 ? setTimeout(wakeFirst, quietFor) : undefined;
  };
  return {
    waits,
    now: () => now,
    random,
    advanced: () => now - start,
    wait(milliseconds, signal) {
      waits.push(milliseconds);
      return new Promise((resolve, reject) => {
        const leave = () => {
          waiting.delete(waiter);
          signal?.removeEventListener('abort', abort);
        };
        const abort = () => {
          leave();
          reject(signal?.reason);
        };
        const waiter: Waiter = {
          at: now + milliseconds,
          wake() {
            leave();
            resolve();
          },
        };
        if (signal?.aborted) return abort();
        signal?.addEventListener('abort', abort);
        waiting.add(waiter);
        return schedule();
      });
    },
  };
}
