import pRetry from 'p-retry';
import type { Dispatcher } from 'undici';
import { type Answer, attempt, NoAnswer } from './attempt.ts';
import { type BaseUrl, snippetUrl } from './base-url.ts';
import type { Clock } from './clock.ts';
import { failure, refusal } from './failure.ts';
import type { Limits } from './limits.ts';
import type { OriginGate } from './origin-gate.ts';
import { judge, type Outcome, type Verdict } from './outcome.ts';
import { type Problem, readProblem } from './problem.ts';
import { parseRetryAfter } from './retry-after.ts';
import { retryDelay } from './retry-delay.ts';
import type { SnippetError } from './snippet-error.ts';
import type { Variant } from './variant.ts';

/** One of the two variants, where it is asked for. */
export interface Endpoint {
  variant: Variant;
  base: BaseUrl;
  gate: OriginGate;
}

/** What every question of one client shares. */
export interface Connection {
  dispatcher(): Promise<Dispatcher>;
  authorization: string;
  clock: Clock;
  limits: Limits;
  /** Takes the key and everything unprintable out of a text from outside. */
  clean(text: string): string;
  /** Called before each request that is made; `again` when the same variant was asked before. */
  onRequest(again: boolean): void;
  /** Called when a snippet is taken from variant B to variant A. */
  onFallback(): void;
}

/** One snippet to ask for: at the first endpoint, and where that does not answer, at the second. */
export interface Question<T> {
  id: number;
  params: string | undefined;
  endpoint: Endpoint;
  fallback: Endpoint | undefined;
  /** Reads a body of status 200; nothing where it is not what the variant answers. */
  read(variant: Variant, body: string): T | undefined;
}

export interface Reply<T> {
  variant: Variant;
  value: T;
  attempts: number;
  /** From the first request to the last byte, waits included. */
  milliseconds: number;
}

/** An attempt that did not give the content; p-retry decides by it whether there is another. */
class FailedAttempt extends Error {
  readonly verdict: Verdict | 'refused';
  readonly error: SnippetError;

  constructor(verdict: FailedAttempt['verdict'], error: SnippetError) {
    super(error.message);
    this.verdict = verdict;
    this.error = error;
  }
}

/**
 * Asks for one snippet: attempts, waits and the way from variant B to variant A, within the limits.
 *
 * @throws SnippetError, or the reason of `signal`.
 */
export async function ask<T>(
  question: Question<T>,
  connection: Connection,
  signal: AbortSignal,
): Promise<Reply<T>> {
  const { clock, limits } = connection;
  const start = clock.now();
  const deadline = start + limits.deadline;
  let endpoint = question.endpoint;
  let fallback = question.fallback;
  let attempts = 0;
  let failuresHere = 0;

  const fallBack = () => {
    if (fallback === undefined) return false;
    endpoint = fallback;
    fallback = undefined;
    failuresHere = 0;
    connection.onFallback();
    return true;
  };

  const once = async (): Promise<Reply<T>> => {
    // An origin that fails for everyone is not waited for where the other variant may answer.
    if (endpoint.gate.isOpen && fallback !== undefined && !fallback.gate.isOpen) fallBack();
    const refused = await endpoint.gate.enter(deadline, signal);
    const place = { snippetId: question.id, variant: endpoint.variant };
    if (refused !== undefined) throw new FailedAttempt('refused', refusal(refused, { ...place, attempts }));
    connection.onRequest(failuresHere > 0);
    attempts += 1;
    const result = await request(question, endpoint, connection, deadline, signal);
    const { verdict, code } = judge(result.outcome);
    endpoint.gate.record(verdict !== 'again');
    if (verdict === 'again' && result.retryAfter !== undefined) endpoint.gate.hold(result.retryAfter);
    if (result.value !== undefined) {
      const milliseconds = clock.now() - start;
      return { variant: endpoint.variant, value: result.value, attempts, milliseconds };
    }
    throw new FailedAttempt(verdict, failure(code, { ...place, attempts, ...result }));
  };

  try {
    return await pRetry(once, {
      retries: limits.attempts - 1,
      // The waits are ours: p-retry adds its jitter before its cap and knows no Retry-After.
      minTimeout: 0,
      signal,
      shouldRetry: async ({ error, retriesLeft }) => {
        if (!(error instanceof FailedAttempt) || retriesLeft === 0) return false;
        if (error.verdict === 'elsewhere') return fallBack();
        if (error.verdict !== 'again') return false;
        failuresHere += 1;
        if (failuresHere >= limits.renderAttempts && fallBack()) return true;
        const wait = retryDelay(failuresHere, clock.random(), limits);
        if (clock.now() + wait >= deadline) return false;
        await clock.wait(wait, signal);
        return true;
      },
    });
  } catch (error) {
    throw error instanceof FailedAttempt ? error.error : error;
  }
}

interface Result<T> {
  outcome: Outcome;
  value?: T | undefined;
  status?: number;
  problem?: Problem | undefined;
  reason?: string;
  /** Milliseconds for which the service asks to be left alone. */
  retryAfter?: number | undefined;
}

/** One request, and what it came to. */
async function request<T>(
  question: Question<T>,
  { variant, base }: Endpoint,
  { dispatcher, authorization, clock, limits, clean }: Connection,
  deadline: number,
  signal: AbortSignal,
): Promise<Result<T>> {
  const url = snippetUrl(base, variant, question.id, question.params);
  const milliseconds = Math.min(limits.attemptTimeout, deadline - clock.now());
  let answer: Answer;
  try {
    answer = await attempt(await dispatcher(), url, authorization, limits, milliseconds, signal);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return { outcome: { kind: error.kind }, reason: clean(error.message) };
  }
  const { status, contentType, body } = answer;
  if (status === 200) {
    const value = question.read(variant, body);
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
