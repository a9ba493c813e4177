import type { BaseUrl } from '../base-url.ts';
import type { Limits } from '../limits.ts';
import type { AttemptResult } from '../read-response.ts';
import type { SnippetRequest } from '../snippet-request.ts';
import type { Variant } from '../variants.ts';

/** The status of an endpoint (a variant at its base URL). `Scheduler` explains what each one leads to. */
export type EndpointStatus =
  | 'healthy'
  | 'held' // The service asked to wait.
  | 'suspect' // A snippet failed, and nothing was answered since, so a probe (a test request) is sent.
  | 'down' // The endpoint gives no answer, so only one probe (a test request) at a time is sent.
  | 'given-up'; // The endpoint was down for too long, so its snippets fail.

/** An HTTP request for a snippet, at one endpoint. */
export interface Attempt {
  request: SnippetRequest;
  endpoint: Endpoint;
  /** Whether the attempt tests if an endpoint that is suspect or down answers again. */
  isProbe: boolean;
  /** Whether this is the first attempt for the snippet. */
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

  /** The number of answered attempts. A refusal such as 404 counts, a temporary failure such as 503 not. */
  answered = 0;
  /** The number of failures here of snippets that were answered later: these failed by chance. */
  chanceFailures = 0;
  firstAttemptsAnswered = 0;
  /** The number of snippets whose first attempt failed before the last answer. */
  firstAttemptsFailed = 0;
  /** The ids of snippets whose first attempt has failed since the last answer. */
  readonly consecutiveFirstFailures: Set<number> = new Set<number>();
  lastAnswerAt: number = -Infinity;
  lastFailure: AttemptResult | undefined;

  /** The end of the pause that the service has asked for with `Retry-After`. */
  heldUntil = 0;
  /** Whether nothing was answered since the failure of a snippet that is due for another attempt. */
  isSuspect = false;
  /** Whether a probe is on the wire. */
  hasProbe = false;
  nextProbeAt = 0;
  /** The number of probes (test requests) that have failed since the last answer. */
  failedProbes = 0;
  /** When the endpoint was given up: a probe failed after it had been down for too long. */
  givenUpAt: number = -Infinity;
  /** How long the endpoint had been tried when it was given up, in milliseconds. */
  triedFor = 0;
  /** Whether this endpoint failed so many snippets that the run now asks the other variant first. */
  isAbandoned = false;

  constructor(variant: Variant, base: BaseUrl, { downAfter }: Pick<Limits, 'downAfter'>) {
    this.variant = variant;
    this.base = base;
    this.#downAfter = downAfter;
  }

  /** The estimated share of attempts that fail by chance: for snippets that are answered in the end. */
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

    // If nothing was ever answered, one failed probe is enough: there may be no service at this URL.
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

  /** Notes an answer: the endpoint is healthy again, and its failures in a row are counted from 0. */
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
    // While too few probes have failed to call the endpoint down, the next one is sent at once.
    if (!this.isDown) this.nextProbeAt = now;
  }

  /** Gives the endpoint up, as it was down for too long. Later snippets may still probe it now and then. */
  giveUp(now: number, triedFor: number, nextProbeAt: number): void {
    this.givenUpAt = now;
    this.triedFor = triedFor;
    this.nextProbeAt = nextProbeAt;
  }
}

/** The accepted probability that a working endpoint counts as down. A mistake costs time, but no snippet. */
const chanceOfFalseAlarm = 1e-3;

/** Estimates the share of attempts that fail: one half without any, as a single success proves little. */
const estimateShare = (failed: number, succeeded: number) => (failed + 1) / (succeeded + failed + 2);

/** How many failures in a row are more than chance explains, if this share of attempts fails. */
const runBeyondChance = (share: number) => Math.ceil(Math.log(chanceOfFalseAlarm) / Math.log(share));
