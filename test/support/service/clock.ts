import { EventEmitter, once } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Clock } from '../../../src/client/clock.ts';

/** A clock whose waits take no real time. */
export interface TestClock extends Clock {
  /** The requested waits in milliseconds, in order. */
  readonly waits: number[];
}

const start = Date.parse('2026-01-01T00:00:00Z');

/** Makes a clock on which each wait ends at once and advances the time. There can be one wait at a time. */
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
      // A macrotask lets the rest of the test run: a loop of waits would starve it.
      await setImmediate();
      signal?.throwIfAborted();
    },
  };
}

/** A wait that has begun. */
export interface Wait {
  /** When the wait ends, in milliseconds since the epoch. */
  at: number;
  end(): void;
}

/** Adds a wait to the waits of a clock. A wait ends early if its signal is aborted. */
function beginWait(waiting: Set<Wait>, at: number, signal: AbortSignal | undefined): Promise<void> {
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

/**
 * Makes a clock for many waits at once. After a quiet moment, the time advances to the end of the next wait.
 *
 * @param quietFor the length of a quiet moment, in milliseconds. 0 means two turns of the event loop, if
 * nothing else is waited for.
 * @param step how far the time advances with each reading, in milliseconds. Waits then end like Node's
 * timers, which ignore fractions of a millisecond.
 */
export function virtualClock({
  random = Math.random,
  quietFor = 2,
  step = 0,
} = {}): TestClock & { advanced(): number } {
  let now = start;
  const waits: number[] = [];
  const waiting = new Set<Wait>();
  let last = 0;
  const advance = async () => {
    last += 1;
    const mine = last;
    if (quietFor > 0) await setTimeout(quietFor);
    // Work that the last wait started may continue in the next turns.
    else for (let turn = 0; turn < 2; turn += 1) await setImmediate();
    if (mine !== last || waiting.size === 0) return;
    let next = Number.POSITIVE_INFINITY;
    for (const { at } of waiting) next = Math.min(next, at);
    now = Math.max(now, next);
    for (const wait of [...waiting]) if (wait.at === next) wait.end();
    void advance();
  };
  const lengthOf = (milliseconds: number) => (step === 0 ? milliseconds : Math.trunc(milliseconds) || 1);
  return {
    waits,
    now() {
      now += step;
      return now;
    },
    random,
    advanced: () => now - start,
    wait(milliseconds, signal) {
      waits.push(milliseconds);
      const ended = beginWait(waiting, now + Math.max(0, lengthOf(milliseconds)), signal);
      void advance();
      return ended;
    },
  };
}

/** A clock whose waits the test ends. */
export interface SteppedClock extends Clock {
  /** Resolves with the first wait when there is one. */
  waiting(): Promise<Wait>;
}

/** Makes a clock on which only the test ends a wait. The time then advances to the end of the wait. */
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
