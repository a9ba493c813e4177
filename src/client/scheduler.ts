import { setImmediate as nextTurn } from 'node:timers/promises';
import pRetry from 'p-retry';
import { describe, type Response, type RetrievedSnippet, verdictOf } from './answer.ts';
import { type Clock, unlessAborted } from './clock.ts';
import { formatDuration } from './format.ts';
import { firstPace, type Limits, patienceWhereUnreachable } from './limits.ts';
import {
  type EndpointStatus,
  failureShare,
  nextWait,
  type Way as RoutedWay,
  route,
  rowLimit,
  witnessDelay,
  witnessLimit,
} from './retry-policy.ts';
import type { BaseUrl, Variant } from './service-url.ts';
import { SnippetError, type SnippetErrorCode } from './snippet-error.ts';
import type { SnippetRequest } from './snippet-request.ts';

/**
 * What a user of the client may want to know while it works.
 *
 * - `held`: the service asked (`Retry-After`) for a pause of so many milliseconds.
 * - `failing`: nothing has arrived from this origin for some time, and why. It is tried until then (milliseconds since the
 *   epoch), for so many milliseconds in all.
 * - `recovered`: it responds again.
 * - `render-given-up`: variant B failed for several snippets in a row; variant A is asked from now on. `isRouteMissing` if it
 *   has no route for any of them, as where its base URL is wrong.
 */
export type Notice =
  | { kind: 'held'; origin: string; milliseconds: number }
  | { kind: 'failing'; origin: string; reason: string; until: number; patience: number }
  | { kind: 'recovered'; origin: string }
  | { kind: 'render-given-up'; isRouteMissing: boolean };

/** What was sent so far. */
export interface Counts {
  /** HTTP requests, retries included. */
  requests: number;
  /** Requests that repeated one to the same variant. */
  retries: number;
  /** Snippets that fell back from variant B to variant A. */
  fallbacks: number;
}

/** `Retry-After` is about the whole origin, which both variants may share. */
export interface Origin {
  name: string;
  /** Until when the service has asked to wait. */
  heldUntil: number;
}

/**
 * One of the two variants, and how it is doing. Times are in milliseconds since the epoch.
 *
 * Judged by the first attempts of snippets alone: one that keeps failing would otherwise make it look worse with each of
 * its retries.
 */
export class Endpoint {
  /** Snippets that were answered, and how often these had failed before: the failures that are chance. */
  answered = 0;
  failedBefore = 0;
  /** First attempts that were answered, and that failed before the last answer. */
  firstAnswered = 0;
  firstFailed = 0;
  /** Ids whose first attempt has failed since the last answer. */
  readonly row = new Set<number>();
  lastAnswer = Number.NEGATIVE_INFINITY;
  lastFailure: Response | undefined;
  isDoubted = false;
  hasWitness = false;
  nextWitness = 0;
  /** Since the last answer. */
  failedWitnesses = 0;
  /** When the last witness failed after patience had ended. */
  givenUpAt = Number.NEGATIVE_INFINITY;

  readonly variant: Variant;
  readonly base: BaseUrl;
  readonly origin: Origin;
  readonly #limits: Limits;

  constructor(variant: Variant, base: BaseUrl, origin: Origin, limits: Limits) {
    this.variant = variant;
    this.base = base;
    this.origin = origin;
    this.#limits = limits;
  }

  get failureShare(): number | undefined {
    return this.answered === 0 ? undefined : failureShare(this.answered, this.failedBefore);
  }

  get isGivenUp(): boolean {
    return this.givenUpAt > this.lastAnswer;
  }

