import type { SnippetRequest } from '../snippet-request.ts';
import type { RetrievedSnippet, Variant } from '../variants.ts';
import type { Endpoint } from './endpoint.ts';

export interface Route {
  readonly endpoint: Endpoint;
  failures: number;
  /** Those that count against the snippet, as others arrived. */
  conclusiveFailures: number;
  lastFailureAt: number;
}

export type Job = ReturnType<typeof createJob>;

export function createJob(
  request: SnippetRequest,
  endpoints: readonly Endpoint[],
  cameAt: number,
  signal?: AbortSignal,
): {
  request: SnippetRequest;
  stop: AbortController;
  // One each: a thousand listeners on one signal are slow.
  signal: AbortSignal;
  /** Variant B first. */
  ways: readonly Route[];
  /** The way of the last attempt. */
  last: Route;
  preferred: Endpoint;
  cameAt: number;
  attempts: number;
  /** Attempts that say something about the snippet. */
  counted: number;
  /** Milliseconds on the wire and between attempts, without waits for a turn. */
  spent: number;
  startedAt: number;
  notBefore: number;
  isFallback: boolean;
  /** The outcome of the current attempt, which may wait for its turn. */
  attempt: PromiseWithResolvers<Arrival>;
} {
  const stop = new AbortController();
  const untried = { failures: 0, conclusiveFailures: 0, lastFailureAt: 0 };
  const ways: readonly Route[] = endpoints.map((endpoint) => ({ endpoint, ...untried }));
  const [last] = ways as [Route];
  return {
    request,
    stop,
    // One each: a thousand listeners on one signal are slow.
    signal: signal ? AbortSignal.any([signal, stop.signal]) : stop.signal,
    /** Variant B first. */
    ways,
    /** The way of the last attempt. */
    last,
    preferred: last.endpoint,
    cameAt,
    attempts: 0,
    /** Attempts that say something about the snippet. */
    counted: 0,
    /** Milliseconds on the wire and between attempts, without waits for a turn. */
    spent: 0,
    startedAt: 0,
    notBefore: 0,
    isFallback: false,
    /** The outcome of the current attempt, which may wait for its turn. */
    attempt: Promise.withResolvers<Arrival>(),
  };
}

export interface Arrival extends Omit<RetrievedSnippet, 'id'> {
  variant: Variant;
  attempts: number;
  milliseconds: number;
}

export interface Turn {
  request: SnippetRequest;
  endpoint: Endpoint;
  isProbe: boolean;
  isFirst: boolean;
  startedAt: number;
  milliseconds: number;
}
