import type { AttemptResult, RetryDecision } from './answer.ts';
import type { Limits } from './limits.ts';
import type { Job } from './scheduler.ts';
import type { BaseUrl, Variant } from './snippet-request.ts';

export type EndpointStatus =
  | 'healthy'
  | 'held' // It asked to wait.
  | 'suspect' // A probe finds out whether it answers.
  | 'down' // It gives no answer. One probe at a time asks.
  | 'given-up'; // It was down for too long.

/** One variant, judged by first attempts: each retry of a snippet that keeps failing would make it look worse. */
export class Endpoint {
  /** Snippets that were answered, and how often they had failed by chance. */
  answered = 0;
  failedBefore = 0;
  /** First attempts: answered, failed before the last answer, and failed since. */
  firstAnswered = 0;
  firstFailed = 0;
  readonly consecutiveFirstFailures = new Set<number>();
  lastAnswerAt = -Infinity;
  lastFailure: AttemptResult | undefined;
  heldUntil = 0;
  isSuspect = false;
  hasProbe = false;
  nextProbeAt = 0;
  failedProbes = 0;
  /** When a probe failed after the end of patience. */
  givenUpAt = -Infinity;
  triedFor = 0;
  /** Whether the other one is asked first. */
  isAbandoned = false;

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
    return this.givenUpAt > this.lastAnswerAt;
  }

  get isDown() {
    const { answered, failedProbes, consecutiveFirstFailures, firstAnswered, firstFailed } = this;
    if (failedProbes + consecutiveFirstFailures.size === 0) return false;
    // One that has never answered may not exist.
    const probes = answered === 0 ? 1 : beyondChance(this.failureShare);
    const inRow = firstAnswered === 0 ? 0 : beyondChance(shareOf(firstFailed, firstAnswered));
    return failedProbes >= probes || consecutiveFirstFailures.size >= Math.max(this.#downAfter, inRow);
  }

  statusAt(now: number): EndpointStatus {
    if (this.heldUntil > now) return 'held';
    if (this.isGivenUp) return 'given-up';
    if (this.isDown) return 'down';
    return this.isSuspect ? 'suspect' : 'healthy';
  }
}

export interface Route {
  readonly endpoint: Endpoint;
  failures: number;
  /** Those that count against the snippet, as others arrived. */
  conclusiveFailures: number;
  lastFailureAt: number;
}

/** The way that the next attempt takes, or waits for. */
export function chooseRoute(ways: readonly Route[], now: number) {
  const [first, second] = ways as readonly [Route, Route?];
  if (!second) return first;
  const leaves = first.endpoint.isAbandoned || first.failures >= renderAttempts;
  const [wanted, other] = leaves ? [second, first] : [first, second];
  const isClosed = ['down', 'given-up'].includes(wanted.endpoint.statusAt(now));
  return isClosed && other.endpoint.statusAt(now) === 'healthy' ? other : wanted;
}

/** Failed attempts at variant B before variant A is asked. */
const renderAttempts = 2;

// How likely a snippet that would have arrived may be given up; and a working endpoint count as down, which costs a moment.
const chanceOfLoss = 1e-6;
const chanceOfFalseAlarm = 1e-3;

/** Estimates the share of attempts that fail: from one half, as a single success proves little. */
const shareOf = (failed: number, succeeded: number) => (failed + 1) / (succeeded + failed + 2);

const beyondChance = (share: number) => Math.ceil(Math.log(chanceOfFalseAlarm) / Math.log(share));

/** How long to wait before the next attempt, in milliseconds; `undefined` after the last. */
export function nextWait(
  verdict: RetryDecision,
  { ways, last, counted, spent }: Pick<Job, 'ways' | 'last' | 'counted' | 'spent'>,
  { now, random }: { now: number; random: number },
  limits: Limits,
) {
  const timeLeft = limits.deadline - spent;
  if (verdict === 'end' || verdict === 'fail' || ways.length === 0 || timeLeft <= 0) return undefined;
  if (verdict === 'elsewhere') return 0;
  const known = ways.filter(({ endpoint }) => endpoint.answered > 0);
  // One that is down now may serve the snippet later.
  const mayReturn = (known.length > 0 ? known : ways).some(
    ({ endpoint }) => endpoint.statusAt(now) === 'down' && !(endpoint.isAbandoned && ways.length > 1),
  );
  if (counted >= limits.attempts && !mayReturn && isBeyondChance(known)) return undefined;
  const next = chooseRoute(ways, now);
  if (next !== last && next.endpoint.statusAt(now) === 'healthy' && next.failures === 0) return 0;
  const isAlive = now - last.endpoint.lastAnswerAt <= limits.outageCap;
  const cap = isAlive ? limits.retryCap : limits.outageCap;
  // Full jitter: builds that fail together must not come back together.
  const milliseconds = random * Math.min(cap, limits.retryBase * 2 ** last.failures);
  return milliseconds < timeLeft ? milliseconds : undefined;
}

/** Whether a snippet failed more often than chance explains. @param known its ways to endpoints that answered. */
function isBeyondChance(known: readonly Route[]) {
  // The worse of two: the other may have had few requests.
  const share = Math.max(...known.map(({ endpoint }) => endpoint.failureShare));
  return (
    known.length === 0 || share ** known.reduce((sum, way) => sum + way.conclusiveFailures, 0) < chanceOfLoss
  );
}

/** How long after a probe the next one asks. Full jitter would make more requests than meant. */
export const probeDelay = (failed: number, random: number, { retryBase, outageCap }: Limits) =>
  (0.5 + random / 2) * Math.min(outageCap, retryBase * 2 ** (failed + 1));
