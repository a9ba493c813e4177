import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Time and randomness as the retry policy sees them. Passed in, because fake timers cover neither
 * `node:timers/promises` nor `AbortSignal.timeout`.
 */
export interface Clock {
  /** Milliseconds since the epoch; never runs backwards. */
  now(): number;
  /** A number from 0 (included) to 1 (excluded). */
  random(): number;
  /** Resolves after `milliseconds`, or 24 days if that is shorter. Rejects with the signal's reason when it is aborted. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

// In milliseconds: 24.8 days. A timer that is set to more fires at once.
const longestTimer = 2 ** 31 - 1;

/**
 * What to set a timer to, for a length of time that may come from a user. People write `30d` or `1y` for "no limit", so
 * it does not matter that the timer fires earlier. For every timer whose length is not a constant.
 */
export function timerLength(milliseconds: number): number {
  return Math.min(milliseconds, longestTimer);
}

export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  random: Math.random,
  async wait(milliseconds, signal) {
    try {
      await sleep(timerLength(milliseconds), undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      // Node wraps the reason in an AbortError of its own; callers compare with the reason they gave.
      throw signal?.aborted ? signal.reason : error;
    }
  },
};

/** Settles as `work` does, or rejects with the signal's reason as soon as it is aborted. */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
