/** Time and random numbers. Tests pass their own, to run hours in milliseconds and to repeat a run. */
export interface Clock {
  /** Milliseconds since the epoch. Never runs backwards. */
  now(): number;
  /** A number from 0 (included) to 1 (excluded). */
  random(): number;
  /** Resolves after so many milliseconds. Rejects with the signal's reason when it is aborted. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** The longest time that Node's timers take: 24.8 days. A timer that is set to more fires at once. */
const longestTimer = 2 ** 31 - 1;

/** Shortens a time, in milliseconds, to what a timer can wait: people write `1y` for "no limit". */
export const timerLength = (milliseconds: number): number => Math.min(milliseconds, longestTimer);

/** The real clock, which everything but tests uses. */
export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  random: Math.random,
  // Timers of `node:timers/promises` would wrap the signal's reason, which callers compare. Workers lack them.
  async wait(milliseconds, signal = AbortSignal.any([])) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, timerLength(milliseconds));
    try {
      await unlessAborted(signal, promise);
    } finally {
      clearTimeout(timer);
    }
  },
};

/** Calls back at the next turn of the event loop. Some workers have no `setImmediate`. */
export function onNextTurn(callback: () => void): void {
  if (typeof setImmediate === 'function') setImmediate(callback);
  else setTimeout(callback, 0);
}

/** Settles as `work` does, or rejects with the signal's reason as soon as the signal is aborted. */
export const unlessAborted = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
