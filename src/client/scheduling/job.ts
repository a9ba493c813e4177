import { type AttemptResult, describeAttempt } from '../read-response.ts';
import { SnippetError, type SnippetErrorCode } from '../snippet-error.ts';
import type { SnippetRequest } from '../snippet-request.ts';
import type { SnippetFields, Variant } from '../variants.ts';
import type { Endpoint } from './endpoint.ts';

/** An endpoint that a snippet may be asked of, and how the snippet has fared there. */
export interface Route {
  readonly endpoint: Endpoint;
  /** The number of attempts at this endpoint that failed in a way that may be temporary. */
  failures: number;
  /** The number of failures that count against the snippet, as the endpoint answered others at that time. */
  conclusiveFailures: number;
  /** The time of the last failure, in milliseconds since the epoch; 0 without a failure. */
  lastFailureAt: number;
}

/** The past of a snippet, from which the retry policy decides what follows a failed attempt. */
export interface AttemptHistory {
  /** One or two routes, variant B first. A route that the service turned out not to have is removed. */
  readonly routes: readonly Route[];
  /** The route of the last attempt. */
  readonly lastRoute: Route;
  /** The number of attempts that count against the snippet, as the service did answer at that time. */
  readonly conclusiveAttempts: number;
  /** Milliseconds spent on requests and on pauses between them. Waiting for a free slot does not count. */
  readonly spent: number;
}

/** A snippet that has arrived, with the variant, attempts and time that it took. */
export interface JobResult extends SnippetFields {
  variant: Variant;
  /** The number of requests that were made for the snippet. */
  attempts: number;
  /** The time from the first request to the last byte, waits included. */
  milliseconds: number;
}

/** A snippet that is being fetched. Times are in milliseconds since the epoch. */
export class Job implements AttemptHistory {
  readonly request: SnippetRequest;
  /** Aborted to end the job early, with the error that its caller gets. */
  readonly controller: AbortController = new AbortController();
  /** Aborted when `controller` is aborted, or when the caller's own signal is. */
  readonly signal: AbortSignal;
  readonly createdAt: number;
  /** The endpoint that is asked first: of variant B, if both may be asked. */
  readonly preferred: Endpoint;

  routes: readonly Route[];
  lastRoute: Route;
  /** The number of requests that were made for the snippet. */
  attempts = 0;
  conclusiveAttempts = 0;
  spent = 0;
  /** When the first attempt began. */
  startedAt = 0;
  /** When the next attempt may begin. */
  notBefore = 0;
  /** The error of the last attempt that failed. */
  lastError: SnippetError | undefined;
  /** Whether the snippet fell back from variant B to variant A. */
  isFallback = false;
  /** The outcome of the current attempt, whose request may not have been sent yet. */
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
    // Every job has its own signal, since adding a thousand listeners to one signal is slow.
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

  /** Notes that the snippet was answered, so its earlier failures count as chance at their endpoints. */
  recordAnswer(): void {
    for (const { endpoint, conclusiveFailures } of this.routes) endpoint.chanceFailures += conclusiveFailures;
  }

  removeRoute(route: Route): void {
    this.routes = this.routes.filter((other) => other !== route);
  }

  /** Makes the error of a failed attempt. The caller gets it if no other attempt follows. */
  errorOf(code: SnippetErrorCode, result: AttemptResult, variant: Variant): SnippetError {
    const { status, problem, reason } = result;
    const { request, attempts } = this;
    const cause = reason === undefined ? undefined : new Error(reason);
    const fields = { snippetId: request.id, variant, attempts, status, problem, cause };
    const afterAttempts = attempts === 1 ? '' : ` (${attempts} attempts)`;
    return new SnippetError(code, `${describeAttempt(result)}${afterAttempts}`, fields);
  }
}
