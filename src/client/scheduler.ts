import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, type Response, verdictOf } from './answer.ts';
import type { Clock } from './clock.ts';
import { formatDuration } from './format.ts';
import { firstPace, type Limits, patienceWhereUnreachable } from './limits.ts';
import {
  type EndpointView,
  failureShare,
  nextWait,
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
  /** Until when the service has asked to wait, in milliseconds since the epoch. */
  heldUntil: number;
}

/**
 * One of the two variants, and how it is doing. Times are in milliseconds since the epoch.
 *
 * Judged by the first attempts of snippets alone: one that keeps failing would otherwise make it look worse with each of
 * its retries.
 */
export class Endpoint {
  state: Exclude<EndpointView['status'], 'held'> = 'open';
  /** Snippets that were answered, and how often these had failed before: the failures that are chance. */
  answered = 0;
  failedBefore = 0;
  /** First attempts that were answered, and that failed before the last answer. */
  firstAnswered = 0;
  firstFailed = 0;
  /** Ids whose first attempt has failed since the last answer. */
  readonly row = new Set<number>();
  lastAnswer = Number.NEGATIVE_INFINITY;
  /** Why the last request failed. */
  reason = '';
  isUnreachable = false;
  hasWitness = false;
  nextWitness = 0;
  /** Since the last answer. */
  failedWitnesses = 0;
  /** When the last witness failed after patience had ended. */
  givenUpAt = Number.NEGATIVE_INFINITY;

  readonly variant: Variant;
  readonly base: BaseUrl;
  readonly origin: Origin;

  constructor(variant: Variant, base: BaseUrl, origin: Origin) {
    this.variant = variant;
    this.base = base;
    this.origin = origin;
  }
}

/** How one endpoint has treated a snippet. */
interface Tally {
  failures: number;
  counted: number;
  last: number;
}

const noTally: Readonly<Tally> = { failures: 0, counted: 0, last: Number.NEGATIVE_INFINITY };

/** A request that may be made now. */
export interface Turn {
  /** The job's own; or one that arrived before, to find out whether anyone is answered. */
  request: SnippetRequest;
  endpoint: Endpoint;
  isWitness: boolean;
  startedAt: number;
  /** The most that it may take. */
  milliseconds: number;
}

/** A snippet on its way. */
export interface Job {
  readonly request: SnippetRequest;
  readonly signal: AbortSignal;
  /** Where it may be asked for, in the order of preference: one or two. */
  endpoints: readonly Endpoint[];
  readonly preferred: Endpoint | undefined;
  readonly cameAt: number;
  readonly stop: AbortController;
  readonly tallies: Map<Endpoint, Tally>;
  attempts: number;
  /** Attempts that say something about the snippet. */
  counted: number;
  /** On the wire and between two attempts, in milliseconds. Waiting for a turn does not count. */
  spent: number;
  startedAt: number | undefined;
  /** When it may be asked for again. */
  notBefore: number;
  isFallback: boolean;
  turn: { take(turn: Turn): void; refuse(error: unknown): void } | undefined;
}

/** An attempt that did not lead to the content. */
export class FailedAttempt extends Error {
  readonly endpoint: Endpoint;
  readonly error: SnippetError;
  /** Whether it says something about the snippet. */
  readonly counts: boolean;