  get isDown(): boolean {
    const { failedWitnesses, row, firstAnswered, firstFailed } = this;
    if (failedWitnesses + row.size === 0) return false;
    if (failedWitnesses > 0 && failedWitnesses >= witnessLimit(this.failureShare)) return true;
    return row.size >= rowLimit(firstAnswered, firstFailed, this.#limits);
  }

  /** What it is apart from a pause that it asked for. */
  get state(): Exclude<EndpointStatus, 'held'> {
    if (this.isGivenUp) return 'given-up';
    if (this.isDown) return 'down';
    return this.isDoubted ? 'doubted' : 'open';
  }

  status(now: number): EndpointStatus {
    return this.origin.heldUntil > now ? 'held' : this.state;
  }
}

interface Way extends RoutedWay {
  readonly endpoint: Endpoint;
  lastFailure: number;
}

/** A snippet on its way. */
interface Job {
  readonly request: SnippetRequest;
  readonly signal: AbortSignal;
  readonly stop: AbortController;
  /** Those that it may take, in the order of preference: one or two. */
  ways: readonly Way[];
  readonly preferred: Endpoint | undefined;
  readonly cameAt: number;
  attempts: number;
  /** On the wire and between two attempts, in milliseconds. Waiting for a turn does not count. */
  spent: number;
  startedAt: number;
  /** When it may be asked for again. */
  notBefore: number;
  isFallback: boolean;
  /** The way that the last attempt took, and whether its failure says something about the snippet. */
  failed: Way | undefined;
  counts: boolean;
  /** Begins the attempt that waits for its turn. */
  begin(attempt: Promise<Arrival>): void;
}

export interface Arrival {
  variant: Variant;
  value: Omit<RetrievedSnippet, 'id'>;
  attempts: number;
  milliseconds: number;
}

/** A request that is made now. */
export interface Turn {
  request: SnippetRequest;
  endpoint: Endpoint;
  isWitness: boolean;
  /** Whether it is the first one for this snippet. */
  isFirst: boolean;
  startedAt: number;
  /** The most that it may take. */
  milliseconds: number;
}

export interface SchedulerOptions {
  endpoints: readonly Endpoint[];
  clock: Clock;
  limits: Limits;
  /** How long a service that answers no one is tried, in milliseconds. With 0, each failure counts against its snippet. */
  patience: number;
  /** The most requests at once, for now. */
  most(): number;
  notify(notice: Notice): void;
  /** Makes a request. @throws the reason of `signal`, and nothing else. */
  ask(turn: Turn, signal: AbortSignal): Promise<Response>;
}

// How many snippets that arrived may be asked for again: one alone could be an id that dies afterwards.
const witnessesKept = 10;

// In milliseconds: how long nothing has to arrive before the user is told.
const silence = 2_000;

// What a wrong base URL, certificate authority or proxy leads to. One snippet may be an exception, many are not.
const setupFailures: ReadonlySet<SnippetErrorCode> = new Set([
  'no-route',
  'redirect',
  'certificate',
  'invalid-options',
]);
const setupFailuresAllowed = 9;

/**
 * Decides which snippet is asked for next, where, and when. A slot is held by a request on the wire, never by a wait.
 *
 * An endpoint is down when more first attempts fail in a row than chance explains. It is doubted when a snippet is to be
 * asked for again and no one was answered since it failed. Then one witness at a time asks: one that arrived before shows
 * whether a doubted endpoint is down; of one that is down, a snippet that was never tried is asked for, and one that failed
 * if there is no other. An answer opens the endpoint, and the end of patience gives it up. Failures while it is down, and
 * all while nothing has arrived yet, say nothing about their snippets.
 */
export class Scheduler {
  readonly counts: Counts = { requests: 0, retries: 0, fallbacks: 0 };
  readonly #options: SchedulerOptions;
  /** In progress. */
  readonly #jobs = new Set<Job>();
  /** Those of them that wait for their turn. */
  #untried: Job[] = [];
  #again: Job[] = [];
  /** Snippets that were answered last. */
  readonly #answered: SnippetRequest[] = [];
  /** Ids that failed as a wrong setup does. */
  readonly #misled = new Set<number>();
  /** Whether anything else has happened, so that the setup is right. */
  #isSetUp = false;
  /** When the first request was made that has failed since the last answer of all. */
  #failingSince: number | undefined;
  /** Whether the user has been told that nothing arrives. */
  #isSilent = false;
  #leavesFirst = false;
  #fallbacksInARow = 0;
  /** Of variant B: whether it has rendered a snippet, for how many it had no route, and what it answered instead. */
  #hasRendered = false;
  #withoutRoute = 0;
  #routeStatus: number | undefined;
  #pace: number;
  #underWay = 0;
  #isLooking = false;
  #alarm: { at: number; ended: AbortController } | undefined;
  readonly #ended = new AbortController();

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#pace = Math.min(firstPace, options.most());
  }

