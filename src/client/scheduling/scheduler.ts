import pRetry from 'p-retry';
import { formatDuration } from '../../text/format.ts';
import { type Clock, onNextTurn, unlessAborted } from '../clock.ts';
import { initialConcurrency, type Limits, patienceWhereUnreachable } from '../limits.ts';
import { type AttemptResult, describeAttempt } from '../read-response.ts';
import { SnippetError, type SnippetErrorCode } from '../snippet-error.ts';
import type { SnippetRequest } from '../snippet-request.ts';
import type { Variant } from '../variants.ts';
import type { Attempt, Endpoint } from './endpoint.ts';
import { Job, type JobResult, type Route } from './job.ts';
import type { Counts, Notice } from './notice.ts';
import { chooseRoute, decisionFor, nextWait, probeDelay, type RetryDecision } from './retry-policy.ts';
import { WaitLimit } from './wait-limit.ts';

interface SchedulerOptions {
  /** Counts what this scheduler does, on top of what others of the client did. */
  counts: Counts;
  endpoints: readonly Endpoint[];
  clock: Clock;
  limits: Limits;
  /** Milliseconds for which a service that gives no answer is tried. With 0, no endpoint becomes suspect. */
  patience: number;
  /** The most requests at once. May change while connections are opened. */
  maxConcurrency(): number;
  notify(notice: Notice): void;
  /** Makes one HTTP request. @throws only the reason of `signal`. */
  sendRequest(attempt: Attempt, signal: AbortSignal): Promise<AttemptResult>;
}

/** The base URL of variant B and the HTTP status that it sends, if it has no route for any snippet. */
export interface MissingRoute {
  baseUrl: string;
  status: number | undefined;
}

/** The result of an attempt, and the decision whether another one follows. */
interface JudgedResult {
  result: AttemptResult;
  /** `undefined` if the snippet arrived. */
  decision: RetryDecision | undefined;
  /** Whether a failure counts against the snippet: not while the endpoint may be down for all of them. */
  isConclusive: boolean;
  /** When the request ended, in milliseconds since the epoch. */
  now: number;
}

/** How many answered requests are kept for probes: several, as one snippet may begin to fail on its own. */
const maxProbeCandidates = 10;
/** After how many milliseconds without any answer the user is told. */
const outageNoticeDelay = 2_000;
/** The error codes that a wrong base URL, certificate authority or proxy leads to. */
const setupErrorCodes = new Set<SnippetErrorCode>(['no-route', 'redirect', 'certificate', 'invalid-options']);

/** If more snippets fail with these codes, and none fares otherwise, the setup is wrong and the run ends. */
const setupFailuresAllowed = 9;

/**
 * Decides which snippet is asked for next, when, and at which endpoint: one variant at its base URL.
 *
 * A snippet on its way is a job. The job waits in a list for its turn; then an attempt is made for it, which
 * is one HTTP request. A slot is held by a request on the wire, never by a wait. The number of slots grows
 * with each answer, and shrinks with each failure. Jobs are drawn at random, so that the first attempts are a
 * fair sample, whatever the order of snippets.
 *
 * A service that is down and a snippet that fails on its own look the same in one response. What tells them
 * apart is what happens to other snippets at that time:
 *
 * - An endpoint is healthy until something speaks against it. Any answer makes it healthy again. A refusal
 *   such as 404 is an answer, too: the service works.
 * - An endpoint is suspect when a snippet is to be asked for again and nothing was answered since it failed.
 * - An endpoint is down when more first attempts in a row have failed than chance explains, or more probes.
 * - An endpoint is given up when a probe fails after the end of patience. Its snippets fail, and later ones
 *   ask only now and then. Patience is one clock for all: it starts with the first request that failed since
 *   the last answer.
 * - An endpoint is held while the service asks to wait (`Retry-After`).
 *
 * A healthy endpoint gets as many requests as there are slots. An endpoint that is suspect or down gets one
 * probe at a time: a request that finds out whether the endpoint answers. Three kinds of snippets can serve.
 * A snippet that was answered before is best while the endpoint is suspect: if the probe fails, the snippet
 * is not to blame. A snippet that was never tried is best while the endpoint is down, since its answer is of
 * use. A snippet that has failed is the last choice.
 *
 * A failure is conclusive, and counts against its snippet, if something has been answered in this run and the
 * endpoint is neither down nor given up. All other failures say nothing about their snippets. An answer is
 * always conclusive; so is every failure if there is no patience.
 *
 * Policy is elsewhere: retry-policy.ts decides when a snippet is given up, {@link Endpoint} what is down,
 * {@link WaitLimit} how long the run waits for the next answer.
 */
