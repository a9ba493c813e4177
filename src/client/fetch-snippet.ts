import pRetry from 'p-retry';
import { accept, type Problem, readProblem } from './answer.ts';
import { cleanText } from './clean-text.ts';
import type { Clock } from './clock.ts';
import type { Endpoint } from './endpoint.ts';
import { formatDuration } from './format.ts';
import type { Limits } from './limits.ts';
import { judge, type Outcome, type Verdict } from './outcome.ts';
import { nextStep, parseRetryAfter } from './retry-policy.ts';
import { snippetUrl, type Variant } from './service-url.ts';
import { SnippetError, type SnippetErrorCode } from './snippet-error.ts';
import type { SnippetRequest } from './snippet-request.ts';
import { type Progress, type Refusal, Refused, type Traffic, tallyOf } from './traffic.ts';
import { type Answer, NoAnswer, type Transport } from './transport.ts';

/** What all requests of one client share. */
export interface Connection {
  transport: Transport;
  traffic: Traffic;
  authorization: string;
  clock: Clock;
  limits: Limits;
  /** Called before each HTTP request; `isRetry` if the same variant was asked before. */
  onRequest(isRetry: boolean): void;
  /** Called when a snippet falls back from variant B to variant A. */
  onFallback(): void;
  /** Called when an endpoint has no route for a snippet: it answers a status such as 404 without a problem. */
  onNoRoute(endpoint: Endpoint, status: number | undefined): void;
  /** Whether variant B has been given up for the run. */
  leavesFirst(): boolean;
}

/** How to fetch one snippet. */
export interface FetchPlan<T> {
  request: SnippetRequest;
  /** Where to ask for it, in the order of preference: one or two. */
  endpoints: readonly Endpoint[];
  /** Parses a body of status 200. Returns `undefined` if it is not what the variant answers. */
  read(variant: Variant, body: Uint8Array): T | undefined;
}

export interface FetchResult<T> {
  variant: Variant;
  value: T;
  attempts: number;
  /** From the first request to the last byte, including waits. */
  milliseconds: number;
  /** Whether variant A was asked because variant B had failed. */
  isFallback: boolean;
}

/** An attempt that did not return the content. */
class FailedAttempt extends Error {
  readonly verdict: Exclude<Verdict, 'use'>;
  readonly error: SnippetError;
  /** The endpoint that failed; `undefined` if none was asked. */
  readonly endpoint: Endpoint | undefined;

  constructor(verdict: FailedAttempt['verdict'], error: SnippetError, endpoint?: Endpoint) {
    super(error.message);
    this.verdict = verdict;
    this.error = error;
    this.endpoint = endpoint;
  }
}

/**
 * Fetches one snippet: attempts, waits and the fallback from variant B to variant A, within the limits.
 *
 * @throws SnippetError, or the reason of `signal`.
 */
export async function fetchSnippet<T>(
  plan: FetchPlan<T>,
  connection: Connection,
  signal: AbortSignal,
): Promise<FetchResult<T>> {
  const { clock, limits, traffic } = connection;
  const { request, endpoints } = plan;
  const progress: Progress = {
    request,
    endpoints,
    tallies: new Map(),
    attempts: 0,
    uncounted: 0,
    spent: 0,
  };
  let start: number | undefined;
  let isFallback = false;

  const ask = async (endpoint: Endpoint): Promise<FetchResult<T>> => {
    const { variant } = endpoint;
    const startedAt = clock.now();
    start ??= startedAt;
    if (endpoint !== endpoints[0] && !isFallback && !connection.leavesFirst()) {
      isFallback = true;
      connection.onFallback();
    }
    connection.onRequest(tallyOf(progress, endpoint).failures > 0);
    progress.attempts += 1;
    const milliseconds = Math.min(limits.attemptTimeout, limits.deadline - progress.spent);
    const response = await send(plan, endpoint, connection, { milliseconds, signal });
    const { attempts } = progress;
    progress.spent += clock.now() - startedAt;
    const { verdict, code } = judge(response.outcome);
    if (verdict === 'use' && response.value !== undefined) {
      traffic.recordAnswer(progress, endpoint);
      return { variant, value: response.value, attempts, isFallback, milliseconds: clock.now() - start };
    }
    if (verdict === 'elsewhere') connection.onNoRoute(endpoint, response.status);
    const error = responseError(code, { snippetId: request.id, variant, attempts, ...response });
    if (verdict === 'again') {
      traffic.recordFailure(progress, endpoint, { startedAt, reason: describe(code, response) });
      if (response.retryAfter !== undefined) traffic.hold(endpoint, response.retryAfter);
    } else traffic.recordAnswer(progress, endpoint);
    throw new FailedAttempt(verdict === 'use' ? 'fail' : verdict, error, endpoint);
  };

  const attempt = async () => {
    try {
      return await traffic.attempt(progress, signal, ask);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      throw new FailedAttempt('fail', refusalError(error.refusal, progress));
    }
  };

  const prepareRetry = async ({ error }: { error: Error }) => {
    if (!(error instanceof FailedAttempt) || error.endpoint === undefined) throw error;
    const { endpoint, verdict } = error;
    if (verdict === 'elsewhere') progress.endpoints = progress.endpoints.filter((one) => one !== endpoint);
    const step = nextStep(
      verdict,
      {
        ...traffic.outlook(progress),
        failed: progress.endpoints.indexOf(endpoint),
        leavesFirst: connection.leavesFirst(),
        attempts: progress.attempts,
        uncounted: progress.uncounted,
        isAlive: clock.now() - endpoint.health.lastAnswer <= limits.outageCap,
        timeLeft: limits.deadline - progress.spent,
        random: clock.random(),
      },
      limits,
    );
    if (step.kind === 'give-up') throw error;
    if (step.kind === 'fallback') return;
    progress.spent += step.milliseconds;
    await clock.wait(step.milliseconds, signal);
  };

  try {
    return await pRetry(attempt, {
      // The policy decides when to stop.
      retries: Number.POSITIVE_INFINITY,
      // p-retry applies its jitter before its cap and ignores Retry-After, so the waits are our own.
      minTimeout: 0,
      signal,
      onFailedAttempt: prepareRetry,
    });
  } catch (error) {
    throw error instanceof FailedAttempt ? error.error : error;
  }
}

