import type { Limits } from './limits.ts';
import { beyondChance, type EndpointView, failureShare, probeDelay, streakLimit } from './retry-policy.ts';
import type { BaseUrl, Variant } from './service-url.ts';

/** Where both variants are, if they share an origin: `Retry-After` is about the whole of it. */
export interface Origin {
  name: string;
  /** Until when the service has asked to wait (`Retry-After`), in milliseconds since the epoch. */
  heldUntil: number;
  lastAnswer?: number;
  /** Whether the user has been told that nothing arrives. */
  isSilent?: boolean;
}

/** One of the two variants, where to reach it, and how it is doing. */
export interface Endpoint {
  readonly variant: Variant;
  readonly base: BaseUrl;
  readonly origin: Origin;
  readonly health: Health;
}

/**
 * How an endpoint is doing. Judged by the first attempts of snippets alone: one that keeps failing would otherwise make
 * the endpoint look worse with each of its retries, and so would variant A those that have failed at variant B. Times
 * are in milliseconds since the epoch.
 */
export interface Health {
  /** First attempts that were answered, and that failed before the last answer. */
  firstAnswered: number;
  firstFailed: number;
  /** Ids whose first attempt has failed since the last answer. */
  readonly streak: Set<number>;
  /** Snippets that were answered, and how often these had failed before. */
  answered: number;
  failedBeforeAnswer: number;
  lastAnswer: number;
  /** Requests for snippets that had arrived before, and that have failed since the last answer. */
  unproven: number;
  /** When the first request was made that has failed since the last answer. */
  failingSince: number | undefined;
  /** Why the last request failed. */
  reason: string;
  state: 'up' | 'down' | 'given-up';
  probes: number;
  nextProbe: number;
}

export function newHealth(): Health {
  return {
    firstAnswered: 0,
    firstFailed: 0,
    streak: new Set(),
    answered: 0,
    failedBeforeAnswer: 0,
    lastAnswer: Number.NEGATIVE_INFINITY,
    unproven: 0,
    failingSince: undefined,
    reason: '',
    state: 'up',
    probes: 0,
    nextProbe: 0,
  };
}

/** How one endpoint has treated a snippet. */
export interface Tally {
  failures: number;
  /** Those that were not made while the endpoint was down. */
  counted: number;
  lastFailure: number;
}

export const noTally: Readonly<Tally> = { failures: 0, counted: 0, lastFailure: Number.NEGATIVE_INFINITY };

/** Notes that a request was answered, with content or with a refusal. Both show that the endpoint is well. */
export function noteAnswer(
  health: Health,
  { isFirst, counted, now }: { isFirst: boolean; counted: number; now: number },
): void {
  if (isFirst) health.firstAnswered += 1;
  health.firstFailed += health.streak.size;
  health.streak.clear();
  health.answered += 1;
  health.failedBeforeAnswer += counted;
  health.lastAnswer = now;
  health.failedBeforeAnswer += health.state === 'up' ? health.unproven : 0;
  health.unproven = 0;
  health.failingSince = undefined;
  health.state = 'up';
  health.probes = 0;
}

export interface Circumstances {
  now: number;
  /** From 0 (included) to 1 (excluded). */
  random: number;
  limits: Limits;
}

/** A request that was not answered. */
export interface Failure {
  id: number;
  /** Whether the snippet was asked for nowhere before. */
  isFirst: boolean;
  startedAt: number;
  reason: string;
}

/** Notes that a request failed. Returns whether that says something about the snippet: not while the endpoint is down. */
export function noteFailure(
  health: Health,
  { id, isFirst, startedAt, reason }: Failure,
  circumstances: Circumstances,
): boolean {
  const { limits } = circumstances;
  health.failingSince ??= startedAt;
  health.reason = reason;
  if (isFirst) health.streak.add(id);
  const { firstAnswered, firstFailed, streak } = health;
  if (health.state === 'up' && streak.size >= streakLimit(firstAnswered, firstFailed, limits)) {
    goDown(health, circumstances);
  }
  return health.state === 'up';
}

/** Notes that a request failed for a snippet that had arrived before. Only the service can be the reason. */
export function noteUnproven(health: Health, failure: Failure, circumstances: Circumstances): void {
  noteFailure(health, failure, circumstances);
  health.unproven += 1;
  const { answered, failedBeforeAnswer } = health;
  // One that has never answered may not exist, and another one is there: the snippet has arrived before.
  const limit = answered === 0 ? 1 : beyondChance(failureShare(answered, failedBeforeAnswer));
  if (health.unproven >= limit) goDown(health, circumstances);
}

/** Probes the endpoint now and then, instead of asking it for every snippet, until it answers. */
function goDown(health: Health, { now, random, limits }: Circumstances): void {
  if (health.state !== 'up') return;
  health.state = 'down';
  health.probes = 0;
  health.nextProbe = now + probeDelay(0, random, limits);
}

/** Counts a probe that is about to be made. */
export function noteProbe(health: Health, { now, random, limits }: Circumstances): void {
  health.probes += 1;
  health.nextProbe = now + probeDelay(health.probes, random, limits);
}

/** Stops waiting for an endpoint. It is asked once in a while by the requests that come later. */
export function giveUp(health: Health, now: number, { outageCap }: Pick<Limits, 'outageCap'>): void {
  health.state = 'given-up';
  health.nextProbe = now + outageCap;
}

/** Until when an endpoint that is down is waited for. After a pause that it asked for, it may be asked once more. */
export function patienceEnds(
  { health, origin }: Endpoint,
  { patience, deadline, retryCap }: Pick<Limits, 'patience' | 'deadline' | 'retryCap'>,
): number {
  const ends = (health.failingSince ?? 0) + Math.min(patience, deadline);
  return origin.heldUntil < ends - retryCap ? ends : origin.heldUntil + retryCap;
}

/** How an endpoint looks to a snippet. */
export function viewOf(
  { health, origin }: Endpoint,
  { failures, counted }: Tally,
  now: number,
): EndpointView {
  const { answered, failedBeforeAnswer } = health;
  const open = health.state === 'up' ? 'open' : health.state;
  return {
    status: origin.heldUntil > now ? 'held' : open,
    hasAnswered: answered > 0,
    failures,
    counted,
    failureShare: answered === 0 ? undefined : failureShare(answered, failedBeforeAnswer),
  };
}