export class Scheduler {
  readonly counts: Counts;
  readonly #options: SchedulerOptions;

  /** All snippets that are being fetched. */
  readonly #jobs = new Set<Job>();
  /** Jobs that wait for their first attempt. */
  #untried: Job[] = [];
  /** Jobs whose last attempt failed, and that wait for the next one. */
  #retrying: Job[] = [];
  /** The requests that were answered last, which probes may repeat. Empty until anything was answered. */
  readonly #answered: SnippetRequest[] = [];

  /** The number of requests in progress. */
  #underWay = 0;
  /** How many requests may be in progress at once, apart from probes. */
  #concurrency: number;
  /** Whether `#dispatch` runs at the next turn of the event loop. */
  #isScheduled = false;
  /** Aborted to stop the alarm: the one timer that calls `#schedule` when a job or a probe is due. */
  #alarm = new AbortController();
  /** When that timer fires, in milliseconds since the epoch; `Infinity` if it is not set. */
  #alarmAt = Infinity;

  /** When to end all jobs, as none was answered for too long. */
  readonly #waitLimit: WaitLimit;

  /** When the first request since the last answer that failed was sent, in milliseconds since the epoch. */
  #failingSince = Infinity;
  #isOutageAnnounced = false;
  /** The ids of snippets that failed with `setupErrorCodes`; `undefined` once any fared otherwise. */
  #setupFailures: Set<number> | undefined = new Set();

  /** The number of snippets that fell back to variant A and arrived, since variant B last rendered one. */
  #fallbacksInARow = 0;
  /** The last answer that showed that variant B has no route: no such URL. */
  #missingRoute: MissingRoute | undefined;
  /** Whether variant B has rendered a snippet, or one fell back for another reason than a missing route. */
  #mayHaveRoute = false;