/** Makes one request for a snippet that arrived before, and records what it shows about the endpoint. */
export async function probe(
  plan: FetchPlan<unknown>,
  endpoint: Endpoint,
  connection: Connection,
  signal: AbortSignal,
): Promise<void> {
  const { clock, limits, traffic } = connection;
  connection.onRequest(true);
  const startedAt = clock.now();
  const response = await send(plan, endpoint, connection, { milliseconds: limits.attemptTimeout, signal });
  const { verdict, code } = judge(response.outcome);
  if (verdict !== 'again') return traffic.recordProof(plan.request, endpoint);
  traffic.recordNoProof(plan.request, endpoint, { startedAt, reason: describe(code, response) });
  if (response.retryAfter !== undefined) traffic.hold(endpoint, response.retryAfter);
}

interface Response<T> {
  outcome: Outcome;
  value?: T | undefined;
  status?: number;
  problem?: Problem | undefined;
  /** Why there is no answer, cleaned. */
  reason?: string;
  /** How long the service asks to wait, in milliseconds. */
  retryAfter?: number | undefined;
}

/** Makes one request. */
async function send<T>(
  { request, read }: FetchPlan<T>,
  { variant, base }: Endpoint,
  { transport, authorization, clock }: Connection,
  { milliseconds, signal }: { milliseconds: number; signal: AbortSignal },
): Promise<Response<T>> {
  const url = snippetUrl(base, variant, request);
  let answer: Answer;
  try {
    answer = await transport.send({ url, headers: { authorization, accept }, milliseconds }, signal);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return { outcome: { kind: error.kind }, reason: cleanText(error.message) };
  }
  const { status, contentType, body } = answer;
  if (status === 200) {
    const value = read(variant, body);
    return { outcome: { kind: value === undefined ? 'unusable' : 'usable' }, value, status };
  }
  const problem = readProblem(contentType, body);
  return {
    outcome: { kind: 'status', status, problem: problem !== undefined },
    status,
    problem,
    retryAfter: parseRetryAfter(answer.retryAfter, clock.now()),
  };
}

interface Place {
  snippetId: number;
  variant: Variant;
  attempts: number;
}

type FailedResponse = Pick<Response<unknown>, 'status' | 'problem' | 'reason' | 'retryAfter'>;

function responseError(code: SnippetErrorCode, failed: Place & FailedResponse): SnippetError {
  const { snippetId, variant, attempts, status, problem, reason } = failed;
  const afterAttempts = attempts === 1 ? '' : ` (${attempts} attempts)`;
  return new SnippetError(code, `${describe(code, failed)}${afterAttempts}`, {
    snippetId,
    variant,
    attempts,
    status,
    problem,
    cause: reason === undefined ? undefined : new Error(reason),
  });
}

function describe(code: SnippetErrorCode, { status, problem, reason, retryAfter }: FailedResponse): string {
  if (reason !== undefined) return reason;
  if (code === 'bad-answer') return 'the answer is cut off or is not what the specification says';
  if (code === 'redirect') return `the service answered with a redirect (${status}), which is never followed`;
  const wait = retryAfter === undefined ? '' : `, retry after ${formatDuration(retryAfter)}`;
  if (problem === undefined) return `the service answered ${status} without a problem object${wait}`;
  const { title = '', detail = '' } = problem;
  return `${status} ${[title, detail].filter((text) => text !== '').join(': ')}${wait}`;
}

function refusalError(
  { kind, endpoint, milliseconds }: Refusal,
  { request, attempts }: Progress,
): SnippetError {
  const time = formatDuration(milliseconds);
  const place = { snippetId: request.id, variant: endpoint.variant, attempts };
  if (kind === 'held') return new SnippetError('rate-limited', `the service asks to wait ${time}`, place);
  const reason = `no request has succeeded for ${time}; the last one failed: ${endpoint.health.reason}`;
  return new SnippetError('unavailable', reason, place);
}
