import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Time and chance as the retry policy sees them. The client takes one as an argument, because fake timers
 * cover neither `node:timers/promises` nor `AbortSignal.timeout`: a test passes a clock of its own.
 */
export interface Clock {
  /** Milliseconds since the epoch; never runs backwards. */
  now(): number;
  /** A number from 0 (included) to 1 (excluded). */
  random(): number;
  /** Resolves after `milliseconds`; rejects with the signal's reason when it is aborted before. */
  wait(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  random: Math.random,
  async wait(milliseconds, signal) {
    try {
      await sleep(milliseconds, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      // Node wraps the reason in an AbortError of its own; callers compare with the reason they gave.
      throw signal?.aborted ? signal.reason : error;
    }
  },
};