  constructor(endpoint: Endpoint, error: SnippetError, counts: boolean) {
    super(error.message);
    this.endpoint = endpoint;
    this.error = error;
    this.counts = counts;
  }
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
const failuresAlike = 10;

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
  /** Snippets that have arrived last. */
  readonly #arrived: SnippetRequest[] = [];
  /** Ids that failed as a wrong setup does, while nothing else happened. */
  readonly #alike = { ids: new Set<number>(), code: undefined as SnippetErrorCode | undefined };
  #ended: SnippetError | undefined;
  #hasAnswered = false;
  /** When the first request was made that has failed since the last answer of all. */
  #failingSince: number | undefined;
  /** Whether the user has been told that nothing arrives. */
  #isSilent = false;
  #leavesFirst = false;
  #fallbacksInARow = 0;
  /** Of variant B: how many snippets it has rendered, and for how many it had no route. */
  #rendered = 0;
  #withoutRoute = 0;
  #routeStatus: number | undefined;
  #pace: number;
  #underWay = 0;
  #isLooking = false;
  #alarm: { at: number; ended: AbortController } | undefined;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#pace = Math.min(firstPace, options.most());
  }

  /** What variant B answers, if it has rendered nothing, and each snippet fell back because it has no such route. */
  get routeMissing(): { baseUrl: string; status: number | undefined } | undefined {
    const render = this.#options.endpoints.find(({ variant }) => variant === 'render');
    if (render === undefined || this.#rendered > 0 || this.#withoutRoute === 0) return undefined;
    if (this.#withoutRoute < this.counts.fallbacks) return undefined;
    return { baseUrl: render.base.href, status: this.#routeStatus };
  }

  /**
   * Begins with a snippet. For each attempt, wait for its {@link turn}, make the request, and {@link note} what it led to.
   *
   * @param endpoints one or two, in the order of preference.
   * @throws SnippetError if everything has ended.
   */
  begin(request: SnippetRequest, endpoints: readonly Endpoint[], signal?: AbortSignal): Job {
    if (this.#ended !== undefined) throw this.#ended;
    const stop = new AbortController();
    const job: Job = {
      request,
      endpoints,
      preferred: endpoints[0],
      cameAt: this.#options.clock.now(),
      stop,
      // One signal for each job, since a thousand listeners on one signal are slow.
      signal: signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]),
      tallies: new Map(),
      attempts: 0,
      counted: 0,
      spent: 0,
      startedAt: undefined,
      notBefore: 0,
      isFallback: false,
      turn: undefined,
    };
    this.#jobs.add(job);
    return job;
  }

  /** @param error what the snippet failed with, if it did. */
  leave(job: Job, error?: unknown): void {
    this.#jobs.delete(job);
    if (error instanceof FailedAttempt) {
      const { code } = error.error;
      this.#watchSetup(job.request.id, code);
      // The key serves every request.
      if (verdictOf(code) === 'end') this.#endAll(notAsked());
    }
    const isGivenUp = this.#options.endpoints.some(({ state }) => state === 'given-up');
    // No one has asked in the meantime, so what comes later has patience of its own.
    if (this.#jobs.size === 0 && !isGivenUp) this.#failingSince = undefined;
  }

  /** Ends whatever is in progress, and what comes later. */
  end(error: SnippetError): void {
    this.#ended = error;
    this.#alarm?.ended.abort();
    this.#endAll(error);
  }

  #endAll(error: unknown): void {
    this.#untried = [];
    this.#again = [];
    for (const { stop } of [...this.#jobs]) stop.abort(error);
  }

  /** Ends what waits if the first snippets all fail in the same way, before anything has arrived. */
  #watchSetup(id: number, code: SnippetErrorCode): void {
    const alike = this.#alike;
    alike.code ??= code;
    if (code !== alike.code || !setupFailures.has(code)) alike.code = 'aborted';
    else if (alike.ids.add(id).size >= failuresAlike) this.#endAll(notAsked());
  }

  /** The request of a turn is no longer on the wire. */
  done({ endpoint, isWitness }: Turn): void {
    this.#underWay -= 1;
    if (isWitness) endpoint.hasWitness = false;
    this.#look();
  }

  /** Notes what the request of a turn led to. Returns why the job's own snippet has not arrived. */
  async note(job: Job, turn: Turn, response: Response): Promise<FailedAttempt | undefined> {
    const { request, endpoint, startedAt } = turn;
    const { code } = response;
    const verdict = code && verdictOf(code);
    const now = this.#options.clock.now();
    const isOwn = request === job.request;
    if (isOwn) job.spent += now - startedAt;
    const isFirst = isOwn && job.attempts === 1;
    let counts = true;
    if (verdict === 'again') {
      counts = this.#noteFailure(turn, response, isFirst, now);
      if (isOwn) {
        const { failures, counted } = tallyOf(job, endpoint);
        job.tallies.set(endpoint, { failures: failures + 1, counted: counted + (counts ? 1 : 0), last: now });
      }
      // What failed with it is noted first: together they may show that no one is answered.
      await nextTurn();
    } else {
      // What failed before it arrived had failed by chance.
      if (isOwn) for (const [one, { counted }] of job.tallies) one.failedBefore += counted;
      if (isFirst) endpoint.firstAnswered += 1;
      this.#noteAnswer(endpoint, request, now);
    }
    if (!isOwn) return undefined;
    if (code === undefined) {
      this.#noteArrival(job, endpoint);
      return undefined;
    }
    if (counts) job.counted += 1;
    if (verdict === 'elsewhere') {
      job.endpoints = job.endpoints.filter((one) => one !== endpoint);
      if (endpoint.variant === 'render') {
        this.#withoutRoute += 1;
        this.#routeStatus = response.status;
      }
    }
    return new FailedAttempt(endpoint, errorOf(job, endpoint, code, response), counts);
  }

  /** Decides whether a snippet is asked for again, and when. */
  mayRetry(job: Job, { endpoint, error }: FailedAttempt): boolean {
    const { clock, limits } = this.#options;
    const now = clock.now();
    const views = job.endpoints.map((one) => this.#viewOf(job, one, now));
    const state = {
      views,
      failed: job.endpoints.indexOf(endpoint),
      next: route(views, this.#leavesFirst, limits),
      counted: job.counted,
      leavesFirst: this.#leavesFirst,
      isAlive: now - endpoint.lastAnswer <= limits.outageCap,
      timeLeft: limits.deadline - job.spent,
      random: clock.random(),
    };
    const milliseconds = nextWait(verdictOf(error.code), state, limits);
    if (milliseconds === undefined) return false;
    job.spent += milliseconds;
    job.notBefore = now + milliseconds;
    return true;
  }

  #viewOf(job: Job, endpoint: Endpoint, now: number): EndpointView {
    const { failures, counted } = tallyOf(job, endpoint);
    const { answered, failedBefore, state } = endpoint;
    return {
      status: isHeld(endpoint, now) ? 'held' : state,
      failures,
      counted,
      failureShare: answered === 0 ? undefined : failureShare(answered, failedBefore),
    };
  }

  /** Waits until a request may be made for the job. @throws SnippetError, or the reason of the job's signal. */
  turn(job: Job): Promise<Turn> {
    const { signal } = job;
    const { promise, resolve, reject } = Promise.withResolvers<Turn>();
    const abort = () => {
      this.#withdraw(job);
      reject(signal.reason);
    };
    if (signal.aborted) abort();
    else {
      signal.addEventListener('abort', abort, { once: true });
      job.turn = {
        take(turn) {
          signal.removeEventListener('abort', abort);
          resolve(turn);
        },
        refuse: reject,
      };
      (job.attempts === 0 ? this.#untried : this.#again).push(job);
      this.#look();
    }
    return promise;
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
    if (endpoints.some((one) => one.state === 'given-up' || isHeld(one, now))) {
      this.#untried = this.#untried.filter((job) => !this.#refuse(job, now));
      this.#again = this.#again.filter((job) => !this.#refuse(job, now));
    }
    this.#announceSilence(now);
    for (const endpoint of endpoints) this.#sendWitness(endpoint, now);
    if (endpoints.some((one) => isOpen(one, now))) {
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
      const endpoint = this.#route(job, now);
      if (!isOpen(endpoint, now)) continue;
      if (this.#needsWitness(job, endpoint, now)) {
        this.#doubt(endpoint, 'doubted', now);
        this.#sendWitness(endpoint, now);
        return this.#startOne(jobs, now);
      }
      jobs[at] = jobs.at(-1) as Job;
      jobs.pop();
      this.#ask(job, endpoint, now);
      return true;
    }
    return false;
  }

  /** @param request the job's own; or another one, which it asks for on everyone's behalf. */
  #ask(job: Job, endpoint: Endpoint, now: number, isWitness = false, request = job.request): void {
    const { attemptTimeout, deadline } = this.#options.limits;
    let milliseconds = attemptTimeout;
    let isRetry = true;
    if (request === job.request) {
      milliseconds = Math.min(attemptTimeout, deadline - job.spent);
      isRetry = tallyOf(job, endpoint).failures > 0;
      job.attempts += 1;
      job.startedAt ??= now;
      if (endpoint !== job.preferred && !job.isFallback && !this.#leavesFirst) {
        job.isFallback = true;
        this.counts.fallbacks += 1;
      }
    }
    this.#underWay += 1;
    this.counts.requests += 1;
    if (isRetry) this.counts.retries += 1;
    job.turn?.take({ request, endpoint, isWitness, startedAt: now, milliseconds });
  }

  /** The endpoint that the job's next attempt asks, or waits for. */
  #route(job: Job, now: number): Endpoint {
    const { endpoints } = job;
    const views = endpoints.map((one) => ({
      status: isHeld(one, now) ? ('held' as const) : one.state,
      failures: tallyOf(job, one).failures,
    }));
    return endpoints[route(views, this.#leavesFirst, this.#options.limits)] as Endpoint;
  }

  /**
   * Whether no one was answered since this snippet failed there, so that another failure would say nothing about it. One
   * that may fall back asks twice before it does, without a witness.
   */
  #needsWitness(job: Job, endpoint: Endpoint, now: number): boolean {
    const { failures, last } = tallyOf(job, endpoint);
    if (this.#options.patience === 0 || failures === 0 || endpoint.lastAnswer > last) return false;
    const [first, second] = job.endpoints;
    return endpoint !== first || second === undefined || !isOpen(second, now);
  }

  /** Fails a snippet that is not worth waiting for: the service asks for too long a pause, or is given up. */
  #refuse(job: Job, now: number): boolean {
    const { limits } = this.#options;
    const endpoint = this.#route(job, now);
    const place = { snippetId: job.request.id, variant: endpoint.variant, attempts: job.attempts };
    if (isHeld(endpoint, now)) {
      const milliseconds = endpoint.origin.heldUntil - now;
      if (milliseconds <= limits.retryAfter && milliseconds < limits.deadline - job.spent) return false;
      const reason = `the service asks to wait ${formatDuration(milliseconds)}`;
      job.turn?.refuse(new SnippetError('rate-limited', reason, place));
      return true;
    }
    if (job.endpoints.some(({ state }) => state !== 'given-up')) return false;
    // It is still asked now and then, by those that come later.
    const isLate = job.endpoints.every(({ givenUpAt }) => givenUpAt < job.cameAt);
    if (isLate && job.endpoints.some((one) => one.hasWitness || now >= one.nextWitness)) return false;
    const tried = endpoint.givenUpAt - (this.#failingSince ?? now);
    // Whole seconds: no one needs more, and the same reason is reported once.
    const time = formatDuration(Math.round(tried / 1000) * 1000 || tried);
    const reason = `no request has succeeded for ${time}; the last one failed: ${endpoint.reason}`;
    job.turn?.refuse(new SnippetError('unavailable', reason, place));
    return true;
  }

  #doubt(endpoint: Endpoint, state: 'doubted' | 'down', now: number): void {
    if (endpoint.state === 'open') endpoint.nextWitness = now;
    if (endpoint.state !== 'given-up') endpoint.state = state;
  }

  #patienceFor({ isUnreachable }: Endpoint): number {
    const { patience, limits } = this.#options;
    const most = isUnreachable && !this.#hasAnswered ? patienceWhereUnreachable : patience;
    return Math.min(patience, most, limits.deadline);
  }

  #patienceEnds(endpoint: Endpoint, now: number): number {
    return (this.#failingSince ?? now) + this.#patienceFor(endpoint);
  }

  /** When the next witness asks: now and then, and once more when patience ends. */
  #witnessDue(endpoint: Endpoint, now: number): number {
    const { nextWitness, state } = endpoint;
    return state === 'given-up' ? nextWitness : Math.min(nextWitness, this.#patienceEnds(endpoint, now));
  }

  /** Finds out whether an endpoint responds, for those that cannot ask another one meanwhile. */
  #sendWitness(endpoint: Endpoint, now: number): void {
    const { clock, limits, most } = this.#options;
    if (endpoint.state === 'open' || endpoint.hasWitness) return;
    if (isHeld(endpoint, now) || this.#underWay >= most()) return;
    if (now < this.#witnessDue(endpoint, now)) return;
    const waits = (job: Job) =>
      this.#route(job, now) === endpoint ||
      (job.endpoints.includes(endpoint) && !job.endpoints.some((one) => isOpen(one, now)));
    const untried = this.#untried.filter(waits);
    const again = this.#again.filter(waits);
    if (untried.length + again.length === 0) return;
    endpoint.hasWitness = true;
    endpoint.nextWitness = now + witnessDelay(endpoint.failedWitnesses, clock.random(), limits);
    const failing = new Set(again.map(({ request }) => request.id));
    const arrived = this.#arrived.filter(({ id }) => !failing.has(id));
    // What may be dead for good proves nothing. The answer to a snippet that was never tried is of use.
    const asksAgain = arrived.length > 0 && (endpoint.state === 'doubted' || untried.length === 0);
    const [rather, otherwise] = asksAgain ? [again, untried] : [untried, again];
    const job = pick(rather.length > 0 ? rather : otherwise, clock.random());
    this.#withdraw(job);
    this.#ask(job, endpoint, now, true, asksAgain ? pick(arrived, clock.random()) : undefined);
  }

  /** Looks again when something may be asked for, or said. */
  #setAlarm(now: number): void {
    const { clock, endpoints, patience } = this.#options;
    if (this.#jobs.size === 0) {
      this.#alarm?.ended.abort();
      this.#alarm = undefined;
      return;
    }
    let at = Number.POSITIVE_INFINITY;
    const consider = (time: number) => {
      if (time > now && time < at) at = time;
    };
    const waits = this.#untried.length + this.#again.length > 0;
    for (const endpoint of endpoints) {
      if (waits) consider(endpoint.origin.heldUntil);
      if (waits && endpoint.state !== 'open' && !endpoint.hasWitness)
        consider(this.#witnessDue(endpoint, now));
    }
    if (patience > 0 && !this.#isSilent) consider(this.#silentFrom);
    for (const { notBefore } of this.#again) consider(notBefore);
    if (!Number.isFinite(at) || (this.#alarm !== undefined && this.#alarm.at <= at)) return;
    this.#alarm?.ended.abort();
    const alarm = { at, ended: new AbortController() };
    this.#alarm = alarm;
    const ring = () => {
      if (this.#alarm === alarm) this.#alarm = undefined;
      this.#look();
    };
    clock.wait(at - now, alarm.ended.signal).then(ring, () => {});
  }

  #noteAnswer(endpoint: Endpoint, request: SnippetRequest, now: number): void {
    endpoint.firstFailed += endpoint.row.size;
    endpoint.row.clear();
    endpoint.answered += 1;
    endpoint.lastAnswer = now;
    endpoint.state = 'open';
    endpoint.failedWitnesses = 0;
    this.#hasAnswered = true;
    this.#failingSince = undefined;
    this.#arrived.unshift(request);
    this.#arrived.length = Math.min(this.#arrived.length, witnessesKept);
    this.#pace = Math.min(this.#pace + 1, this.#options.most());
    if (!this.#isSilent) return;
    this.#isSilent = false;
    this.#options.notify({ kind: 'recovered', origin: endpoint.origin.name });
  }

  #noteArrival({ isFallback }: Job, { variant }: Endpoint): void {
    const { limits, notify } = this.#options;
    // The setup is right.
    this.#alike.code = 'aborted';
    if (variant === 'render') {
      this.#rendered += 1;
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
    { endpoint, request, isWitness, startedAt }: Turn,
    response: Response,
    isFirst: boolean,
    now: number,
  ): boolean {
    const { limits, most, patience } = this.#options;
    const { retryAfter, isUnreachable = false } = response;
    this.#failingSince ??= startedAt;
    endpoint.reason = describe(response);
    endpoint.isUnreachable = isUnreachable;
    // Never below where it started, so that a few snippets that keep failing do not slow all others down.
    this.#pace = Math.min(Math.max(firstPace, Math.floor(this.#pace / 2)), most());
    if (isFirst) endpoint.row.add(request.id);
    if (isWitness) endpoint.failedWitnesses += 1;
    const { answered, failedBefore, firstAnswered, firstFailed, row } = endpoint;
    const isDown = isWitness && endpoint.failedWitnesses >= witnessLimit(answered, failedBefore);
    if (isDown || row.size >= rowLimit(firstAnswered, firstFailed, limits))
      this.#doubt(endpoint, 'down', now);
    // It may have been chance. The next one asks at once.
    else if (isWitness) endpoint.nextWitness = now;
    if (isWitness && now >= this.#patienceEnds(endpoint, now)) {
      endpoint.state = 'given-up';
      endpoint.givenUpAt = now;
      endpoint.nextWitness = now + limits.outageCap;
    }
    if (retryAfter !== undefined) this.#hold(endpoint.origin, retryAfter, now);
    if (patience === 0) return true;
    return this.#arrived.length > 0 && (endpoint.state === 'open' || endpoint.state === 'doubted');
  }

  /** From when nothing has arrived for so long that the user is told. */
  get #silentFrom(): number {
    return this.#failingSince === undefined ? Number.POSITIVE_INFINITY : this.#failingSince + silence;
  }

  #announceSilence(now: number): void {
    const { endpoints, notify, patience } = this.#options;
    // Where others arrive, the snippets that fail are to blame.
    const mayBeAlive = this.#arrived.length > 0 && endpoints.some(({ state }) => state === 'open');
    if (patience === 0 || this.#isSilent || mayBeAlive || now < this.#silentFrom) return;
    const endpoint = endpoints.find(({ reason }) => reason !== '');
    if (endpoint === undefined) return;
    this.#isSilent = true;
    notify({
      kind: 'failing',
      origin: endpoint.origin.name,
      reason: endpoint.reason,
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

function isHeld({ origin }: Endpoint, now: number): boolean {
  return origin.heldUntil > now;
}

function isOpen(endpoint: Endpoint, now: number): boolean {
  return endpoint.state === 'open' && !isHeld(endpoint, now);
}

function tallyOf({ tallies }: Job, endpoint: Endpoint): Readonly<Tally> {
  return tallies.get(endpoint) ?? noTally;
}

function pick<T>(list: readonly T[], random: number): T {
  return list[Math.floor(random * list.length)] as T;
}

function errorOf(
  { request, attempts }: Job,
  { variant }: Endpoint,
  code: SnippetErrorCode,
  response: Response,
): SnippetError {
  const { status, problem, reason } = response;
  const afterAttempts = attempts === 1 ? '' : ` (${attempts} attempts)`;
  const cause = reason === undefined ? undefined : new Error(reason);
  const fields = { snippetId: request.id, variant, attempts, status, problem, cause };
  return new SnippetError(code, `${describe(response)}${afterAttempts}`, fields);
}

/** Of a request that was not made, because every one would have failed the same way. */
function notAsked(): SnippetError {
  return new SnippetError('aborted', 'not asked for: every request would fail the same way.');
}
