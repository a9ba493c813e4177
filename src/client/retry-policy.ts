import type { Limits } from './limits.ts';
import type { Verdict } from './outcome.ts';

/** How one endpoint (a variant at its origin) has treated a snippet so far, and how it treats the others. */
export interface EndpointView {
  /**
   * - `open`: it may be asked.
   * - `held`: it asked to wait.
   * - `down`: nothing arrives; it is probed until it responds.
   * - `given-up`: it has been down for too long.
   */
  status: 'open' | 'held' | 'down' | 'given-up';
  /** Whether it has ever answered a request. */
  hasAnswered: boolean;
  /** This snippet's failed attempts. */
  failures: number;
  /** Those that say something about the snippet: made while the endpoint answered others, or nothing is known yet. */
  counted: number;
  /** The share of attempts that fail even for snippets that arrive in the end; `undefined` if none has arrived. */
  failureShare: number | undefined;
}

/** Where an attempt goes. Views are in the order of preference: variant B, then variant A. */
export interface Route {
  kind: 'ask' | 'wait' | 'refuse';
  /** The endpoint to ask, or the one that is wanted most. */
  index: number;
}

/**
 * Decides which endpoint the next attempt asks.
 *
 * @param views one or two; an endpoint without a route for the snippet is left out.
 * @param leavesFirst whether the run has given up variant B.
 */
export function chooseRoute(
  views: readonly EndpointView[],
  leavesFirst: boolean,
  limits: Pick<Limits, 'renderAttempts'>,
): Route {
  const wanted = preferred(views, leavesFirst, limits);
  const other = views.length > 1 ? 1 - wanted : wanted;
  const status = views[wanted]?.status;
  if (status === 'open') return { kind: 'ask', index: wanted };
  if (status === 'held') return { kind: 'wait', index: wanted };
  // A variant that fails for every snippet is not waited for if the other one may respond.
  if (views[other]?.status === 'open') return { kind: 'ask', index: other };
  if (views.every((view) => view.status === 'given-up')) return { kind: 'refuse', index: wanted };
  return { kind: 'wait', index: wanted };
}

function preferred(
  [first, second]: readonly EndpointView[],
  leavesFirst: boolean,
  { renderAttempts }: Pick<Limits, 'renderAttempts'>,
): number {
  if (first === undefined || second === undefined) return 0;
  return leavesFirst || first.failures >= renderAttempts ? 1 : 0;
}

/** How likely it may be that a snippet is given up although it would have arrived. */
const chanceOfLoss = 1e-6;

/** How likely it may be that a working endpoint counts as down. Being wrong costs a moment and loses nothing. */
const chanceOfFalseAlarm = 1e-3;

/**
 * The share of attempts that fail, from a few of them. Without any it is one half: a single success proves little.
 *
 * @returns more than 0 and less than 1.
 */
export function failureShare(succeeded: number, failed: number): number {
  return (failed + 1) / (succeeded + failed + 2);
}

/**
 * Whether a snippet has failed more often than chance explains, judged by the failures of the snippets that arrived.
 * An endpoint from which nothing has arrived says nothing; if that is all there is, the number of attempts decides.
 *
 * @param attempts those that say something about the snippet.
 */
export function isBeyondChance(
  views: readonly EndpointView[],
  attempts: number,
  limits: Pick<Limits, 'attempts'>,
): boolean {
  if (attempts < limits.attempts) return false;
  const known = views.filter(({ failureShare: share }) => share !== undefined);
  if (known.length === 0) return true;
  // The worse of two shares: the one with fewer requests may owe it to those that have not arrived yet.
  const share = Math.max(...known.map((view) => view.failureShare ?? 0));
  const counted = known.reduce((sum, view) => sum + view.counted, 0);
  return share ** counted < chanceOfLoss;
}

/**
 * How many snippets have to fail in a row, at their first attempt, before an endpoint counts as down: so many that it
 * is not chance, given how many of the first attempts before them failed.
 */
