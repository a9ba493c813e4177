import type { Verdict } from './answer.ts';
import type { Limits } from './limits.ts';

/** Whether an endpoint (a variant at its origin) may be asked. */
export type EndpointStatus =
  | 'open'
  | 'held' // It asked to wait.
  | 'doubted' // A witness finds out whether it answers at all.
  | 'down' // It answers no request; one witness at a time asks.
  | 'given-up'; // It has been down for too long.

/** How an endpoint treats a snippet, and the others. */
export interface Way {
  readonly endpoint: {
    status(now: number): EndpointStatus;
    /** The share of attempts that fail even for snippets that arrive in the end; `undefined` if none has arrived. */
    readonly failureShare: number | undefined;
  };
  failures: number;
  /** Those made while others arrived: they say something about the snippet. */
  counted: number;
}

/**
 * Chooses the way that the next attempt takes, or waits for.
 *
 * @param ways one or two, in the order of preference: variant B, then variant A.
 * @param leavesFirst whether the run has given up the first.
 */
export function route<W extends Way>(ways: readonly W[], now: number, leavesFirst: boolean): W {
  const [first, second] = ways as readonly [W, W?];
  if (second === undefined) return first;
  const leaves = leavesFirst || first.failures >= renderAttempts;
  const [wanted, other] = leaves ? [second, first] : [first, second];
  const isClosed = ['down', 'given-up'].includes(wanted.endpoint.status(now));
  return isClosed && other.endpoint.status(now) === 'open' ? other : wanted;
}

/** Failed attempts at variant B before variant A is asked. */
const renderAttempts = 2;

/** How likely it may be that a snippet is given up although it would have arrived. */
const chanceOfLoss = 1e-6;

/** How likely it may be that a working endpoint counts as down, which costs a moment. */
const chanceOfFalseAlarm = 1e-3;

/** Estimates the share of attempts that fail. Without any it is one half: a single success proves little. */
export function failureShare(succeeded: number, failed: number): number {
  return (failed + 1) / (succeeded + failed + 2);
}

/** How many first attempts have to fail in a row before an endpoint counts as down, given those before them. */
export function rowLimit(answered: number, failed: number, { downAfter }: Pick<Limits, 'downAfter'>): number {
  return answered === 0 ? downAfter : Math.max(downAfter, beyondChance(failureShare(answered, failed)));
}

/** How many witnesses have to fail before an endpoint counts as down. One that has never answered may not exist. */
export function witnessLimit(share: number | undefined): number {
  return share === undefined ? 1 : beyondChance(share);
}

/** How many failures in a row are more than chance, if this share of requests fails. */
function beyondChance(share: number): number {
  return Math.ceil(Math.log(chanceOfFalseAlarm) / Math.log(share));
}

export interface AttemptState {
  ways: readonly Way[];
  failed: Way;
  /** Attempts that say something about the snippet. */
  counted: number;
  leavesFirst: boolean;
  /** Whether other snippets arrive at present. */
  isAlive: boolean;
  timeLeft: number;
  random: number;
  now: number;
}

/** How long to wait before the next attempt, in milliseconds; `undefined` if it was the last. */
export function nextWait(verdict: Verdict, state: AttemptState, limits: Limits): number | undefined {
  const { ways, failed, leavesFirst, timeLeft, now } = state;
  if (verdict === 'end' || verdict === 'fail' || ways.length === 0 || timeLeft <= 0) return undefined;
  if (verdict === 'elsewhere') return 0;
  if (isBeyondChance(state, limits) && !mayReturn(state)) return undefined;
  const next = route(ways, now, leavesFirst);
  if (next !== failed && next.endpoint.status(now) === 'open' && next.failures === 0) return 0;
  const cap = state.isAlive ? limits.retryCap : limits.outageCap;
  // Full jitter, so that builds which failed together do not come back together.
  const milliseconds = state.random * Math.min(cap, limits.retryBase * 2 ** failed.failures);
  return milliseconds < timeLeft ? milliseconds : undefined;
}

/**
 * Whether a snippet has failed more often than chance explains, judged by the failures of the snippets that arrived. Where
 * nothing has arrived, the number of attempts decides.
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

/** How long after a witness the next one asks. Half of it is certain: full jitter would make more requests than meant. */
export function witnessDelay(
  failed: number,
  random: number,
  { retryBase, outageCap }: Pick<Limits, 'retryBase' | 'outageCap'>,
): number {
  return (0.5 + random / 2) * Math.min(outageCap, retryBase * 2 ** (failed + 1));
}
