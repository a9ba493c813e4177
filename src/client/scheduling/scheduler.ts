import { setImmediate as nextTurn } from 'node:timers/promises';
import pRetry from 'p-retry';
import { formatDuration } from '../../text/format.ts';
import { type Clock, unlessAborted } from '../clock.ts';
import { firstPace, type Limits, patienceWhereUnreachable } from '../limits.ts';
import { type AttemptResult, describeAttempt } from '../read-response.ts';
import { SnippetError, type SnippetErrorCode } from '../snippet-error.ts';
import type { SnippetRequest } from '../snippet-request.ts';
import type { Variant } from '../variants.ts';
import type { Endpoint } from './endpoint.ts';
import { type Arrival, createJob, type Job, type Route, type Turn } from './job.ts';
import type { Counts, Notice } from './notice.ts';
import { chooseRoute, decisionFor, nextWait, probeDelay } from './retry-policy.ts';

interface SchedulerOptions {
  endpoints: readonly Endpoint[];
  clock: Clock;
  limits: Limits;
  /** In milliseconds. With 0, each failure counts against its snippet. */
  patience: number;
  maxConcurrency(): number;
  notify(notice: Notice): void;
  /** @throws only the reason of `signal`. */
  ask(turn: Turn, signal: AbortSignal): Promise<AttemptResult>;
}

// Snippets that arrived and may be asked for again: a single one could die.
const probeCandidatesKept = 10;

const silenceBeforeNotice = 2_000;

// What a wrong base URL, certificate authority or proxy leads to.
const setupFailures = new Set<SnippetErrorCode>(['no-route', 'redirect', 'certificate', 'invalid-options']);

const setupFailuresAllowed = 9;

/**
 * Decides which snippet is asked for next, where and when. Only requests on the wire take slots, not waits.
 *
 * An endpoint is down when more first attempts fail in a row than chance explains. It is doubted when a snippet is to be
 * asked for again and nothing has arrived since it failed. Then one probe at a time asks: in doubt, for a snippet that
 * arrived before; if it is down, for an untried one, or else a failed one. An answer opens it, and the end of patience gives
 * it up. Failures while it is down, or before the first answer, say nothing about their snippets.
 */