  /** What variant B answers, if it has rendered nothing, and each snippet fell back because it has no such route. */
  get routeMissing(): { baseUrl: string; status: number | undefined } | undefined {
    const render = this.#options.endpoints.find(({ variant }) => variant === 'render');
    const hasRoute = this.#hasRendered || this.#withoutRoute < this.counts.fallbacks;
    if (render === undefined || hasRoute || this.#withoutRoute === 0) return undefined;
    return { baseUrl: render.base.href, status: this.#routeStatus };
  }

  /**
   * @param endpoints one or two, in the order of preference.
   * @throws SnippetError, or the reason of `signal`.
   */
  async fetch(
    request: SnippetRequest,
    endpoints: readonly Endpoint[],
    signal?: AbortSignal,
  ): Promise<Arrival> {
    this.#ended.signal.throwIfAborted();
    const { clock, limits } = this.#options;
    const stop = new AbortController();
    const job: Job = {
      request,
      stop,
      // One signal for each job, since a thousand listeners on one signal are slow.
      signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
      ways: endpoints.map((endpoint) => ({ endpoint, failures: 0, counted: 0, lastFailure: 0 })),
      preferred: endpoints[0],
      cameAt: clock.now(),
      attempts: 0,
      spent: 0,
      startedAt: 0,
      notBefore: 0,
      isFallback: false,
      failed: undefined,
      counts: true,
      begin() {},
    };
    this.#jobs.add(job);
    try {
      return await pRetry(() => this.#attempt(job), {
        retries: limits.mostAttempts - 1,
        // p-retry's own waits know neither Retry-After nor other snippets: an attempt waits for its turn instead.
        minTimeout: 0,
        signal: job.signal,
        shouldConsumeRetry: () => job.counts,
        shouldRetry: ({ error, retriesConsumed }) =>
          error instanceof SnippetError && this.#mayRetry(job, error.code, retriesConsumed),
      });
    } catch (error) {
      this.#withdraw(job);
      if (error instanceof SnippetError) this.#noteLoss(request, error.code);
      throw error;
    } finally {
      this.#jobs.delete(job);
      if (this.#jobs.size === 0) {
        this.#alarm?.ended.abort();
        this.#alarm = undefined;
        // What comes later has patience of its own.
        if (!this.#options.endpoints.some(({ isGivenUp }) => isGivenUp)) this.#failingSince = undefined;
      }
    }
  }

  /** Ends whatever is in progress, and what comes later. */
  end(error: SnippetError): void {
    this.#ended.abort(error);
    this.#alarm?.ended.abort();
    this.#endAll(error);
  }

  #endAll(error: unknown): void {
    this.#untried = [];
    this.#again = [];
    for (const { stop } of [...this.#jobs]) stop.abort(error);
  }

  /** Ends what waits if every request would fail the same way. */
  #noteLoss({ id }: SnippetRequest, code: SnippetErrorCode): void {
    if (!setupFailures.has(code)) this.#isSetUp = true;
    else this.#misled.add(id);
    const isMisled = !this.#isSetUp && this.#misled.size > setupFailuresAllowed;
    if (!isMisled && verdictOf(code) !== 'end') return;
    this.#endAll(new SnippetError('aborted', 'not asked for: every request would fail the same way.'));
  }

  /** Waits for the job's turn, and asks. */
  #attempt(job: Job): Promise<Arrival> {
    const { promise, resolve } = Promise.withResolvers<Arrival>();
    job.begin = resolve;
    (job.attempts === 0 ? this.#untried : this.#again).push(job);
    this.#look();
    return unlessAborted(job.signal, promise);
  }

  /** Decides whether a snippet is asked for again, and when. */
  #mayRetry(job: Job, code: SnippetErrorCode, counted: number): boolean {
    const { clock, limits } = this.#options;
    const { ways, failed, counts, spent } = job;
    if (failed === undefined) return false;
    const now = clock.now();
    const state = {
      ways,
      failed,
      counted: counts ? counted + 1 : counted,
      leavesFirst: this.#leavesFirst,
      isAlive: now - failed.endpoint.lastAnswer <= limits.outageCap,
      timeLeft: limits.deadline - spent,
      random: clock.random(),
      now,
    };
    const milliseconds = nextWait(verdictOf(code), state, limits);
    if (milliseconds === undefined) return false;
    job.spent += milliseconds;
    job.notBefore = now + milliseconds;
    return true;
  }

  #withdraw(job: Job): void {
    for (const list of [this.#untried, this.#again]) {
      const at = list.indexOf(job);
      if (at !== -1) list.splice(at, 1);
    }
  }

  /** What is asked for at the same time is looked at together, so that the first is drawn from all. */
  #look(): void {
    if (this.#isLooking) return;
    this.#isLooking = true;
    setImmediate(() => {
      this.#isLooking = false;
      try {
        this.#start(this.#options.clock.now());
      } catch (error) {
        // No one else would hear of it, and it would end the process.
        this.#endAll(error);
      }
    });
  }

  /** Everything is judged at one time: what is due between two readings of the clock would be waited for by no one. */
  #start(now: number): void {
    const { endpoints } = this.#options;
    if (endpoints.some((one) => ['held', 'given-up'].includes(one.status(now)))) {
      const stays = (job: Job) => {
        const refusal = this.#refusal(job, now);
        if (refusal !== undefined) job.stop.abort(refusal);
        return refusal === undefined;
      };
      this.#untried = this.#untried.filter(stays);
      this.#again = this.#again.filter(stays);
    }
    this.#announceSilence(now);
    for (const endpoint of endpoints) this.#sendWitness(endpoint, now);
    if (endpoints.some((one) => one.status(now) === 'open')) {
      const startOne = () => this.#startOne(this.#untried, now) || this.#startOne(this.#again, now);
      while (this.#underWay < this.#pace && startOne());
    }
    this.#setAlarm(now);
  }

  /** Starts one of these at random, so that the first answers say something about all of them, whatever their order. */
  #startOne(jobs: Job[], now: number): boolean {
    const from = Math.floor(this.#options.clock.random() * jobs.length);
    for (let tried = 0; tried < jobs.length; tried += 1) {
      const at = (from + tried) % jobs.length;
      const job = jobs[at] as Job;
      if (job.notBefore > now) continue;
      const way = this.#route(job, now);
      const { endpoint } = way;
      if (endpoint.status(now) !== 'open') continue;
      if (this.#needsWitness(job, way, now)) {
        endpoint.isDoubted = true;
        this.#sendWitness(endpoint, now);
        return this.#startOne(jobs, now);
      }
      jobs[at] = jobs.at(-1) as Job;
      jobs.pop();
      job.begin(this.#ask(job, way, now, false));
      return true;
    }
    return false;
  }

  /** The way that the job's next attempt takes, or waits for. */
  #route({ ways }: Job, now: number): Way {
    return route(ways, now, this.#leavesFirst);
  }

  /**
   * Whether no one was answered since this snippet failed there, so that another failure would say nothing about it. One
   * that may fall back asks twice before it does, without a witness.
   */
  #needsWitness({ ways: [first, second] }: Job, way: Way, now: number): boolean {
    const { endpoint, failures, lastFailure } = way;
    if (this.#options.patience === 0 || failures === 0 || endpoint.lastAnswer > lastFailure) return false;
    return way !== first || second === undefined || second.endpoint.status(now) !== 'open';
  }

  /** Why a snippet is not worth waiting for: the service asks for too long a pause, or is given up. */
  #refusal(job: Job, now: number): SnippetError | undefined {
    const { limits } = this.#options;
    const { request, ways, attempts } = job;
    const { origin, variant, givenUpAt, lastFailure = {} } = this.#route(job, now).endpoint;
    const place = { snippetId: request.id, variant, attempts };
    const pause = origin.heldUntil - now;
    if (pause > 0) {
      if (pause <= limits.retryAfter && pause < limits.deadline - job.spent) return undefined;
      return new SnippetError('rate-limited', `the service asks to wait ${formatDuration(pause)}`, place);
    }
    if (!ways.every(({ endpoint }) => endpoint.isGivenUp)) return undefined;
    // It is still asked now and then, by those that come later.
    const isLate = ways.every(({ endpoint }) => endpoint.givenUpAt < job.cameAt);
    const mayAsk = ways.some(({ endpoint }) => endpoint.hasWitness || now >= endpoint.nextWitness);
    if (isLate && mayAsk) return undefined;
    const tried = givenUpAt - (this.#failingSince ?? now);
    // Whole seconds: no one needs more, and the same reason is reported once.
    const time = formatDuration(Math.round(tried / 1000) * 1000 || tried);
    const reason = `no request has succeeded for ${time}; the last one failed: ${describe(lastFailure)}`;
    return new SnippetError('unavailable', reason, place);
  }

  #patienceFor({ lastFailure }: Endpoint): number {
    const { patience, limits } = this.#options;
    const isAbsent = lastFailure?.isUnreachable && this.#answered.length === 0;
    return Math.min(patience, isAbsent ? patienceWhereUnreachable : patience, limits.deadline);
  }

  #patienceEnds(endpoint: Endpoint, now: number): number {
    return (this.#failingSince ?? now) + this.#patienceFor(endpoint);
  }

  /** When the next witness asks: now and then, and once more when patience ends. */
  #witnessDue(endpoint: Endpoint, now: number): number {
    const { nextWitness, isGivenUp } = endpoint;
    return isGivenUp ? nextWitness : Math.min(nextWitness, this.#patienceEnds(endpoint, now));
  }

  /** Finds out whether an endpoint responds, for those that cannot ask another one meanwhile. */
  #sendWitness(endpoint: Endpoint, now: number): void {
    const { clock, limits, most } = this.#options;
    const status = endpoint.status(now);
    if (status === 'open' || status === 'held' || endpoint.hasWitness) return;
    if (this.#underWay >= most() || now < this.#witnessDue(endpoint, now)) return;
    const waits = (job: Job) =>
      this.#route(job, now).endpoint === endpoint ||
      (job.ways.some((way) => way.endpoint === endpoint) &&
        !job.ways.some((way) => way.endpoint.status(now) === 'open'));
    const untried = this.#untried.filter(waits);
    const again = this.#again.filter(waits);
    if (untried.length + again.length === 0) return;
    endpoint.hasWitness = true;
    endpoint.nextWitness = now + witnessDelay(endpoint.failedWitnesses, clock.random(), limits);
    const failing = new Set(again.map(({ request }) => request.id));
    const answered = this.#answered.filter(({ id }) => !failing.has(id));
    // What may be dead for good proves nothing. The answer to a snippet that was never tried is of use.
    if (answered.length > 0 && (status === 'doubted' || untried.length === 0)) {
      this.counts.retries += 1;
      const request = pick(answered, clock.random());
      const milliseconds = limits.attemptTimeout;
      const turn = { request, endpoint, isWitness: true, isFirst: false, startedAt: now, milliseconds };
      // Only the end of the client makes it throw.
      this.#send(turn, this.#ended.signal).catch(() => {});
      return;
    }
    const job = pick(untried.length > 0 ? untried : again, clock.random());
    this.#withdraw(job);
    const way = job.ways.find((one) => one.endpoint === endpoint) as Way;
    job.begin(this.#ask(job, way, now, true));
  }

  /** Looks again when something may be asked for, or said. */
  #setAlarm(now: number): void {
    const { clock, endpoints, patience } = this.#options;
    let at = Number.POSITIVE_INFINITY;
    const consider = (time: number) => {
      if (time > now && time < at) at = time;
    };
    if (this.#untried.length + this.#again.length > 0) {
      for (const endpoint of endpoints) {
        consider(endpoint.origin.heldUntil);
        if (endpoint.status(now) !== 'open' && !endpoint.hasWitness)
          consider(this.#witnessDue(endpoint, now));
      }
    }
    for (const { notBefore } of this.#again) consider(notBefore);
    if (patience > 0 && this.#jobs.size > 0 && !this.#isSilent) consider(this.#silentFrom);
    if (at >= (this.#alarm?.at ?? Number.POSITIVE_INFINITY)) return;
    this.#alarm?.ended.abort();
    const alarm = { at, ended: new AbortController() };
    this.#alarm = alarm;
    const ring = () => {
      if (this.#alarm === alarm) this.#alarm = undefined;
      this.#look();
    };
    clock.wait(at - now, alarm.ended.signal).then(ring, () => {});
  }

  async #ask(job: Job, way: Way, startedAt: number, isWitness: boolean): Promise<Arrival> {
    const { attemptTimeout, deadline } = this.#options.limits;
    const { request } = job;
    const { endpoint } = way;
    const { variant } = endpoint;
    const isFirst = job.attempts === 0;
    const milliseconds = Math.min(attemptTimeout, deadline - job.spent);
    if (isFirst) job.startedAt = startedAt;
    job.attempts += 1;
    if (way.failures > 0) this.counts.retries += 1;
    if (endpoint !== job.preferred && !job.isFallback && !this.#leavesFirst) {
      job.isFallback = true;
      this.counts.fallbacks += 1;
    }
    const turn = { request, endpoint, isWitness, isFirst, startedAt, milliseconds };
    const { response, counts, now } = await this.#send(turn, job.signal);
    const { code, value = {}, status, problem, reason } = response;
    const { attempts } = job;
    job.spent += now - startedAt;
    job.failed = way;
    job.counts = counts;
    if (code !== undefined && verdictOf(code) === 'again') {
      way.failures += 1;
      if (counts) way.counted += 1;
      way.lastFailure = now;
      // What failed with it is noted first: together they may show that no one is answered.
      await nextTurn();
    } else {
      // What failed before it arrived had failed by chance.
      for (const one of job.ways) one.endpoint.failedBefore += one.counted;
    }
    if (code === undefined) {
      this.#noteArrival(job, variant);
      return { variant, value, attempts, milliseconds: now - job.startedAt };
    }
    if (verdictOf(code) === 'elsewhere') {
      job.ways = job.ways.filter((one) => one !== way);
      if (variant === 'render') {
        this.#withoutRoute += 1;
        this.#routeStatus = status;
      }
    }
    const afterAttempts = attempts === 1 ? '' : ` (${attempts} attempts)`;
    const cause = reason === undefined ? undefined : new Error(reason);
    const fields = { snippetId: request.id, variant, attempts, status, problem, cause };
    throw new SnippetError(code, `${describe(response)}${afterAttempts}`, fields);
  }

  /** Makes a request, and notes what it says about its endpoint, and whether a failure says something about its snippet. */
  async #send(
    turn: Turn,
    signal: AbortSignal,
  ): Promise<{ response: Response; counts: boolean; now: number }> {
    const { ask, clock } = this.#options;
    this.#underWay += 1;
    this.counts.requests += 1;
    const response = await ask(turn, signal).finally(() => {
      this.#underWay -= 1;
      if (turn.isWitness) turn.endpoint.hasWitness = false;
      this.#look();
    });
    const now = clock.now();
    const isFailure = response.code !== undefined && verdictOf(response.code) === 'again';
    if (isFailure) return { response, counts: this.#noteFailure(turn, response, now), now };
    this.#noteAnswer(turn, now);
    return { response, counts: true, now };
  }

  #noteAnswer({ endpoint, request, isFirst }: Turn, now: number): void {
    endpoint.firstFailed += endpoint.row.size;
    endpoint.row.clear();
    endpoint.answered += 1;
    if (isFirst) endpoint.firstAnswered += 1;
    endpoint.lastAnswer = now;
    endpoint.isDoubted = false;
    endpoint.failedWitnesses = 0;
    endpoint.nextWitness = 0;
    this.#failingSince = undefined;
    this.#answered.unshift(request);
    this.#answered.length = Math.min(this.#answered.length, witnessesKept);
    this.#pace = Math.min(this.#pace + 1, this.#options.most());
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#options.notify({ kind: 'recovered', origin: endpoint.origin.name });
  }

  #noteArrival({ isFallback }: Job, variant: Variant): void {
    const { limits, notify } = this.#options;
    this.#isSetUp = true;
    if (variant === 'render') {
      this.#hasRendered = true;
      this.#fallbacksInARow = 0;
    }
    // Only a fallback that variant A has answered counts: if both are down, variant B is not the one to leave.
    if (!isFallback || variant === 'render') return;
    this.#fallbacksInARow += 1;
    if (this.#leavesFirst || this.#fallbacksInARow < limits.fallbacksInARow) return;
    this.#leavesFirst = true;
    notify({ kind: 'render-given-up', isRouteMissing: this.routeMissing !== undefined });
  }

  /** Returns whether the failure says something about its snippet. */
  #noteFailure(
    { endpoint, request, isWitness, isFirst, startedAt }: Turn,
    response: Response,
    now: number,
  ): boolean {
    const { limits, most, patience } = this.#options;
    this.#failingSince ??= startedAt;
    endpoint.lastFailure = response;
    // Never below where it started, so that a few snippets that keep failing do not slow all others down.
    this.#pace = Math.min(Math.max(firstPace, Math.floor(this.#pace / 2)), most());
    if (isFirst) endpoint.row.add(request.id);
    if (isWitness) {
      endpoint.failedWitnesses += 1;
      // It may have been chance. The next one asks at once.
      if (!endpoint.isDown) endpoint.nextWitness = now;
      if (now >= this.#patienceEnds(endpoint, now)) {
        endpoint.givenUpAt = now;
        endpoint.nextWitness = now + limits.outageCap;
      }
    }
    const { retryAfter } = response;
    if (retryAfter !== undefined) this.#hold(endpoint.origin, retryAfter, now);
    return patience === 0 || (this.#answered.length > 0 && !endpoint.isDown && !endpoint.isGivenUp);
  }

  /** From when nothing has arrived for so long that the user is told. */
  get #silentFrom(): number {
    return this.#failingSince === undefined ? Number.POSITIVE_INFINITY : this.#failingSince + silence;
  }

  #announceSilence(now: number): void {
    const { endpoints, notify, patience } = this.#options;
    // Where others arrive, the snippets that fail are to blame.
    const mayBeAlive = this.#answered.length > 0 && endpoints.some(({ state }) => state === 'open');
    if (patience === 0 || this.#isSilent || mayBeAlive || now < this.#silentFrom) return;
    const endpoint = endpoints.find(({ lastFailure }) => lastFailure !== undefined);
    if (endpoint?.lastFailure === undefined) return;
    this.#isSilent = true;
    notify({
      kind: 'failing',
      origin: endpoint.origin.name,
      reason: describe(endpoint.lastFailure),
      until: this.#patienceEnds(endpoint, now),
      patience: this.#patienceFor(endpoint),
    });
  }

  /** Holds every request to this origin back (`Retry-After`). */
  #hold(origin: Origin, milliseconds: number, now: number): void {
    const { limits, notify } = this.#options;
    const until = now + milliseconds;
    if (until <= origin.heldUntil) return;
    if (origin.heldUntil <= now && milliseconds <= limits.retryAfter) {
      notify({ kind: 'held', origin: origin.name, milliseconds });
    }
    origin.heldUntil = until;
  }
}

function pick<T>(list: readonly T[], random: number): T {
  return list[Math.floor(random * list.length)] as T;
}
