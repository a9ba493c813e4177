import type { Verdict } from './answer.ts';
import type { Limits } from './limits.ts';

/**
 * Whether an endpoint (a variant at its origin) may be asked.
 *
 * - `open`: it may.
 * - `held`: it asked to wait.
 * - `doubted`: a witness finds out whether it answers anyone.
 * - `down`: it answers no one; one witness at a time asks.
 * - `given-up`: it has answered no one for too long.
 */
export type EndpointStatus = 'open' | 'held' | 'doubted' | 'down' | 'given-up';

/** How an endpoint has treated a snippet so far, and how it treats the others. */
export interface Way {
  readonly endpoint: {
    status(now: number): EndpointStatus;
    /** The share of attempts that fail even for snippets that arrive in the end; `undefined` if none has arrived. */
    readonly failureShare: number | undefined;
  };
  /** This snippet's failed attempts. */
  failures: number;
  /** Those that say something about the snippet: made while others arrived. */
  counted: number;
}

/**
 * Chooses the way for the next attempt: whom to ask, or to wait for.
 *
 * @param ways one or two, in the order of preference: variant B, then variant A.
 * @param leavesFirst whether the run has given up variant B.
 */
export function route<W extends Way>(ways: readonly W[], now: number, leavesFirst: boolean): W {
  const [first, second] = ways as readonly [W, W?];
  if (second === undefined) return first;
  const leaves = leavesFirst || first.failures >= renderAttempts;
  const [wanted, other] = leaves ? [second, first] : [first, second];
  // A variant that fails for every snippet is not waited for if the other one may respond.
  const isClosed = ['down', 'given-up'].includes(wanted.endpoint.status(now));
  return isClosed && other.endpoint.status(now) === 'open' ? other : wanted;
}

/** Failed attempts at variant B before variant A is asked. */
const renderAttempts = 2;

/** How likely it may be that a snippet is given up although it would have arrived. */
const chanceOfLoss = 1e-6;

/** How likely it may be that a working endpoint counts as down. Being wrong costs a moment and loses nothing. */
const chanceOfFalseAlarm = 1e-3;

/** The share of attempts that fail, from a few of them. Without any it is one half: a single success proves little. */
export function failureShare(succeeded: number, failed: number): number {
  return (failed + 1) / (succeeded + failed + 2);
}

/**
 * How many snippets have to fail in a row, at their first attempt, before an endpoint counts as down: so many that it is
 * not chance, given how many of the first attempts before them failed.
 */
export function rowLimit(answered: number, failed: number, { downAfter }: Pick<Limits, 'downAfter'>): number {
  return answered === 0 ? downAfter : Math.max(downAfter, beyondChance(failureShare(answered, failed)));
}

/**
 * How many witnesses have to fail before an endpoint counts as down, given how often the snippets that arrived had failed
 * before. One that has never answered may not exist.
 */
export function witnessLimit(share: number | undefined): number {
  return share === undefined ? 1 : beyondChance(share);
}

/** How many requests fail in a row by chance at most, if such a share of them fails. */
function beyondChance(share: number): number {
  return Math.ceil(Math.log(chanceOfFalseAlarm) / Math.log(share));
}

export interface AttemptState {
  /** Those that may still be taken, as they are after the last failure. */
  ways: readonly Way[];
  failed: Way;
  /** Attempts that say something about the snippet. */
  counted: number;
  /** Whether the run has given up variant B. */
  leavesFirst: boolean;
  /** Whether other snippets arrive at present. */
  isAlive: boolean;
  /** Time left for this snippet, in milliseconds. */
  timeLeft: number;
  /** From 0 (included) to 1 (excluded). */
  random: number;
  now: number;
}

/**
 * Decides what follows a failed attempt. Pure, so that the policy can be read and tested as a table.
 *
 * @returns how long to wait before the next attempt, in milliseconds; `undefined` if there is none.
 */
export function nextWait(verdict: Verdict, state: AttemptState, limits: Limits): number | undefined {
  const { ways, failed, leavesFirst, timeLeft, now } = state;
  if (verdict === 'end' || verdict === 'fail' || ways.length === 0 || timeLeft <= 0) return undefined;
  if (verdict === 'elsewhere') return 0;
  if (isBeyondChance(state, limits) && !mayReturn(state)) return undefined;
  const next = route(ways, now, leavesFirst);
  if (next !== failed && next.endpoint.status(now) === 'open' && next.failures === 0) return 0;
  const cap = state.isAlive ? limits.retryCap : limits.outageCap;
  // Full jitter, so that builds which failed together do not come back together. The cap is applied before it.
  const milliseconds = state.random * Math.min(cap, limits.retryBase * 2 ** failed.failures);
  return milliseconds < timeLeft ? milliseconds : undefined;
}

/**
 * Whether a snippet has failed more often than chance explains, judged by the failures of the snippets that arrived.
 * An endpoint from which nothing has arrived says nothing; if that is all there is, the number of attempts decides.
 */
function isBeyondChance({ ways, counted }: AttemptState, { attempts }: Pick<Limits, 'attempts'>): boolean {
  if (counted < attempts) return false;
  const known = ways.filter(({ endpoint }) => endpoint.failureShare !== undefined);
  if (known.length === 0) return true;
  // The worse of two shares: the one with fewer requests may owe it to those that have not arrived yet.
  const share = Math.max(...known.map(({ endpoint }) => endpoint.failureShare ?? 0));
  return share ** known.reduce((sum, way) => sum + way.counted, 0) < chanceOfLoss;
}

/** Whether an endpoint that is down now may serve the snippet later. */
function mayReturn({ ways, leavesFirst, now }: AttemptState): boolean {
  const isKnown = ways.some(({ endpoint }) => endpoint.failureShare !== undefined);
  return ways.some(
    ({ endpoint }, index) =>
      endpoint.status(now) === 'down' &&
      (endpoint.failureShare !== undefined || !isKnown) &&
      !(leavesFirst && index === 0 && ways.length > 1),
  );
}

/**
 * How long after a witness the next one asks, in milliseconds, once so many have failed. Half of it is certain: full
 * jitter would make more requests than is meant.
 */
export function witnessDelay(
  failed: number,
  random: number,
  { retryBase, outageCap }: Pick<Limits, 'retryBase' | 'outageCap'>,
): number {
  return (0.5 + random / 2) * Math.min(outageCap, retryBase * 2 ** (failed + 1));
}