export class Scheduler {
  readonly counts: Counts = { requests: 0, retries: 0, fallbacks: 0 };
  readonly #options: SchedulerOptions;
  readonly #jobs = new Set<Job>();
  // These wait for their turn.
  #untried: Job[] = [];
  #again: Job[] = [];
  readonly #answered: SnippetRequest[] = [];
  /** Ids that failed as with a wrong setup, while nothing else happened. */
  #setupSuspects: Set<number> | undefined = new Set();
  /** When the first request was made that failed since the last answer. */
  #failingSince = Infinity;
  #isSilent = false;
  #fallbacksInARow = 0;
  /** What variant B answers without a route, and whether it has shown that it has one. */
  #withoutRoute: { baseUrl: string; status: number | undefined } | undefined;
  #hasRoute = false;
  #pace: number;
  #underWay = 0;
  #isScheduled = false;
  #alarm = new AbortController();
  #alarmAt = Infinity;
  readonly #ended = new AbortController();

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#pace = Math.min(firstPace, options.maxConcurrency());
  }

  /** What variant B answers, if each snippet fell back for want of its route. */
  get routeMissing():
    | {
        baseUrl: string;
        status: number | undefined;
      }
    | undefined {
    return this.#hasRoute ? undefined : this.#withoutRoute;
  }

  /** @throws SnippetError, or the reason of `signal`. */
  async fetch(
    request: SnippetRequest,
    endpoints: readonly Endpoint[],
    signal?: AbortSignal,
  ): Promise<Arrival> {
    this.#ended.signal.throwIfAborted();
    const { clock, limits } = this.#options;
    const job = createJob(request, endpoints, clock.now(), signal);
    this.#jobs.add(job);
    try {
      const attempts = pRetry(() => this.#attempt(job), {
        retries: limits.mostAttempts - 1,
        // An attempt waits by itself: p-retry knows neither Retry-After nor other snippets.
        minTimeout: 0,
        signal: job.signal,
        shouldConsumeRetry: ({ retriesConsumed }) => job.counted > retriesConsumed,
        shouldRetry: ({ error }) => error instanceof SnippetError && this.#mayRetry(job, error.code),
      });
      return await unlessAborted(job.signal, attempts);
    } catch (error) {
      this.#withdraw(job);
      if (error instanceof SnippetError) this.#noteLoss(request, error.code);
      throw error;
    } finally {
      this.#jobs.delete(job);
      if (this.#jobs.size === 0) {
        this.#endAlarm();
        // What comes later has its own patience.
        if (!this.#options.endpoints.some(({ isGivenUp }) => isGivenUp)) this.#failingSince = Infinity;
      }
    }
  }

  end(error: SnippetError): void {
    this.#ended.abort(error);
    this.#endAll(error);
  }

  #endAll(error: unknown) {
    this.#untried = [];
    this.#again = [];
    for (const { stop } of this.#jobs) stop.abort(error);
  }

  #noteLoss({ id }: SnippetRequest, code: SnippetErrorCode) {
    if (setupFailures.has(code)) this.#setupSuspects?.add(id);
    else this.#setupSuspects = undefined;
    const isMisled = (this.#setupSuspects?.size ?? 0) > setupFailuresAllowed;
    if (!isMisled && decisionFor(code) !== 'end') return;
    this.#endAll(new SnippetError('aborted', 'not asked for: every request would fail the same way.'));
  }

  #attempt(job: Job) {
    job.attempt = Promise.withResolvers();
    (job.attempts === 0 ? this.#untried : this.#again).push(job);
    this.#schedule();
    return job.attempt.promise;
  }

  #mayRetry(job: Job, code: SnippetErrorCode) {
    const { clock, limits } = this.#options;
    const now = clock.now();
    const milliseconds = nextWait(decisionFor(code), job, { now, random: clock.random() }, limits);
    if (milliseconds === undefined) return false;
    job.spent += milliseconds;
    job.notBefore = now + milliseconds;
    return true;
  }

  #withdraw(job: Job) {
    for (const list of [this.#untried, this.#again]) {
      const at = list.indexOf(job);
      if (at !== -1) list.splice(at, 1);
    }
  }

  /** Once for all that come together: the first request is drawn from all. */
  #schedule() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      try {
        this.#dispatch(this.#options.clock.now());
      } catch (error) {
        // It would end the process.
        this.#endAll(error);
      }
    });
  }

  /** Reads the clock once: what falls due between two readings gets no alarm. */
  #dispatch(now: number) {
    const { endpoints } = this.#options;
    if (endpoints.some((one) => ['held', 'given-up'].includes(one.statusAt(now)))) {
      const stays = (job: Job) => {
        const refusal = this.#refusal(job, now);
        if (refusal) job.stop.abort(refusal);
        return !refusal;
      };
      this.#untried = this.#untried.filter(stays);
      this.#again = this.#again.filter(stays);
    }
    this.#announceSilence(now);
    for (const endpoint of endpoints) this.#sendProbe(endpoint, now);
    if (endpoints.some((one) => one.statusAt(now) === 'healthy')) {
      const startOne = () => this.#dispatchOne(this.#untried, now) || this.#dispatchOne(this.#again, now);
      while (this.#underWay < this.#pace && startOne());
    }
    this.#setAlarm(now);
  }

  /** Starts one at random: the first answers say something about all. */
  #dispatchOne(jobs: Job[], now: number): boolean {
    const from = Math.floor(this.#options.clock.random() * jobs.length);
    for (let tried = 0; tried < jobs.length; tried += 1) {
      const at = (from + tried) % jobs.length;
      const job = jobs[at] as Job;
      if (job.notBefore > now) continue;
      const way = chooseRoute(job.ways, now);
      const { endpoint } = way;
      if (endpoint.statusAt(now) !== 'healthy') continue;
      if (this.#needsProbe(job, way, now)) {
        endpoint.isSuspect = true;
        this.#sendProbe(endpoint, now);
        return this.#dispatchOne(jobs, now);
      }
      jobs[at] = jobs.at(-1) as Job;
      jobs.pop();
      job.attempt.resolve(this.#ask(job, way, now, false));
      return true;
    }
    return false;
  }

  /** Whether nothing has arrived since this snippet failed there. One that may fall back asks twice without a probe. */
  #needsProbe({ ways: [first, second] }: Job, way: Route, now: number) {
    const { endpoint, failures, lastFailureAt } = way;
    if (this.#options.patience === 0 || failures === 0 || endpoint.lastAnswerAt > lastFailureAt) return false;
    return way !== first || second?.endpoint.statusAt(now) !== 'healthy';
  }

  #refusal(job: Job, now: number) {
    const { limits } = this.#options;
    const { request, ways, attempts } = job;
    const { heldUntil, variant, triedFor, lastFailure = {} } = chooseRoute(ways, now).endpoint;
    const place = { snippetId: request.id, variant, attempts };
    const pause = heldUntil - now;
    if (pause > 0) {
      if (pause <= limits.retryAfter && pause < limits.deadline - job.spent) return undefined;
      return new SnippetError('rate-limited', `the service asks to wait ${formatDuration(pause)}`, place);
    }
    if (!ways.every(({ endpoint }) => endpoint.isGivenUp)) return undefined;
    // Those that come later still ask now and then.
    const isLate = ways.every(({ endpoint }) => endpoint.givenUpAt < job.cameAt);
    const mayAsk = ways.some(({ endpoint }) => endpoint.hasProbe || now >= endpoint.nextProbeAt);
    if (isLate && mayAsk) return undefined;
    // In whole seconds: one reason for all.
    const time = formatDuration(Math.round(triedFor / 1000) * 1000 || triedFor);
    const reason = `no request has succeeded for ${time}; the last one failed: ${describeAttempt(lastFailure)}`;
    return new SnippetError('unavailable', reason, place);
  }

  #patienceFor({ lastFailure }: Endpoint) {
    const { patience, limits } = this.#options;
    const isAbsent = lastFailure?.isUnreachable && this.#answered.length === 0;
    return Math.min(patience, isAbsent ? patienceWhereUnreachable : patience, limits.deadline);
  }

  #patienceEnds(endpoint: Endpoint) {
    return this.#failingSince + this.#patienceFor(endpoint);
  }

  /** One always asks when patience ends. */
  #probeDueAt(endpoint: Endpoint) {
    const { nextProbeAt, isGivenUp } = endpoint;
    return isGivenUp ? nextProbeAt : Math.min(nextProbeAt, this.#patienceEnds(endpoint));
  }

  /** Asks whether an endpoint responds, if snippets wait that cannot ask the other one. */
  #sendProbe(endpoint: Endpoint, now: number) {
    const { clock, limits, maxConcurrency } = this.#options;
    const status = endpoint.statusAt(now);
    if (status === 'healthy' || status === 'held' || endpoint.hasProbe) return;
    if (this.#underWay >= maxConcurrency() || now < this.#probeDueAt(endpoint)) return;
    const waits = ({ ways }: Job) =>
      chooseRoute(ways, now).endpoint === endpoint ||
      (ways.some((way) => way.endpoint === endpoint) &&
        !ways.some((way) => way.endpoint.statusAt(now) === 'healthy'));
    const untried = this.#untried.filter(waits);
    const again = this.#again.filter(waits);
    if (untried.length + again.length === 0) return;
    endpoint.hasProbe = true;
    endpoint.nextProbeAt = now + probeDelay(endpoint.failedProbes, clock.random(), limits);
    const answered = this.#answered.filter(({ id }) => again.every(({ request }) => request.id !== id));
    // One that may never arrive proves nothing. An answer to an untried one is of use.
    if (answered.length > 0 && (status === 'suspect' || untried.length === 0)) {
      this.counts.retries += 1;
      const request = pickOne(answered, clock.random());
      const milliseconds = limits.attemptTimeout;
      const turn = { request, endpoint, isProbe: true, isFirst: false, startedAt: now, milliseconds };
      // It throws when the client ends.
      this.#send(turn, this.#ended.signal).catch(() => {});
      return;
    }
    const job = pickOne(untried.length > 0 ? untried : again, clock.random());
    this.#withdraw(job);
    const way = job.ways.find((one) => one.endpoint === endpoint) as Route;
    job.attempt.resolve(this.#ask(job, way, now, true));
  }

  #setAlarm(now: number) {
    const { clock, endpoints, patience } = this.#options;
    let at = Infinity;
    const consider = (time: number) => {
      if (time > now && time < at) at = time;
    };
    if (this.#untried.length + this.#again.length > 0) {
      for (const endpoint of endpoints) {
        consider(endpoint.heldUntil);
        if (endpoint.statusAt(now) !== 'healthy' && !endpoint.hasProbe) consider(this.#probeDueAt(endpoint));
      }
    }
    for (const { notBefore } of this.#again) consider(notBefore);
    if (patience > 0 && this.#jobs.size > 0 && !this.#isSilent)
      consider(this.#failingSince + silenceBeforeNotice);
    if (at >= this.#alarmAt) return;
    this.#endAlarm();
    this.#alarmAt = at;
    const ring = () => {
      this.#endAlarm();
      this.#schedule();
    };
    clock.wait(at - now, this.#alarm.signal).then(ring, () => {});
  }

  #endAlarm() {
    // An abort makes an error.
    if (this.#alarmAt === Infinity) return;
    this.#alarm.abort();
    this.#alarm = new AbortController();
    this.#alarmAt = Infinity;
  }

  async #ask(job: Job, way: Route, startedAt: number, isProbe: boolean) {
    const { attemptTimeout, deadline } = this.#options.limits;
    const { request } = job;
    const { endpoint } = way;
    const { variant } = endpoint;
    const isFirst = job.attempts === 0;
    const milliseconds = Math.min(attemptTimeout, deadline - job.spent);
    if (isFirst) job.startedAt = startedAt;
    job.attempts += 1;
    if (way.failures > 0) this.counts.retries += 1;
    if (endpoint !== job.preferred && !job.isFallback && !job.preferred.isAbandoned) {
      job.isFallback = true;
      this.counts.fallbacks += 1;
      if (job.ways.length > 1) this.#hasRoute = true;
    }
    const turn = { request, endpoint, isProbe, isFirst, startedAt, milliseconds };
    const { response, verdict, counts, now } = await this.#send(turn, job.signal);
    const { code, value, status, problem, reason } = response;
    const { attempts } = job;
    job.spent += now - startedAt;
    job.last = way;
    if (counts) job.counted += 1;
    if (verdict === 'again') {
      way.failures += 1;
      if (counts) way.conclusiveFailures += 1;
      way.lastFailureAt = now;
      // Failures of the same time are noted first: together they may show that it is down.
      await nextTurn();
    } else {
      // Its failures before were chance.
      for (const one of job.ways) one.endpoint.failedBefore += one.conclusiveFailures;
    }
    if (!code) {
      this.#noteArrival(job, variant);
      return { ...value, variant, attempts, milliseconds: now - job.startedAt };
    }
    if (verdict === 'elsewhere') {
      job.ways = job.ways.filter((one) => one !== way);
      if (variant === 'render') this.#withoutRoute = { baseUrl: endpoint.base.href, status };
    }
    const afterAttempts = attempts === 1 ? '' : ` (${attempts} attempts)`;
    const cause = reason === undefined ? undefined : new Error(reason);
    const fields = { snippetId: request.id, variant, attempts, status, problem, cause };
    throw new SnippetError(code, `${describeAttempt(response)}${afterAttempts}`, fields);
  }

  async #send(turn: Turn, signal: AbortSignal) {
    const { ask, clock } = this.#options;
    this.#underWay += 1;
    this.counts.requests += 1;
    const response = await ask(turn, signal).finally(() => {
      this.#underWay -= 1;
      if (turn.isProbe) turn.endpoint.hasProbe = false;
      this.#schedule();
    });
    const now = clock.now();
    const verdict = response.code && decisionFor(response.code);
    const counts = verdict !== 'again' || this.#noteFailure(turn, response, now);
    if (verdict !== 'again') this.#noteAnswer(turn, now);
    return { response, verdict, counts, now };
  }

  #noteAnswer({ endpoint, request, isFirst }: Turn, now: number) {
    endpoint.firstFailed += endpoint.consecutiveFirstFailures.size;
    endpoint.consecutiveFirstFailures.clear();
    endpoint.answered += 1;
    if (isFirst) endpoint.firstAnswered += 1;
    endpoint.lastAnswerAt = now;
    endpoint.isSuspect = false;
    endpoint.failedProbes = 0;
    endpoint.nextProbeAt = 0;
    this.#failingSince = Infinity;
    this.#answered.unshift(request);
    this.#answered.length = Math.min(this.#answered.length, probeCandidatesKept);
    this.#pace = Math.min(this.#pace + 1, this.#options.maxConcurrency());
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#options.notify({ kind: 'recovered', origin: endpoint.base.origin });
  }

  #noteArrival({ isFallback, preferred }: Job, variant: Variant) {
    const { limits, notify } = this.#options;
    this.#setupSuspects = undefined;
    if (variant === 'render') {
      this.#hasRoute = true;
      this.#fallbacksInARow = 0;
    }
    // Only those that arrive count: both variants may be down.
    if (!isFallback || variant === 'render') return;
    this.#fallbacksInARow += 1;
    if (preferred.isAbandoned || this.#fallbacksInARow < limits.fallbacksInARow) return;
    preferred.isAbandoned = true;
    notify({ kind: 'render-given-up', isRouteMissing: !!this.routeMissing });
  }

  /** @returns whether the failure counts against its snippet. */
  #noteFailure(turn: Turn, response: AttemptResult, now: number) {
    const { limits, maxConcurrency, patience } = this.#options;
    const { endpoint, request, isProbe, isFirst, startedAt } = turn;
    if (this.#failingSince === Infinity) this.#failingSince = startedAt;
    endpoint.lastFailure = response;
    // Not below its start: a few that keep failing must not slow down the others.
    this.#pace = Math.min(Math.max(firstPace, Math.floor(this.#pace / 2)), maxConcurrency());
    if (isFirst) endpoint.consecutiveFirstFailures.add(request.id);
    if (isProbe) {
      endpoint.failedProbes += 1;
      // It may have been chance: the next one asks at once.
      if (!endpoint.isDown) endpoint.nextProbeAt = now;
      if (now >= this.#patienceEnds(endpoint)) {
        endpoint.givenUpAt = now;
        endpoint.triedFor = now - this.#failingSince;
        endpoint.nextProbeAt = now + limits.outageCap;
      }
    }
    const { retryAfter } = response;
    if (retryAfter !== undefined) this.#hold(endpoint, retryAfter, now);
    return patience === 0 || (this.#answered.length > 0 && !endpoint.isDown && !endpoint.isGivenUp);
  }

  #announceSilence(now: number) {
    const { endpoints, notify, patience } = this.#options;
    if (patience === 0 || this.#isSilent) return;
    const isAnyTrusted = endpoints.some((one) => ['healthy', 'held'].includes(one.statusAt(now)));
    if (isAnyTrusted && this.#answered.length > 0) return;
    const endpoint = endpoints.find(({ lastFailure }) => lastFailure);
    if (!endpoint?.lastFailure || now < this.#failingSince + silenceBeforeNotice) return;
    this.#isSilent = true;
    notify({
      kind: 'failing',
      origin: endpoint.base.origin,
      reason: describeAttempt(endpoint.lastFailure),
      until: this.#patienceEnds(endpoint),
      patience: this.#patienceFor(endpoint),
    });
  }

  #hold({ base, heldUntil }: Endpoint, milliseconds: number, now: number) {
    const { endpoints, limits, notify } = this.#options;
    const until = now + milliseconds;
    if (until <= heldUntil) return;
    if (heldUntil <= now && milliseconds <= limits.retryAfter) {
      notify({ kind: 'held', origin: base.origin, milliseconds });
    }
    // The pause is about the origin, which both variants may share.
    for (const one of endpoints) if (one.base.origin === base.origin) one.heldUntil = until;
  }
}

const pickOne = <T>(list: readonly T[], random: number) => list[Math.floor(random * list.length)] as T;
