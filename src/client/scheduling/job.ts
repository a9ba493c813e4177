import { type AttemptResult, describeAttempt } from '../read-response.ts';
import { SnippetError, type SnippetErrorCode } from '../snippet-error.ts';
import type { SnippetRequest } from '../snippet-request.ts';
import type { SnippetFields, Variant } from '../variants.ts';
import type { Endpoint } from './endpoint.ts';

/** An endpoint that a snippet may be asked of, and how the snippet has fared there. */
export interface Route {
  readonly endpoint: Endpoint;
  /** Attempts that failed in a way that may be temporary. */
  failures: number;
  /** The failures that count against the snippet, because others were answered at that time. */
  conclusiveFailures: number;
  /** The time of the last failure, in milliseconds since the epoch. 0 if none has failed. */
  lastFailureAt: number;
}

/** The past of a snippet, from which the retry policy decides what follows a failed attempt. */
export interface AttemptHistory {
  /** One or two routes, variant B first. A route that the service does not have has been removed. */
  readonly routes: readonly Route[];
  /** The route of the last attempt. */
  readonly lastRoute: Route;
  /** Attempts that say something about the snippet. */
  readonly conclusiveAttempts: number;
  /** Milliseconds on the wire and between attempts. Waiting for a turn does not count. */
  readonly spent: number;
}

/** A snippet that has arrived, and how. */
export interface JobResult extends SnippetFields {
  variant: Variant;
  /** Requests that were made for the snippet. */
  attempts: number;
  /** From the first request to the last byte, waits included. */
  milliseconds: number;
}

/** A snippet on its way. Times are in milliseconds since the epoch. */
export class Job implements AttemptHistory {
  readonly request: SnippetRequest;
  /** Aborted with the reason why the job ends early. */
  readonly controller: AbortController = new AbortController();
  /** Aborted when the job ends early, or its caller has aborted it. */
  readonly signal: AbortSignal;
  readonly createdAt: number;
  /** The endpoint that is asked first: of variant B, if both may be asked. */
  readonly preferred: Endpoint;

  routes: readonly Route[];
  lastRoute: Route;
  /** Requests that were made for the snippet. */
  attempts = 0;
  conclusiveAttempts = 0;
  spent = 0;
  /** When the first attempt began. */
  startedAt = 0;
  /** When the next attempt may begin. */
  notBefore = 0;
  /** Whether the snippet fell back from variant B to variant A. */
  isFallback = false;
  /** The outcome of the current attempt, which may still wait for its turn. */
  outcome: PromiseWithResolvers<JobResult> = Promise.withResolvers();

  /** @param endpoints one or two, in the order of preference. */
  constructor(
    request: SnippetRequest,
    endpoints: readonly Endpoint[],
    createdAt: number,
    signal?: AbortSignal,
  ) {
    this.request = request;
    this.createdAt = createdAt;
    // Every job has its own signal: a thousand listeners on one signal are slow.
    this.signal = signal ? AbortSignal.any([signal, this.controller.signal]) : this.controller.signal;
    const noFailures = { failures: 0, conclusiveFailures: 0, lastFailureAt: 0 };
    this.routes = endpoints.map((endpoint) => ({ endpoint, ...noFailures }));
    const [firstRoute] = this.routes as [Route];
    this.lastRoute = firstRoute;
    this.preferred = firstRoute.endpoint;
  }

  /** Notes an attempt that has ended, however it ended. */
  recordAttempt(route: Route, milliseconds: number, isConclusive: boolean): void {
    this.spent += milliseconds;
    this.lastRoute = route;
    if (isConclusive) this.conclusiveAttempts += 1;
  }

  /** Notes that an attempt failed in a way that may be temporary. */
  recordFailure(route: Route, now: number, isConclusive: boolean): void {
    route.failures += 1;
    if (isConclusive) route.conclusiveFailures += 1;
    route.lastFailureAt = now;
  }

  /** Notes that the snippet was answered: what failed before had failed by chance. */
  recordAnswer(): void {
    for (const { endpoint, conclusiveFailures } of this.routes) endpoint.chanceFailures += conclusiveFailures;
  }

  removeRoute(route: Route): void {
    this.routes = this.routes.filter((other) => other !== route);
  }

  /** The error of a failed attempt, which is the job's if no other attempt follows. */
  errorOf(code: SnippetErrorCode, result: AttemptResult, variant: Variant): SnippetError {
    const { status, problem, reason } = result;
    const { request, attempts } = this;
    const cause = reason === undefined ? undefined : new Error(reason);
    const fields = { snippetId: request.id, variant, attempts, status, problem, cause };
    const afterAttempts = attempts === 1 ? '' : ` (${attempts} attempts)`;
    return new SnippetError(code, `${describeAttempt(result)}${afterAttempts}`, fields);
  }
}
