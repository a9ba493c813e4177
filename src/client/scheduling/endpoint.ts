import type { BaseUrl } from '../base-url.ts';
import type { Limits } from '../limits.ts';
import type { AttemptResult } from '../read-response.ts';
import type { SnippetRequest } from '../snippet-request.ts';
import type { Variant } from '../variants.ts';

/** How an endpoint is doing. The doc comment of `Scheduler` says what follows from each. */
export type EndpointStatus =
  | 'healthy'
  | 'held' // The service asked to wait.
  | 'suspect' // A snippet failed, and nothing was answered since. A probe finds out more.
  | 'down' // The endpoint gives no answer. One probe at a time asks.
  | 'given-up'; // The endpoint was down for too long.

/** An HTTP request for a snippet, at one endpoint. */
export interface Attempt {
  request: SnippetRequest;
  endpoint: Endpoint;
  /** Whether the attempt finds out how the endpoint is doing. */
  isProbe: boolean;
  /** Whether no attempt was made for the snippet before. */
  isFirst: boolean;
  /** The time at which the request was made, in milliseconds since the epoch. */
  startedAt: number;
  /** The most that the attempt may take, in milliseconds. */
  timeout: number;
}

/**
 * A variant at its base URL, and what is known of it. Times are in milliseconds since the epoch.
 *
 * An endpoint is judged by probes, and by the first attempts for different snippets. Retries do not count: a
 * snippet that keeps failing would make the endpoint look worse with each of them, and say nothing new.
 */
export class Endpoint {
  readonly variant: Variant;
  readonly base: BaseUrl;
  readonly #downAfter: number;

  /** Attempts that were answered. Any answer counts, unless it says that the failure may be temporary. */
  answered = 0;
  /** How often snippets that were answered in the end had failed here: by chance. */
  chanceFailures = 0;
  firstAttemptsAnswered = 0;
  /** First attempts that failed before the last answer. */
  firstAttemptsFailed = 0;
  /** The ids of snippets whose first attempt has failed since the last answer. */
  readonly consecutiveFirstFailures: Set<number> = new Set<number>();
  lastAnswerAt: number = -Infinity;
  lastFailure: AttemptResult | undefined;

  /** The end of the pause that the service has asked for. */
  heldUntil = 0;
  /** Whether nothing was answered since a failure of a snippet that is to be asked for again. */
  isSuspect = false;
  /** Whether a probe is on the wire. */
  hasProbe = false;
  nextProbeAt = 0;
  /** Probes that have failed since the last answer. */
  failedProbes = 0;
  /** When a probe failed after the end of patience. */
  givenUpAt: number = -Infinity;
  /** How long the endpoint had been tried when it was given up, in milliseconds. */
  triedFor = 0;
  /** Whether the run has left this endpoint: the other variant is asked before it. */
  isAbandoned = false;

  constructor(variant: Variant, base: BaseUrl, { downAfter }: Pick<Limits, 'downAfter'>) {
    this.variant = variant;
    this.base = base;
    this.#downAfter = downAfter;
  }

  /** The share of attempts that fail for snippets that are answered in the end. */
  get failureShare(): number {
    return estimateShare(this.chanceFailures, this.answered);
  }

  get isGivenUp(): boolean {
    return this.givenUpAt > this.lastAnswerAt;
  }

  /** Whether more probes or more first attempts in a row have failed than chance explains. */
  get isDown(): boolean {
    const { failedProbes, consecutiveFirstFailures, firstAttemptsAnswered, firstAttemptsFailed } = this;
    if (failedProbes + consecutiveFirstFailures.size === 0) return false;

    // A single failed probe is enough where nothing has ever been answered: there may be no such service.
    const probesToFail = this.answered === 0 ? 1 : runBeyondChance(this.failureShare);
    if (failedProbes >= probesToFail) return true;

    const share = estimateShare(firstAttemptsFailed, firstAttemptsAnswered);
    const runOfFirstAttempts = firstAttemptsAnswered === 0 ? 0 : runBeyondChance(share);
    return consecutiveFirstFailures.size >= Math.max(this.#downAfter, runOfFirstAttempts);
  }

  statusAt(now: number): EndpointStatus {
    if (this.heldUntil > now) return 'held';
    if (this.isGivenUp) return 'given-up';
    if (this.isDown) return 'down';
    return this.isSuspect ? 'suspect' : 'healthy';
  }

  /** An answer ends all doubt, and the run of failures. */
  recordAnswer({ isFirst }: Attempt, now: number): void {
    this.firstAttemptsFailed += this.consecutiveFirstFailures.size;
    this.consecutiveFirstFailures.clear();
    this.answered += 1;
    if (isFirst) this.firstAttemptsAnswered += 1;
    this.lastAnswerAt = now;
    this.isSuspect = false;
    this.failedProbes = 0;
    this.nextProbeAt = 0;
  }

  recordFailure({ request, isFirst, isProbe }: Attempt, result: AttemptResult, now: number): void {
    this.lastFailure = result;
    if (isFirst) this.consecutiveFirstFailures.add(request.id);
    if (!isProbe) return;
    this.failedProbes += 1;
    // Too few failed probes prove nothing: probe again now.
    if (!this.isDown) this.nextProbeAt = now;
  }

  /** Called when a probe failed after the end of patience. Later snippets may still ask now and then. */
  giveUp(now: number, triedFor: number, nextProbeAt: number): void {
    this.givenUpAt = now;
    this.triedFor = triedFor;
    this.nextProbeAt = nextProbeAt;
  }
}

/** How likely a working endpoint may count as down by chance. Being wrong costs time, but no snippet. */
const chanceOfFalseAlarm = 1e-3;

/** Estimates the share of attempts that fail. Without any, it is one half: a single success proves little. */
const estimateShare = (failed: number, succeeded: number) => (failed + 1) / (succeeded + failed + 2);

/** How many failures in a row are more than chance explains, if this share of attempts fails. */
const runBeyondChance = (share: number) => Math.ceil(Math.log(chanceOfFalseAlarm) / Math.log(share));
