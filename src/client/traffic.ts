import PQueue from 'p-queue';
import type { Clock } from './clock.ts';
import {
  type Circumstances,
  type Endpoint,
  type Failure,
  giveUp,
  noTally,
  noteAnswer,
  noteFailure,
  noteProbe,
  noteUnproven,
  patienceEnds,
  type Tally,
  viewOf,
} from './endpoint.ts';
import type { Limits } from './limits.ts';
import { firstPace, nextPace } from './pace.ts';
import { chooseRoute, type EndpointView, type Route } from './retry-policy.ts';
import type { SnippetRequest } from './snippet-request.ts';

/**
 * What a user of the client may want to know while it works.
 *
 * - `held`: the service asked (`Retry-After`) for a pause of so many milliseconds.
 * - `failing`: nothing has arrived from this origin for some time, and why. It is asked now and then.
 * - `recovered`: it responds again.
 * - `render-given-up`: variant B failed for several snippets in a row; variant A is asked from now on. `isRouteMissing` if it
 *   has no route for any of them, as where its base URL is wrong.
 */
export type Notice =
  | { kind: 'held'; origin: string; milliseconds: number }
  | { kind: 'failing'; origin: string; reason: string }
  | { kind: 'recovered'; origin: string }
  | { kind: 'render-given-up'; isRouteMissing: boolean };

/** Why a request is not made, and for how long the endpoint has been, or will be, closed to requests. */
export interface Refusal {
  kind: 'held' | 'unavailable';
  endpoint: Endpoint;
  milliseconds: number;
}

/** A snippet on its way. */
export interface Progress {
  readonly request: SnippetRequest;
  /** Where it may be asked for, in the order of preference. */
  endpoints: readonly Endpoint[];
  readonly tallies: Map<Endpoint, Tally>;
  attempts: number;
  /** Attempts that say nothing about the snippet, because the endpoint was down. */
  uncounted: number;
  /** On the wire and between two attempts, in milliseconds. Waiting for a turn does not count. */
  spent: number;
}

/** Thrown instead of making a request. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.kind);
    this.refusal = refusal;
  }
}

export interface TrafficOptions {
  clock: Clock;
  limits: Limits;
  /** The most requests at once, for now. */
  most(): number;
  notify(notice: Notice): void;
  /** Whether variant B has been given up for the run. */
  leavesFirst(): boolean;
  /** Asks an endpoint for a snippet that has arrived before, and records the outcome. */
  probe(endpoint: Endpoint, request: SnippetRequest, signal: AbortSignal): Promise<void>;
  closing: AbortSignal;
}

/** An attempt that waits until an endpoint may be asked. */
interface Parked {
  progress: Progress;
  /** Lets it look again; or, with an endpoint, ask that one now, to find out whether it responds. */
  wake(probe?: Endpoint): void;
}

interface Turn {
  endpoint: Endpoint;
  isProbe: boolean;
}

// Untried snippets come before retries, so that those that keep failing do not hold up the others. They are drawn at
// random, so that the first answers say something about all of them, whatever their order.
const priorities = { probe: 4, proof: 3, untried: 1, retry: 0 };

// How many to choose from: one alone could be an id that dies after it has arrived.
const arrivalsKept = 10;

// In milliseconds: how long nothing has to arrive before the user is told.
const silence = 1_500;

/**
 * Lets attempts onto the wire: as many at a time as the service keeps up with, and none to an endpoint that has asked to
 * wait or is down. An attempt has a slot only while its request is on the wire, and none while it waits.
 */
export class Traffic {
  readonly #options: TrafficOptions;
  readonly #slots: PQueue;
  readonly #parked = new Set<Parked>();
  readonly #watched = new Set<Endpoint>();
  readonly #proving = new Set<Endpoint>();
  readonly #arrivals: SnippetRequest[] = [];
  #changed = new AbortController();

  constructor(options: TrafficOptions) {
    this.#options = options;
    this.#slots = new PQueue({ concurrency: Math.min(firstPace, options.most()) });
  }