  /** Aborted when the client is closed. */
  readonly #closed = new AbortController();

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.counts = options.counts;
    this.#waitLimit = new WaitLimit(options.limits);
    this.#concurrency = Math.min(initialConcurrency, options.maxConcurrency());
  }

  /** The missing route of variant B, if all snippets that fell back did so because there is no route. */
  get missingRoute(): MissingRoute | undefined {
    return this.#mayHaveRoute ? undefined : this.#missingRoute;
  }

  /**
   * Fetches one snippet: attempts, waits and the fallback from variant B to variant A.
   *
   * @param endpoints one or two, in the order of preference.
   * @throws SnippetError, or the reason of `signal`.
   */
  async fetch(
    request: SnippetRequest,
    endpoints: readonly Endpoint[],
    signal?: AbortSignal,
  ): Promise<JobResult> {
    this.#closed.signal.throwIfAborted();
    const { clock, limits } = this.#options;
    const job = new Job(request, endpoints, clock.now(), signal);
    if (this.#jobs.size === 0) this.#waitLimit.resume(job.createdAt);
    this.#jobs.add(job);

    try {
      const attempts = pRetry(() => this.#enqueue(job), {
        retries: limits.mostAttempts - 1,
        // p-retry's own pauses would ignore Retry-After and other snippets, so jobs wait in lists.
        minTimeout: 0,
        signal: job.signal,
        shouldConsumeRetry: ({ retriesConsumed }) => job.conclusiveAttempts > retriesConsumed,
        shouldRetry: ({ error }) => error instanceof SnippetError && this.#mayRetry(job, error.code),
      });
      return await unlessAborted(job.signal, attempts);
    } catch (error) {
      this.#withdraw(job);
      if (error instanceof SnippetError) this.#noteFailedSnippet(request, error.code);
      throw error;
    } finally {
      this.#jobs.delete(job);
      if (this.#jobs.size === 0) this.#becomeIdle();
    }
  }

  /** Fails all snippets that are being fetched, and all later ones, with this error. */
  close(error: SnippetError): void {
    this.#closed.abort(error);
    this.#endAllJobs(() => error);
  }

  /** Ends all jobs. @param reasonFor the error that the caller of a job gets. */
  #endAllJobs(reasonFor: (job: Job) => unknown) {
    this.#untried = [];
    this.#retrying = [];
    for (const job of this.#jobs) job.controller.abort(reasonFor(job));
  }

  #becomeIdle() {
    this.#waitLimit.pause(this.#options.clock.now());
    this.#endAlarm();
    // The time without an answer starts anew for later snippets, unless the service is given up already.
    if (!this.#options.endpoints.some(({ isGivenUp }) => isGivenUp)) this.#failingSince = Infinity;
  }

  /** Ends all jobs if the failure of a snippet shows that all others would fail, too. */
  #noteFailedSnippet({ id }: SnippetRequest, code: SnippetErrorCode) {
    if (setupErrorCodes.has(code)) this.#setupFailures?.add(id);
    else this.#setupFailures = undefined;

    const isSetupWrong = (this.#setupFailures?.size ?? 0) > setupFailuresAllowed;
    if (!isSetupWrong && decisionFor(code) !== 'end') return;
    const reason = 'not asked for: every request would fail the same way.';
    const error = new SnippetError('aborted', reason);
    this.#endAllJobs(() => error);
  }

  /** Puts a job into a waiting list. Resolves or rejects with the outcome of its next attempt. */
  #enqueue(job: Job) {
    job.outcome = Promise.withResolvers();
    (job.attempts === 0 ? this.#untried : this.#retrying).push(job);
    this.#schedule();
    return job.outcome.promise;
  }

  /** Decides whether another attempt follows a failed one, and when. */
  #mayRetry(job: Job, code: SnippetErrorCode) {
    const { clock, limits } = this.#options;
    const now = clock.now();
    const milliseconds = nextWait(decisionFor(code), job, { now, random: clock.random() }, limits);
    if (milliseconds === undefined) return false;

    job.spent += milliseconds;
    job.notBefore = now + milliseconds;
    return true;
  }

  /** Takes a job out of the list in which it waits. */
  #withdraw(job: Job) {
    for (const list of [this.#untried, this.#retrying]) {
      const index = list.indexOf(job);
      if (index !== -1) list.splice(index, 1);
    }
  }

  /** Calls `#dispatch` at the next turn of the event loop, so that all jobs made in this turn take part. */
  #schedule() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    onNextTurn(() => {
      this.#isScheduled = false;
      try {
        this.#dispatch(this.#options.clock.now());
      } catch (error) {
        // Throwing inside setImmediate would crash Node, so the waiting jobs fail instead.
        this.#endAllJobs(() => error);
      }
    });
  }

  /**
   * Starts the attempts and probes that are due, and sets the alarm for the others. All use the same `now`:
   * what fell due between two readings of the clock would be neither started nor waited for.
   */
  #dispatch(now: number) {
    const { endpoints } = this.#options;
    if (now >= this.#waitLimit.endsAt) return this.#endWait();
    this.#refuseJobs(now);
    this.#announceOutage(now);
    for (const endpoint of endpoints) this.#sendProbe(endpoint, now);

    if (endpoints.some((endpoint) => endpoint.statusAt(now) === 'healthy')) {
      const startOne = () => this.#startOneOf(this.#untried, now) || this.#startOneOf(this.#retrying, now);
      while (this.#underWay < this.#concurrency && startOne());
    }
    this.#setAlarm(now);
  }

  /** Starts an attempt for a job drawn at random. @returns whether any job was ready for an attempt. */
  #startOneOf(jobs: Job[], now: number): boolean {
    const start = Math.floor(this.#options.clock.random() * jobs.length);
    for (let offset = 0; offset < jobs.length; offset += 1) {
      const index = (start + offset) % jobs.length;
      const job = jobs[index] as Job;
      if (job.notBefore > now) continue;
      const route = chooseRoute(job.routes, now);
      const { endpoint } = route;
      if (endpoint.statusAt(now) !== 'healthy') continue;

      if (this.#needsProbe(job, route, now)) {
        endpoint.isSuspect = true;
        this.#sendProbe(endpoint, now);
        // The probe may have taken a job out of the list, so the search starts anew.
        return this.#startOneOf(jobs, now);
      }

      // The order of the list does not matter, so the last job takes the place of the removed one.
      jobs[index] = jobs.at(-1) as Job;
      jobs.pop();
      job.outcome.resolve(this.#makeAttempt(job, route, now, false));
      return true;
    }
    return false;
  }

  /** Whether the endpoint is to be probed first: it has answered nothing since this snippet failed there. */
  #needsProbe({ routes: [first, second] }: Job, route: Route, now: number) {
    const { endpoint, failures, lastFailureAt } = route;
    if (this.#options.patience === 0 || failures === 0 || endpoint.lastAnswerAt > lastFailureAt) return false;
    // If the snippet can fall back to a healthy variant A, it asks variant B again without a probe.
    const mayFallBack = route === first && second?.endpoint.statusAt(now) === 'healthy';
    return !mayFallBack;
  }

  /** Fails all jobs, since none was answered for too long, for whatever reasons. */
  #endWait() {
    const { endpoints, limits } = this.#options;
    const { lastFailure } = endpoints.find((endpoint) => endpoint.lastFailure) ?? {};
    const cause = lastFailure ? `; the last request failed: ${describeAttempt(lastFailure)}` : '';
    const reason = `no snippet has arrived for ${formatDuration(limits.deadline, 'long')}${cause}`;
    this.#endAllJobs(({ request, attempts, lastError }) => {
      return lastError ?? new SnippetError('unavailable', reason, { snippetId: request.id, attempts });
    });
  }

  /** Fails waiting jobs whose endpoint asks for too long a pause, or is given up. */
  #refuseJobs(now: number) {
    const mayRefuse = this.#options.endpoints.some((endpoint) => {
      const status = endpoint.statusAt(now);
      return status === 'held' || status === 'given-up';
    });
    if (!mayRefuse) return;

    const stays = (job: Job) => {
      const refusal = this.#refusalOf(job, now);
      if (refusal) job.controller.abort(refusal);
      return !refusal;
    };
    this.#untried = this.#untried.filter(stays);
    this.#retrying = this.#retrying.filter(stays);
  }

  /** The error of a job whose endpoint asks for too long a pause or is given up; `undefined` for others. */
  #refusalOf(job: Job, now: number): SnippetError | undefined {
    const { limits } = this.#options;
    const { request, routes, attempts } = job;
    const { heldUntil, variant, triedFor, lastFailure = {} } = chooseRoute(routes, now).endpoint;
    const fields = { snippetId: request.id, variant, attempts };

    const pause = heldUntil - now;
    const isGivenUp = routes.every(({ endpoint }) => endpoint.isGivenUp);
    if (pause > 0 && !isGivenUp) {
      const timeLeft = Math.min(limits.deadline - job.spent, this.#waitLimit.endsAt - now);
      if (pause <= limits.retryAfter && pause < timeLeft) return undefined;
      return new SnippetError('rate-limited', `the service asks to wait ${formatDuration(pause)}`, fields);
    }

    if (!isGivenUp) return undefined;
    // A job that came after the service was given up may wait if a probe is due or in progress.
    const isLate = routes.every(({ endpoint }) => endpoint.givenUpAt < job.createdAt);
    const mayAsk = routes.some(
      ({ endpoint }) => endpoint.hasProbe || now >= Math.max(endpoint.nextProbeAt, endpoint.heldUntil),
    );
    if (isLate && mayAsk) return undefined;

    // The time is rounded to seconds, so that all snippets have the same reason and it is reported once.
    const time = formatDuration(Math.round(triedFor / 1000) * 1000 || triedFor);
    const reason = `no request has succeeded for ${time}; the last one failed: ${describeAttempt(lastFailure)}`;
    return new SnippetError('unavailable', reason, fields);
  }

  /** How long an endpoint that gives no answer is tried, in milliseconds. */
  #patienceFor({ lastFailure }: Endpoint) {
    const { patience, limits } = this.#options;
    const isAbsent = lastFailure?.isUnreachable && this.#answered.length === 0;
    return Math.min(patience, isAbsent ? patienceWhereUnreachable : patience, limits.deadline);
  }

  #patienceEndsAt(endpoint: Endpoint) {
    return this.#failingSince + this.#patienceFor(endpoint);
  }

  /** When the next probe of an endpoint is due: at the latest when patience ends, to decide on giving up. */
  #probeDueAt(endpoint: Endpoint) {
    const { nextProbeAt, isGivenUp } = endpoint;
    return isGivenUp ? nextProbeAt : Math.min(nextProbeAt, this.#patienceEndsAt(endpoint));
  }

  /** Sends a probe, a test request, if one is due and a job waits for this endpoint; chooses its snippet. */
  #sendProbe(endpoint: Endpoint, now: number) {
    const { clock, limits, maxConcurrency } = this.#options;
    const status = endpoint.statusAt(now);
    if (status === 'healthy' || status === 'held' || endpoint.hasProbe) return;
    if (this.#underWay >= maxConcurrency() || now < this.#probeDueAt(endpoint)) return;

    const untried = this.#untried.filter((job) => waitsFor(job, endpoint, now));
    const retrying = this.#retrying.filter((job) => waitsFor(job, endpoint, now));
    if (untried.length + retrying.length === 0) return;

    endpoint.hasProbe = true;
    endpoint.nextProbeAt = now + probeDelay(endpoint.failedProbes, clock.random(), limits);

    // A snippet that is failing now is no test of the endpoint, even if it was answered before.
    const answered = this.#answered.filter(({ id }) => retrying.every(({ request }) => request.id !== id));
    if (answered.length > 0 && (status === 'suspect' || untried.length === 0)) {
      this.#repeatAnswered(pickRandom(answered, clock.random()), endpoint, now);
      return;
    }

    const job = pickRandom(untried.length > 0 ? untried : retrying, clock.random());
    this.#withdraw(job);
    const route = job.routes.find((candidate) => candidate.endpoint === endpoint) as Route;
    job.outcome.resolve(this.#makeAttempt(job, route, now, true));
  }

  /** Makes a probe that no job waits for: it repeats a request that was answered before. */
  #repeatAnswered(request: SnippetRequest, endpoint: Endpoint, startedAt: number) {
    this.counts.retries += 1;
    const timeout = Math.min(this.#options.limits.attemptTimeout, this.#waitLimit.endsAt - startedAt);
    const attempt = { request, endpoint, isProbe: true, isFirst: false, startedAt, timeout };
    // `#send` rejects only when the client is closed, and then nobody waits for this result.
    this.#send(attempt, this.#closed.signal).catch(() => {});
  }

  /** Sets the alarm for the next job, probe or notice that is due, unless it is set to an earlier time. */
  #setAlarm(now: number) {
    const { clock, endpoints, patience } = this.#options;
    let nextAt = Infinity;
    const consider = (time: number) => {
      if (time > now && time < nextAt) nextAt = time;
    };

    if (this.#untried.length + this.#retrying.length > 0) {
      for (const endpoint of endpoints) {
        consider(endpoint.heldUntil);
        if (endpoint.statusAt(now) !== 'healthy' && !endpoint.hasProbe) consider(this.#probeDueAt(endpoint));
      }
    }
    for (const { notBefore } of this.#retrying) consider(notBefore);
    if (patience > 0 && this.#jobs.size > 0 && !this.#isOutageAnnounced) {
      consider(this.#failingSince + outageNoticeDelay);
    }
    // Requests in progress end in time by themselves. What is due later is not waited for.
    if (nextAt !== Infinity) consider(this.#waitLimit.endsAt);
    if (nextAt >= this.#alarmAt) return;

    this.#endAlarm();
    this.#alarmAt = nextAt;
    const ring = () => {
      this.#waitLimit.noteLateness(nextAt, clock.now());
      this.#endAlarm();
      this.#schedule();
    };
    clock.wait(nextAt - now, this.#alarm.signal).then(ring, () => {});
  }

  #endAlarm() {
    // Aborting takes time, as it creates an error, so it is skipped if no alarm is set.
    if (this.#alarmAt === Infinity) return;
    this.#alarm.abort();
    this.#alarm = new AbortController();
    this.#alarmAt = Infinity;
  }

  /** Makes an attempt for a job, and notes how it went for the snippet. @throws SnippetError if it fails. */
  async #makeAttempt(job: Job, route: Route, startedAt: number, isProbe: boolean): Promise<JobResult> {
    const { attemptTimeout, deadline } = this.#options.limits;
    const { request } = job;
    const { endpoint } = route;
    const { variant } = endpoint;
    const isFirst = job.attempts === 0;
    const timeout = Math.min(attemptTimeout, deadline - job.spent, this.#waitLimit.endsAt - startedAt);
    if (isFirst) job.startedAt = startedAt;
    job.attempts += 1;
    if (route.failures > 0) this.counts.retries += 1;
    this.#noteFallback(job, endpoint);

    const attempt = { request, endpoint, isProbe, isFirst, startedAt, timeout };
    const { result, decision, isConclusive, now } = await this.#send(attempt, job.signal);
    job.recordAttempt(route, now - startedAt, isConclusive);

    if (decision === 'retry') {
      job.recordFailure(route, now, isConclusive);
      // Where one snippet after the other fails, a service that answers others is at work, and nobody waits.
      const isAtWork = isConclusive && result.code !== 'timeout' && endpoint.heldUntil <= now;
      if (isAtWork) this.#waitLimit.exclude(startedAt, now);
      // Waits, so that all failures of this moment are noted before one is judged: they may show an outage.
      await new Promise<void>(onNextTurn);
    } else {
      job.recordAnswer();
      this.#waitLimit.restart(now);
    }

    if (!result.code) {
      this.#noteArrivedSnippet(job, variant);
      return { ...result.snippet, variant, attempts: job.attempts, milliseconds: now - job.startedAt };
    }
    if (decision === 'other-variant') {
      job.removeRoute(route);
      if (variant === 'render') {
        this.#missingRoute = { baseUrl: endpoint.base.href, status: result.status };
      }
    }
    job.lastError = job.errorOf(result.code, result, variant);
    throw job.lastError;
  }

  /** Counts a fallback: a job's first attempt at variant A, unless all jobs now ask variant A first. */
  #noteFallback(job: Job, endpoint: Endpoint) {
    const { preferred, isFallback, routes } = job;
    if (endpoint === preferred || isFallback || preferred.isAbandoned) return;
    job.isFallback = true;
    this.counts.fallbacks += 1;
    // A missing route is removed from its job, so with two routes left, variant B failed for another reason.
    if (routes.length > 1) this.#mayHaveRoute = true;
  }

  /** Makes one HTTP request, and notes what the result says about its endpoint. */
  async #send(attempt: Attempt, signal: AbortSignal): Promise<JudgedResult> {
    const { sendRequest, clock } = this.#options;
    this.#underWay += 1;
    this.counts.requests += 1;
    const result = await sendRequest(attempt, signal).finally(() => {
      this.#underWay -= 1;
      if (attempt.isProbe) attempt.endpoint.hasProbe = false;
      this.#schedule();
    });

    const now = clock.now();
    this.#waitLimit.noteLateness(attempt.startedAt + attempt.timeout, now);
    const decision = result.code && decisionFor(result.code);
    let isConclusive = true;
    if (decision === 'retry') isConclusive = this.#noteFailure(attempt, result, now);
    else this.#noteAnswer(attempt, now);
    return { result, decision, isConclusive, now };
  }

  /** Notes an answer of an endpoint, even a refusal: it is healthy, and may get more requests at once. */
  #noteAnswer(attempt: Attempt, now: number) {
    const { maxConcurrency, notify } = this.#options;
    const { endpoint, request } = attempt;
    endpoint.recordAnswer(attempt, now);
    this.#failingSince = Infinity;
    this.#answered.unshift(request);
    this.#answered.length = Math.min(this.#answered.length, maxProbeCandidates);
    this.#concurrency = Math.min(this.#concurrency + 1, maxConcurrency());

    if (!this.#isOutageAnnounced) return;
    this.#isOutageAnnounced = false;
    notify({ kind: 'recovered', origin: endpoint.base.origin });
  }

  /** Notes a temporary failure. May give the endpoint up. @returns whether it counts against the snippet. */
  #noteFailure(attempt: Attempt, result: AttemptResult, now: number) {
    const { limits, maxConcurrency, patience } = this.#options;
    const { endpoint, isProbe, startedAt } = attempt;
    if (this.#failingSince === Infinity) this.#failingSince = startedAt;
    // Never below the initial number: a few snippets that keep failing must not slow down all others.
    const halved = Math.max(initialConcurrency, Math.floor(this.#concurrency / 2));
    this.#concurrency = Math.min(halved, maxConcurrency());

    endpoint.recordFailure(attempt, result, now);
    if (isProbe && now >= this.#patienceEndsAt(endpoint)) {
      endpoint.giveUp(now, now - this.#failingSince, now + limits.outageCap);
    }
    if (result.retryAfter !== undefined) this.#hold(endpoint, result.retryAfter, now);

    return patience === 0 || (this.#answered.length > 0 && !endpoint.isDown && !endpoint.isGivenUp);
  }

  /** Notes that a snippet has arrived, and decides whether the run asks variant A first from now on. */
  #noteArrivedSnippet({ isFallback, preferred }: Job, variant: Variant) {
    const { limits, notify } = this.#options;
    this.#setupFailures = undefined;
    if (variant === 'render') {
      this.#mayHaveRoute = true;
      this.#fallbacksInARow = 0;
    }

    // A fallback counts only if variant A sent the snippet: if both are down, variant A is no better.
    if (!isFallback || variant === 'render') return;
    this.#fallbacksInARow += 1;
    if (preferred.isAbandoned || this.#fallbacksInARow < limits.fallbacksInARow) return;
    preferred.isAbandoned = true;
    notify({ kind: 'render-given-up', isRouteMissing: !!this.missingRoute });
  }

  /** Tells the user that the service gives no answer, once that has lasted for two seconds. */
  #announceOutage(now: number) {
    const { endpoints, notify, patience } = this.#options;
    if (patience === 0 || this.#isOutageAnnounced) return;

    const isAnyTrusted = endpoints.some((endpoint) => {
      const status = endpoint.statusAt(now);
      return status === 'healthy' || status === 'held';
    });
    if (isAnyTrusted && this.#answered.length > 0) return;
    const endpoint = endpoints.find(({ lastFailure }) => lastFailure);
    if (!endpoint?.lastFailure || now < this.#failingSince + outageNoticeDelay) return;

    this.#isOutageAnnounced = true;
    notify({
      kind: 'failing',
      origin: endpoint.base.origin,
      reason: describeAttempt(endpoint.lastFailure),
      until: this.#patienceEndsAt(endpoint),
      patience: this.#patienceFor(endpoint),
    });
  }

  /** Notes that the service asks to wait. Tells the user once if the pause is short enough to wait for. */
  #hold({ base, heldUntil }: Endpoint, milliseconds: number, now: number) {
    const { endpoints, limits, notify } = this.#options;
    const until = now + milliseconds;
    if (until <= heldUntil) return;
    if (heldUntil <= now && milliseconds <= limits.retryAfter) {
      notify({ kind: 'held', origin: base.origin, milliseconds });
    }
    // The pause applies to the whole origin, and both variants may have the same one.
    for (const endpoint of endpoints) {
      if (endpoint.base.origin === base.origin) endpoint.heldUntil = until;
    }
  }
}

/** Whether a job waits for this endpoint: its next attempt is there, or it has no healthy endpoint. */
function waitsFor({ routes }: Job, endpoint: Endpoint, now: number): boolean {
  if (chooseRoute(routes, now).endpoint === endpoint) return true;
  const hasRoute = routes.some((route) => route.endpoint === endpoint);
  return hasRoute && !routes.some((route) => route.endpoint.statusAt(now) === 'healthy');
}

const pickRandom = <T>(list: readonly T[], random: number) => list[Math.floor(random * list.length)] as T;
