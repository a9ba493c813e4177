import pRetry from 'p-retry';
import { type Problem, readProblem } from './answer.ts';
import type { Clock } from './clock.ts';
import { formatDuration } from './format.ts';
import type { Limits } from './limits.ts';
import type { OriginGate, Refusal } from './origin-gate.ts';
import { judge, type Outcome, type Verdict } from './outcome.ts';
import { nextStep, parseRetryAfter } from './retry-policy.ts';
import { type BaseUrl, snippetUrl, type Variant } from './service-url.ts';
import { SnippetError, type SnippetErrorCode } from './snippet-error.ts';
import type { SnippetRequest } from './snippet-request.ts';
import { type Answer, NoAnswer, type Transport } from './transport.ts';

/** One of the two variants, and where to reach it. */
export interface Endpoint {
  variant: Variant;
  base: BaseUrl;
  gate: OriginGate;
}

/** What all requests of one client share. */
export interface Connection {
  transport: Transport;
  authorization: string;
  clock: Clock;
  limits: Limits;
  /** Makes text from outside safe to show, without the key. */
  clean(text: string): string;
  /** Called before each HTTP request; `isRetry` if the same variant was asked before. */
  onRequest(isRetry: boolean): void;
  /** Called when a snippet falls back from variant B to variant A. */
  onFallback(): void;
}

/** How to fetch one snippet: from the first endpoint, and if that fails, from the second. */
export interface FetchPlan<T> {
  request: SnippetRequest;
  endpoint: Endpoint;
  fallback: Endpoint | undefined;
  /** Parses a body of status 200. Returns `undefined` if it is not what the variant answers. */
  read(variant: Variant, body: string): T | undefined;
}

export interface FetchResult<T> {
  variant: Variant;
  value: T;
  attempts: number;
  /** From the first request to the last byte, including waits. */
  milliseconds: number;
}

/** An attempt that did not return the content. */
class FailedAttempt extends Error {
  readonly verdict: Exclude<Verdict, 'use'>;
  readonly error: SnippetError;

  constructor(verdict: FailedAttempt['verdict'], error: SnippetError) {
    super(error.message);
    this.verdict = verdict;
    this.error = error;
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
  const { clock, limits } = connection;
  const start = clock.now();
  const deadline = start + limits.deadline;
  let { endpoint, fallback } = plan;
  let attempts = 0;
  let failures = 0;

  const fallBack = (to: Endpoint) => {
    endpoint = to;
    fallback = undefined;
    failures = 0;
    connection.onFallback();
  };

  const attempt = async (): Promise<FetchResult<T>> => {
    // An origin that fails for every snippet is not waited for if the other variant may respond.
    if (endpoint.gate.isOpen && fallback !== undefined && !fallback.gate.isOpen) fallBack(fallback);
    const { variant, gate } = endpoint;
    const refusal = await gate.enter(deadline, signal);
    const place = { snippetId: plan.request.id, variant };
    if (refusal !== undefined) throw new FailedAttempt('fail', refusalError(refusal, { ...place, attempts }));
    connection.onRequest(failures > 0);
    attempts += 1;
    const response = await send(plan, endpoint, connection, { deadline, signal });
    const { verdict, code } = judge(response.outcome);
    gate.record(verdict !== 'again');
    if (verdict === 'again' && response.retryAfter !== undefined) gate.hold(response.retryAfter);
    if (verdict === 'use' && response.value !== undefined) {
      return { variant, value: response.value, attempts, milliseconds: clock.now() - start };
    }
    throw new FailedAttempt(
      verdict === 'use' ? 'fail' : verdict,
      responseError(code, { ...place, attempts, ...response }),
    );
  };

  const prepareRetry = async ({ error, retriesLeft }: { error: Error; retriesLeft: number }) => {
    if (!(error instanceof FailedAttempt) || retriesLeft === 0) throw error;
    failures += 1;
    const timeLeft = deadline - clock.now();
    const state = { failures, hasFallback: fallback !== undefined, timeLeft, random: clock.random() };
    const step = nextStep(error.verdict, state, limits);
    if (step.kind === 'retry') await clock.wait(step.milliseconds, signal);
    else if (step.kind === 'fallback' && fallback !== undefined) fallBack(fallback);
    else throw error;
  };

  try {
    return await pRetry(attempt, {
      retries: limits.attempts - 1,
      // p-retry applies its jitter before its cap and ignores Retry-After, so the waits are our own.
      minTimeout: 0,
      signal,
      onFailedAttempt: prepareRetry,
    });
  } catch (error) {
    throw error instanceof FailedAttempt ? error.error : error;
  }
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
  { transport, authorization, clock, limits, clean }: Connection,
  { deadline, signal }: { deadline: number; signal: AbortSignal },
): Promise<Response<T>> {
  const url = snippetUrl(base, variant, request);
  const milliseconds = Math.min(limits.attemptTimeout, deadline - clock.now());
  let answer: Answer;
  try {
    answer = await transport.send({ url, authorization, milliseconds }, signal);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return { outcome: { kind: error.kind }, reason: clean(error.message) };
  }
  const { status, contentType, body } = answer;
  if (status === 200) {
    const value = read(variant, body);
    return { outcome: { kind: value === undefined ? 'unusable' : 'usable' }, value, status };
  }
  const problem = readProblem(contentType, body, clean);
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

function refusalError({ kind, milliseconds }: Refusal, place: Place): SnippetError {
  const time = formatDuration(milliseconds);
  return kind === 'held'
    ? new SnippetError('rate-limited', `the service asks to wait ${time}`, place)
    : new SnippetError('unavailable', `too many requests fail; none has succeeded for ${time}`, place);
}
