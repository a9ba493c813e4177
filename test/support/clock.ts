import { EventEmitter, once } from 'node:events';
import type { Clock } from '../../src/client/clock.ts';

export interface TestClock extends Clock {
  /** The waits that were requested, in milliseconds, in order. */
  readonly waits: number[];
}

const start = Date.parse('2026-01-01T00:00:00Z');

/** A clock on which every wait ends at once and advances the time. For one wait at a time. */
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

/** A wait that has begun. */
export interface Wait {
  at: number;
  end(): void;
}

/** Adds a wait to those that a clock ends at their time. Like the clock, it ends early if its signal is aborted. */
export function beginWait(waiting: Set<Wait>, at: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const leave = () => {
      waiting.delete(wait);
      signal?.removeEventListener('abort', abort);
    };
    const abort = () => {
      leave();
      reject(signal?.reason);
    };
    const wait: Wait = {
      at,
      end() {
        leave();
        resolve();
      },
    };
    signal?.addEventListener('abort', abort);
    return waiting.add(wait);
  });
}

// In turns of the event loop: how long time stands still for an expected wait that does not begin. A pause of the whole
// process is one turn, however long it is.
const longestStandstill = 100;

/**
 * A clock for many waits at once. When nothing has happened for a moment, the time advances to the end of the first wait.
 *
 * @param sleepers how many waits are expected before the time advances. A response in flight is then received at the
 * time at which it was sent, however slow the machine is.
 */
export function virtualClock({
  random = Math.random,
  quietFor = 2,
  sleepers = () => 0,
}: {
  random?: () => number;
  quietFor?: number;
  sleepers?: () => number;
} = {}): TestClock & { advanced(): number } {
  let now = start;
  const waits: number[] = [];
  const waiting = new Set<Wait>();
  let pump: NodeJS.Timeout | undefined;
  let idleTurns = 0;
  const endFirst = () => {
    pump = undefined;
    if (waiting.size < sleepers() && idleTurns++ < longestStandstill) return schedule();
    const first = [...waiting].sort((a, b) => a.at - b.at)[0];
    if (first === undefined) return;
    now = Math.max(now, first.at);
    first.end();
    schedule();
  };
  const schedule = () => {
    clearTimeout(pump);
    pump = waiting.size > 0 ? setTimeout(endFirst, quietFor) : undefined;
  };
  return {
    waits,
    now: () => now,
    random,
    advanced: () => now - start,
    wait(milliseconds, signal) {
      waits.push(milliseconds);
      idleTurns = 0;
      const ended = beginWait(waiting, now + milliseconds, signal);
      schedule();
      return ended;
    },
  };
}

export interface SteppedClock extends Clock {
  /** Resolves with the first wait, as soon as there is one. */
  waiting(): Promise<Wait>;
}

/** A clock on which nothing but a test ends a wait, at the time that was waited for. */
export function steppedClock({ random = 0.5 } = {}): SteppedClock {
  let now = start;
  const waits = new Set<Wait>();
  const began = new EventEmitter();
  return {
    now: () => now,
    random: () => random,
    async wait(milliseconds, signal) {
      const at = now + milliseconds;
      const ended = beginWait(waits, at, signal);
      began.emit('wait');
      await ended;
      now = Math.max(now, at);
    },
    async waiting() {
      for (;;) {
        const [first] = waits;
        if (first !== undefined) return first;
        await once(began, 'wait');
      }
    },
  };
}
