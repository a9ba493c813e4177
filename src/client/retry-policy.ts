import type { Response, Verdict } from './answer.ts';
import type { Limits } from './limits.ts';
import type { Job } from './scheduler.ts';
import type { BaseUrl, Variant } from './service-url.ts';

/** Whether an endpoint may be asked. */
export type EndpointStatus =
  | 'open'
  | 'held' // It asked to wait.
  | 'doubted' // A witness finds out whether it answers.
  | 'down' // It gives no answer. One witness at a time asks.
  | 'given-up'; // It has been down for too long.

/** One of the two variants, judged by first attempts: with each retry, a snippet that keeps failing would make it look worse. */
export class Endpoint {
  /** Snippets that were answered, and how often they had failed by chance. */
  answered = 0;
  failedBefore = 0;
  /** First attempts that were answered, that failed before the last answer, and since. */
  firstAnswered = 0;
  firstFailed = 0;
  readonly row = new Set<number>();
  lastAnswer = -Infinity;
  lastFailure: Response | undefined;
  heldUntil = 0;
  isDoubted = false;
  hasWitness = false;
  nextWitness = 0;
  failedWitnesses = 0;
  /** When a witness failed after the end of patience. */
  givenUpAt = -Infinity;
  triedFor = 0;
  /** Whether the other one is asked first. */
  isLeft = false;

  readonly variant: Variant;
  readonly base: BaseUrl;
  readonly #downAfter: number;

  constructor(variant: Variant, base: BaseUrl, { downAfter }: Pick<Limits, 'downAfter'>) {
    this.variant = variant;
    this.base = base;
    this.#downAfter = downAfter;
  }

  /** The share of attempts that fail for snippets that arrive in the end. */
  get failureShare() {
    return shareOf(this.failedBefore, this.answered);
  }

  get isGivenUp() {
    return this.givenUpAt > this.lastAnswer;
  }

  get isDown() {
    const { answered, failedWitnesses, row, firstAnswered, firstFailed } = this;
    if (failedWitnesses + row.size === 0) return false;
    // One that has never answered may not exist.
    const witnesses = answered === 0 ? 1 : beyondChance(this.failureShare);
    const inRow = firstAnswered === 0 ? 0 : beyondChance(shareOf(firstFailed, firstAnswered));
    return failedWitnesses >= witnesses || row.size >= Math.max(this.#downAfter, inRow);
  }

  status(now: number): EndpointStatus {
    if (this.heldUntil > now) return 'held';
    if (this.isGivenUp) return 'given-up';
    if (this.isDown) return 'down';
    return this.isDoubted ? 'doubted' : 'open';
  }
}

export interface Way {
  readonly endpoint: Endpoint;
  failures: number;
  /** Those that say something about the snippet, as others arrived. */
  counted: number;
  lastFailure: number;
}

/** The way that the next attempt takes, or waits for. */
export function route(ways: readonly Way[], now: number): Way {
  const [first, second] = ways as readonly [Way, Way?];
  if (second === undefined) return first;
  const leaves = first.endpoint.isLeft || first.failures >= renderAttempts;
  const [wanted, other] = leaves ? [second, first] : [first, second];
  const isClosed = ['down', 'given-up'].includes(wanted.endpoint.status(now));
  return isClosed && other.endpoint.status(now) === 'open' ? other : wanted;
}

/** Failed attempts at variant B before variant A is asked. */
const renderAttempts = 2;

// How likely it may be that a snippet is given up that would have arrived; and that a working endpoint counts as down,
// which costs a moment.
const chanceOfLoss = 1e-6;
const chanceOfFalseAlarm = 1e-3;

/** Estimates the share of attempts that fail: one half without any, as a single success proves little. */
function shareOf(failed: number, succeeded: number) {
  return (failed + 1) / (succeeded + failed + 2);
}

function beyondChance(share: number) {
  return Math.ceil(Math.log(chanceOfFalseAlarm) / Math.log(share));
}

/** How long to wait before the next attempt, in milliseconds; `undefined` if it was the last. */
export function nextWait(
  verdict: Verdict,
  { ways, last, counted, spent }: Pick<Job, 'ways' | 'last' | 'counted' | 'spent'>,
  { now, random }: { now: number; random: number },
  limits: Limits,
): number | undefined {
  const timeLeft = limits.deadline - spent;
  if (verdict === 'end' || verdict === 'fail' || ways.length === 0 || timeLeft <= 0) return undefined;
  if (verdict === 'elsewhere') return 0;
  const known = ways.filter(({ endpoint }) => endpoint.answered > 0);
  // One that is down now may serve the snippet later.
  const mayReturn = (known.length > 0 ? known : ways).some(
    ({ endpoint }) => endpoint.status(now) === 'down' && !(endpoint.isLeft && ways.length > 1),
  );
  if (counted >= limits.attempts && !mayReturn && isBeyondChance(known)) return undefined;
  const next = route(ways, now);
  if (next !== last && next.endpoint.status(now) === 'open' && next.failures === 0) return 0;
  const isAlive = now - last.endpoint.lastAnswer <= limits.outageCap;
  const cap = isAlive ? limits.retryCap : limits.outageCap;
  // Full jitter: builds that failed together must not come back together.
  const milliseconds = random * Math.min(cap, limits.retryBase * 2 ** last.failures);
  return milliseconds < timeLeft ? milliseconds : undefined;
}

/** Whether a snippet has failed more often than chance explains. @param known its ways to endpoints that have answered. */
function isBeyondChance(known: readonly Way[]) {
  // The worse of two: the other may have had few requests.
  const share = Math.max(...known.map(({ endpoint }) => endpoint.failureShare));
  return known.length === 0 || share ** known.reduce((sum, way) => sum + way.counted, 0) < chanceOfLoss;
}

/** How long after a witness the next one asks. Half is certain: full jitter would make more requests than meant. */
export function witnessDelay(failed: number, random: number, { retryBase, outageCap }: Limits) {
  return (0.5 + random / 2) * Math.min(outageCap, retryBase * 2 ** (failed + 1));
}
