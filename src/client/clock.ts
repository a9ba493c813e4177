import { setTimeout as sleep } from 'node:timers/promises';

/** Passed in, as fake timers do not cover `node:timers/promises`. */
export interface Clock {
  /** Milliseconds since the epoch. Never runs backwards. */
  now(): number;
  /** A number from 0 (included) to 1 (excluded). */
  random(): number;
  /** Rejects with the signal's reason when it is aborted. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

// 24.8 days. Set to more, a timer fires at once.
const longestTimer = 2 ** 31 - 1;

/** For timers of any length: people write `1y` for "no limit". */
export const timerLength = (milliseconds: number): number => Math.min(milliseconds, longestTimer);

export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  random: Math.random,
  // Node wraps the reason, with which callers compare.
  wait: (milliseconds, signal = AbortSignal.any([])) =>
    unlessAborted(signal, sleep(timerLength(milliseconds), undefined, { signal })),
};

/** Settles as `work` does, or rejects with the signal's reason. */
export const unlessAborted = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