export function streakLimit(
  answered: number,
  failed: number,
  { downAfter }: Pick<Limits, 'downAfter'>,
): number {
  return answered === 0 ? downAfter : Math.max(downAfter, beyondChance(failureShare(answered, failed)));
}

/** How many requests in a row fail by chance at most, if such a share of them fails. */
export function beyondChance(share: number): number {
  return Math.ceil(Math.log(chanceOfFalseAlarm) / Math.log(share));
}

/** What follows a failed attempt. */
export type NextStep =
  | { kind: 'retry'; milliseconds: number }
  /** Ask the other variant, at once. */
  | { kind: 'fallback' }
  | { kind: 'give-up' };

export interface AttemptState {
  /** How the endpoints that may still be asked have treated the snippet, the last failure included. */
  views: readonly EndpointView[];
  /** The index of the endpoint that failed; -1 if it has no route for the snippet. */
  failed: number;
  /** Requests made for this snippet. */
  attempts: number;
  /** Those of them that say nothing about the snippet, because the endpoint was down. */
  uncounted: number;
  /** Where the next attempt would go. */
  next: Route;
  /** Whether the run has given up variant B. */
  leavesFirst: boolean;
  /** Whether other snippets arrive at present. */
  isAlive: boolean;
  /** Time left for this snippet, in milliseconds. */
  timeLeft: number;
  /** From 0 (included) to 1 (excluded). */
  random: number;
}

/** Decides what follows a failed attempt. Pure, so that the policy can be read and tested as a table. */
export function nextStep(verdict: Exclude<Verdict, 'use'>, state: AttemptState, limits: Limits): NextStep {
  const { views, failed, attempts, uncounted, next, timeLeft } = state;
  if (verdict === 'end' || verdict === 'fail' || views.length === 0) return { kind: 'give-up' };
  if (verdict === 'elsewhere') return { kind: attempts < limits.mostAttempts ? 'fallback' : 'give-up' };
  if (isBeyondChance(views, attempts - uncounted, limits) && !mayReturn(state)) return { kind: 'give-up' };
  if (attempts >= limits.mostAttempts || timeLeft <= 0) return { kind: 'give-up' };
  if (next.kind === 'ask' && next.index !== failed && views[next.index]?.failures === 0) {
    return { kind: 'fallback' };
  }
  const cap = state.isAlive ? limits.retryCap : limits.outageCap;
  const failures = views[failed]?.failures ?? 0;
  const milliseconds = retryDelay(failures, state.random, { ...limits, cap });
  return milliseconds < timeLeft ? { kind: 'retry', milliseconds } : { kind: 'give-up' };
}

/** Whether an endpoint that is down now may serve the snippet later. */
function mayReturn({ views, leavesFirst }: AttemptState): boolean {
  const isKnown = views.some(({ hasAnswered }) => hasAnswered);
  return views.some(
    ({ status, hasAnswered }, index) =>
      status === 'down' && (hasAnswered || !isKnown) && !(leavesFirst && index === 0 && views.length > 1),
  );
}

/**
 * How long to wait after the `failures`-th failure (1 is the first), in milliseconds. Full jitter, so that builds
 * which failed together do not come back together. The cap is applied before the jitter.
 */
export function retryDelay(
  failures: number,
  random: number,
  { retryBase, cap }: Pick<Limits, 'retryBase'> & { cap: number },
): number {
  return random * Math.min(cap, retryBase * 2 ** failures);
}

/** How long to wait before the next probe of an endpoint that is down, after so many probes that failed. */
export function probeDelay(
  probes: number,
  random: number,
  { retryBase, outageCap }: Pick<Limits, 'retryBase' | 'outageCap'>,
): number {
  // Half of it is certain: full jitter would make more requests than the number of probes is meant to allow.
  return (0.5 + random / 2) * Math.min(outageCap, retryBase * 2 ** (probes + 1));
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