  /**
   * Calls `work` with the endpoint to ask, as soon as it is this snippet's turn.
   *
   * @throws Refused, or the reason of `signal`, or what `work` throws.
   */
  async attempt<T>(
    progress: Progress,
    signal: AbortSignal,
    work: (endpoint: Endpoint) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      const turn = await this.#turn(progress, signal);
      const priority = this.#priorityOf(progress, turn);
      this.#startTogether();
      const done = await this.#slots.add(
        async () => {
          // What was true when it joined the queue may not be any more.
          if (!this.#mayStill(progress, turn)) return undefined;
          return { value: await work(turn.endpoint) };
        },
        { priority, signal },
      );
      if (done !== undefined) return done.value;
    }
  }

  /** Where the next attempt would go, and how the endpoints look to the snippet. */
  outlook(progress: Progress): { views: EndpointView[]; next: Route } {
    const now = this.#options.clock.now();
    const views = progress.endpoints.map((endpoint) => viewOf(endpoint, tallyOf(progress, endpoint), now));
    return { views, next: chooseRoute(views, this.#options.leavesFirst(), this.#options.limits) };
  }

  recordAnswer(progress: Progress, endpoint: Endpoint): void {
    const { counted } = tallyOf(progress, endpoint);
    // A snippet that arrived had failed by chance, at the variant it was asked for before too.
    for (const [other, tally] of progress.tallies) {
      if (other !== endpoint) other.health.failedBeforeAnswer += tally.counted;
    }
    this.#recordAnswer(endpoint, progress.request, { isFirst: progress.attempts === 1, counted });
  }

  recordFailure(
    progress: Progress,
    endpoint: Endpoint,
    { startedAt, reason }: Pick<Failure, 'startedAt' | 'reason'>,
  ): void {
    const { clock } = this.#options;
    const { failures, counted } = tallyOf(progress, endpoint);
    const failure = { id: progress.request.id, isFirst: progress.attempts === 1, startedAt, reason };
    const counts = noteFailure(endpoint.health, failure, this.#circumstances());
    this.#setPace('failed');
    this.#announceSilence(endpoint);
    if (!counts) progress.uncounted += 1;
    progress.tallies.set(endpoint, {
      failures: failures + 1,
      counted: counted + (counts ? 1 : 0),
      lastFailure: clock.now(),
    });
  }

  /** Records that a snippet which arrived before has been answered again. */
  recordProof(request: SnippetRequest, endpoint: Endpoint): void {
    this.#recordAnswer(endpoint, request, { isFirst: false, counted: 0 });
  }

  /** Records that a request failed for a snippet which arrived before: the endpoint is to blame. */
  recordNoProof(
    { id }: SnippetRequest,
    endpoint: Endpoint,
    failure: Pick<Failure, 'startedAt' | 'reason'>,
  ): void {
    noteUnproven(endpoint.health, { id, isFirst: false, ...failure }, this.#circumstances());
    this.#setPace('failed');
    this.#announceSilence(endpoint);
  }

  /** Holds every request to this origin back for so many milliseconds from now (`Retry-After`). */
  hold({ origin }: Endpoint, milliseconds: number): void {
    const { clock, limits, notify } = this.#options;
    const now = clock.now();
    const until = now + milliseconds;
    if (until <= origin.heldUntil) return;
    if (origin.heldUntil <= now && milliseconds <= limits.retryAfter) {
      notify({ kind: 'held', origin: origin.name, milliseconds });
    }
    origin.heldUntil = until;
    // Some may not want to wait that long.
    this.#wakeAll();
  }

  /** Lets what is asked for at the same time join the queue before the first is drawn from it. */
  #startTogether(): void {
    if (this.#slots.size + this.#slots.pending > 0) return;
    this.#slots.pause();
    setImmediate(() => this.#slots.start());
  }

  async #turn(progress: Progress, signal: AbortSignal): Promise<Turn> {
    for (;;) {
      signal.throwIfAborted();
      const { views, next } = this.outlook(progress);
      const endpoint = progress.endpoints[next.index];
      if (endpoint === undefined) throw new Error('There is no endpoint to ask.');
      if (next.kind === 'refuse') return this.#lateProbe(progress, endpoint);
      if (next.kind === 'ask') {
        if (!this.#needsProof(progress, endpoint)) return { endpoint, isProbe: false };
        this.#prove(endpoint, progress.request.id);
      } else if (views[next.index]?.status === 'held') this.#checkHold(progress, endpoint);
      const probe = await this.#park(progress, signal);
      if (probe !== undefined) return { endpoint: probe, isProbe: true };
    }
  }

  /** An endpoint that was given up is still asked now and then: by the requests that come later, if there are any. */
  #lateProbe({ endpoints, attempts }: Progress, wanted: Endpoint): Turn {
    const now = this.#options.clock.now();
    const due = attempts > 0 ? undefined : endpoints.find(({ health }) => now >= health.nextProbe);
    if (due !== undefined) {
      noteProbe(due.health, this.#circumstances());
      return { endpoint: due, isProbe: true };
    }
    const since = wanted.health.failingSince ?? now;
    throw new Refused({ kind: 'unavailable', endpoint: wanted, milliseconds: now - since });
  }

  #checkHold({ spent }: Progress, endpoint: Endpoint): void {
    const { clock, limits } = this.#options;
    const milliseconds = endpoint.origin.heldUntil - clock.now();
    if (milliseconds <= limits.retryAfter && milliseconds < limits.deadline - spent) return;
    throw new Refused({ kind: 'held', endpoint, milliseconds });
  }

  #mayStill(progress: Progress, { endpoint, isProbe }: Turn): boolean {
    // A probe asks what is down, but nothing asks what has asked to wait.
    if (isProbe) return endpoint.origin.heldUntil <= this.#options.clock.now();
    const { next } = this.outlook(progress);
    return (
      next.kind === 'ask' &&
      progress.endpoints[next.index] === endpoint &&
      !this.#needsProof(progress, endpoint)
    );
  }

  #priorityOf({ attempts }: Progress, { isProbe }: Turn): number {
    if (isProbe) return priorities.probe;
    return attempts === 0 ? priorities.untried + this.#options.clock.random() : priorities.retry;
  }

  /**
   * Whether nothing has arrived from the endpoint since this snippet has failed there. Another failure would then say
   * nothing about the snippet.
   */
  #needsProof(progress: Progress, endpoint: Endpoint): boolean {
    const { failures, lastFailure } = tallyOf(progress, endpoint);
    const { health } = endpoint;
    if (failures === 0 || health.lastAnswer > lastFailure) return false;
    return this.#arrivalsExcept(progress.request.id).length > 0;
  }

  /** Asks for a snippet that arrived before: the one request that tells a bad id from a service that is down. */
  #prove(endpoint: Endpoint, id: number): void {
    const { clock, closing, probe } = this.#options;
    const request = pick(this.#arrivalsExcept(id), clock.random());
    if (request === undefined || this.#proving.has(endpoint)) return;
    this.#proving.add(endpoint);
    const ask = async () => {
      if (endpoint.origin.heldUntil <= clock.now()) await probe(endpoint, request, closing);
      this.#proving.delete(endpoint);
      // Those that need the proof have it, or ask again, or wait until the endpoint responds.
      this.#wakeAll();
    };
    // Only the end of the client makes it throw, which ends whatever waits for it too.
    this.#slots.add(ask, { priority: priorities.proof, signal: closing }).catch(() => {});
  }

  #recordAnswer(
    endpoint: Endpoint,
    request: SnippetRequest,
    first: { isFirst: boolean; counted: number },
  ): void {
    const { health, origin } = endpoint;
    const wasDown = health.state !== 'up';
    noteAnswer(health, { ...first, now: this.#options.clock.now() });
    this.#setPace('answered');
    this.#arrivals.unshift(request);
    this.#arrivals.length = Math.min(this.#arrivals.length, arrivalsKept);
    origin.lastAnswer = this.#options.clock.now();
    if (origin.isSilent) {
      origin.isSilent = false;
      this.#options.notify({ kind: 'recovered', origin: origin.name });
    }
    if (wasDown) this.#stopWaiting();
    this.#wakeAll();
  }

  #setPace(outcome: 'answered' | 'failed'): void {
    const pace = nextPace(this.#slots.concurrency, outcome, this.#options.most());
    if (pace !== this.#slots.concurrency) this.#slots.concurrency = pace;
  }

  /** Snippets that have arrived, with other ids: what may be dead for good proves nothing. */
  #arrivalsExcept(id: number): SnippetRequest[] {
    return this.#arrivals.filter((request) => request.id !== id);
  }

  #announceSilence({ health, origin }: Endpoint): void {
    const { clock, notify } = this.#options;
    // Where others arrive, the snippets that fail are to blame.
    if (origin.isSilent || (health.state === 'up' && this.#arrivals.length > 0)) return;
    const { failingSince = clock.now() } = health;
    if (clock.now() - Math.max(failingSince, origin.lastAnswer ?? failingSince) < silence) return;
    origin.isSilent = true;
    notify({ kind: 'failing', origin: origin.name, reason: health.reason });
  }

  #circumstances(): Circumstances {
    const { clock, limits } = this.#options;
    return { now: clock.now(), random: clock.random(), limits };
  }

  #park(progress: Progress, signal: AbortSignal): Promise<Endpoint | undefined> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#parked.delete(parked);
        signal.removeEventListener('abort', abort);
        if (this.#parked.size === 0) this.#stopWaiting();
      };
      const abort = () => {
        leave();
        reject(signal.reason);
      };
      const parked: Parked = {
        progress,
        wake(probe) {
          leave();
          resolve(probe);
        },
      };
      signal.addEventListener('abort', abort);
      this.#parked.add(parked);
      for (const endpoint of progress.endpoints) void this.#watch(endpoint);
    });
  }

  #wakeAll(): void {
    for (const { wake } of [...this.#parked]) wake();
  }

  #stopWaiting(): void {
    this.#changed.abort();
    this.#changed = new AbortController();
  }

  /** Waits for an endpoint in place of everything that is parked: until its pause has passed, or it responds. */
  async #watch(endpoint: Endpoint): Promise<void> {
    const { clock, limits } = this.#options;
    const { health, origin } = endpoint;
    const isClosed = () => origin.heldUntil > clock.now() || health.state === 'down';
    if (this.#watched.has(endpoint) || !isClosed()) return;
    this.#watched.add(endpoint);
    while (this.#parked.size > 0 && isClosed()) {
      const now = clock.now();
      const ends = patienceEnds(endpoint, limits);
      if (origin.heldUntil > now) await this.#sleep(origin.heldUntil - now);
      else if (now >= ends) giveUp(health, now, limits);
      else if (now >= health.nextProbe) this.#probe(endpoint);
      else await this.#sleep(Math.min(health.nextProbe, ends) - now);
    }
    this.#watched.delete(endpoint);
    this.#wakeAll();
  }

  async #sleep(milliseconds: number): Promise<void> {
    const { clock, closing } = this.#options;
    const changed = this.#changed.signal;
    // What has changed, and the end of the client, only end the wait: the caller looks at what is true now.
    await clock.wait(milliseconds, AbortSignal.any([changed, closing])).catch(() => {});
  }

  /** Finds out whether an endpoint responds: by an untried snippet at best, as its answer is of use. */
  #probe(endpoint: Endpoint): void {
    const { clock } = this.#options;
    noteProbe(endpoint.health, this.#circumstances());
    const waiting = [...this.#parked].filter(({ progress }) => progress.endpoints.includes(endpoint));
    const untried = waiting.filter(({ progress }) => progress.attempts === 0);
    const candidates = untried.length > 0 ? untried : waiting;
    const chosen = pick(candidates, clock.random());
    if (chosen === undefined) return;
    const { id } = chosen.progress.request;
    if (untried.length === 0 && this.#arrivalsExcept(id).length > 0) this.#prove(endpoint, id);
    else chosen.wake(endpoint);
  }
}

function pick<T>(list: readonly T[], random: number): T | undefined {
  return list[Math.floor(random * list.length)];
}

export function tallyOf({ tallies }: Progress, endpoint: Endpoint): Tally {
  return tallies.get(endpoint) ?? noTally;
}
