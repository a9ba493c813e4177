import type { BaseUrl } from '../base-url.ts';
import type { Limits } from '../limits.ts';
import type { AttemptResult } from '../read-response.ts';
import type { Variant } from '../variants.ts';

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
  readonly consecutiveFirstFailures: Set<number> = new Set<number>();
  lastAnswerAt: number = -Infinity;
  lastFailure: AttemptResult | undefined;
  heldUntil = 0;
  isSuspect = false;
  hasProbe = false;
  nextProbeAt = 0;
  failedProbes = 0;
  /** When a probe failed after the end of patience. */
  givenUpAt: number = -Infinity;
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
  get failureShare(): number {
    return shareOf(this.failedBefore, this.answered);
  }

  get isGivenUp(): boolean {
    return this.givenUpAt > this.lastAnswerAt;
  }

  get isDown(): boolean {
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

const chanceOfFalseAlarm = 1e-3;

/** Estimates the share of attempts that fail: from one half, as a single success proves little. */
const shareOf = (failed: number, succeeded: number) => (failed + 1) / (succeeded + failed + 2);

const beyondChance = (share: number) => Math.ceil(Math.log(chanceOfFalseAlarm) / Math.log(share));
