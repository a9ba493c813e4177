import type { Outcome } from './answer.ts';
import { type Problem, type RetrievedSnippet, readProblem, readRendered, readRetrieved } from './answer.ts';
import { reasonOf } from './clean-text.ts';
import { formatDuration } from './format.ts';
import { type BaseUrl, snippetUrl, type Variant } from './service-url.ts';
import { SnippetError, type SnippetErrorCode } from './snippet-error.ts';
import type { SnippetRequest } from './snippet-request.ts';
import { type Answer, NoAnswer, type Transport } from './transport.ts';

/** One HTTP request for a snippet. */
export interface Exchange {
  request: SnippetRequest;
  variant: Variant;
  base: BaseUrl;
  /** The most that it may take. */
  milliseconds: number;
}

/** What one HTTP request led to. */
export interface Response {
  outcome: Outcome;
  /** What variant A answers with; variant B answers with the content alone. */
  value?: Partial<RetrievedSnippet> | undefined;
  status?: number;
  problem?: Problem | undefined;
  /** Why there is no answer, cleaned. */
  reason?: string;
  /** Whether the port refuses, or the name does not resolve. */
  isUnreachable?: boolean;
  /** How long the service asks to wait, in milliseconds. */
  retryAfter?: number | undefined;
}

const accept = 'application/json, application/problem+json';

/** Makes one request. @throws the reason of `signal`, and nothing else. */
export async function exchange(
  { request, variant, base, milliseconds }: Exchange,
  { transport, authorization, now }: { transport: Transport; authorization: string; now(): number },
  signal: AbortSignal,
): Promise<Response> {
  let answer: Answer;
  try {
    const url = snippetUrl(base, variant, request);
    answer = await transport.send({ url, headers: { authorization, accept }, milliseconds }, signal);
  } catch (error) {
    signal.throwIfAborted();
    const { kind, isUnreachable } =
      error instanceof NoAnswer ? error : { kind: 'network' as const, isUnreachable: false };
    return { outcome: { kind }, reason: reasonOf(error), isUnreachable };
  }
  const { status, contentType, body } = answer;
  if (status === 200) {
    const value = variant === 'render' ? readRendered(body) : readRetrieved(body, request.id);
    return { outcome: { kind: value === undefined ? 'unusable' : 'usable' }, value, status };
  }
  const problem = readProblem(contentType, body);
  return {
    outcome: { kind: 'status', status, problem: problem !== undefined },
    status,
    problem,
    retryAfter: parseRetryAfter(answer.retryAfter, now()),
  };
}

export function responseError(
  code: SnippetErrorCode,
  response: Response,
  place: { snippetId: number; variant: Variant; attempts: number },
): SnippetError {
  const { status, problem, reason } = response;
  const afterAttempts = place.attempts === 1 ? '' : ` (${place.attempts} attempts)`;
  const cause = reason === undefined ? undefined : new Error(reason);
  const fields = { ...place, status, problem, cause };
  return new SnippetError(code, `${describe(code, response)}${afterAttempts}`, fields);
}

/** Says why a request did not lead to a content. */
export function describe(code: SnippetErrorCode, { status, problem, reason, retryAfter }: Response): string {
  if (reason !== undefined) return reason;
  if (code === 'bad-answer') return 'the answer is cut off or is not what the specification says';
  if (code === 'redirect') return `the service answered with a redirect (${status}), which is never followed`;
  const wait = retryAfter === undefined ? '' : `, retry after ${formatDuration(retryAfter)}`;
  if (problem === undefined) return `the service answered ${status} without a problem object${wait}`;
  const { title = '', detail = '' } = problem;
  return `${status} ${[title, detail].filter((text) => text !== '').join(': ')}${wait}`;
}

const seconds = /^[0-9]{1,15}$/;
// The one date format a server may send (RFC 9110, section 5.6.7). Date.parse would also accept "1" and "-5".
const httpDate =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/;

/**
 * Parses a `Retry-After` header (RFC 9110, section 10.2.3) as milliseconds from `now`. Returns `undefined` if it is
 * absent or invalid (negative, a fraction, garbage), and 0 for a date in the past.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const value = header?.trim() ?? '';
  if (seconds.test(value)) return Number(value) * 1000;
  if (!httpDate.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
