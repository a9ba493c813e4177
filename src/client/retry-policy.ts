import type { Limits } from './limits.ts';
import type { Verdict } from './outcome.ts';

/** What follows a failed attempt. */
export type NextStep =
  | { kind: 'retry'; milliseconds: number }
  /** Ask the other variant, at once. */
  | { kind: 'fallback' }
  | { kind: 'give-up' };

export interface AttemptState {
  /** Failed attempts at this variant, the last one included. */
  failures: number;
  /** Whether there is another variant that was not asked yet. */
  hasFallback: boolean;
  /** Time left for this snippet, in milliseconds. */
  timeLeft: number;
  /** From 0 (included) to 1 (excluded). */
  random: number;
}

/** Decides what follows a failed attempt. Pure, so that the policy can be read and tested as a table. */
export function nextStep(verdict: Exclude<Verdict, 'use'>, state: AttemptState, limits: Limits): NextStep {
  if (verdict === 'end' || verdict === 'fail') return { kind: 'give-up' };
  if (verdict === 'elsewhere') return { kind: state.hasFallback ? 'fallback' : 'give-up' };
  if (state.failures >= limits.renderAttempts && state.hasFallback) return { kind: 'fallback' };
  const milliseconds = retryDelay(state.failures, state.random, limits);
  return milliseconds < state.timeLeft ? { kind: 'retry', milliseconds } : { kind: 'give-up' };
}

/**
 * How long to wait after the `failures`-th failure (1 is the first), in milliseconds. Full jitter, so that builds
 * which failed together do not come back together. The cap is applied before the jitter.
 */
export function retryDelay(
  failures: number,
  random: number,
  { retryBase, retryCap }: Pick<Limits, 'retryBase' | 'retryCap'>,
): number {
  return random * Math.min(retryCap, retryBase * 2 ** failures);
}

const seconds = /^[0-9]{1,15}$/;
// The one date format a server may send (RFC 9110, section 5.6.7). Date.parse would also accept "1" and "-5".
const httpDate =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/;

/**
 * Parses a `Retry-After` header (RFC 9110, section 10.2.3) as milliseconds from `now`. Returns `undefined` if it is
 * absent or invalid (negative, a fraction, garbage), and 0 for a date in the past.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const value = header?.trim() ?? '';
  if (seconds.test(value)) return Number(value) * 1000;
  if (!httpDate.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
