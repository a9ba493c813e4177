import { z } from 'zod';
import { reasonOf } from '../text/clean-text.ts';
import { formatDuration } from '../text/format.ts';
import { completeProblemSchema, type Problem, problemSchema } from './problem.ts';
import { SnippetError, type SnippetErrorCode } from './snippet-error.ts';
import { type HttpResponse, isTransportError } from './transport/transport.ts';
import type { RetrievedSnippet, SnippetFields, Variant } from './variants.ts';

/** The result of one HTTP request for a snippet. */
export interface AttemptResult {
  /** Why the attempt failed; `undefined` if the snippet arrived. */
  code?: SnippetErrorCode | undefined;
  /** The snippet, if it arrived. */
  snippet?: SnippetFields;
  /** The HTTP status; `undefined` without an answer. */
  status?: number;
  /** The problem object of an answer that is not 200. */
  problem?: Problem | undefined;
  /** Why there is no answer, or none that can be used, cleaned. */
  reason?: string;
  /** Whether the port refuses, or the name does not resolve. */
  isUnreachable?: boolean;
  /** How long the service asks to wait, in milliseconds. */
  retryAfter?: number | undefined;
}

/** The statuses of the specification (section 7), and those that gateways in between are known to send. */
const codesByStatus: Record<number, SnippetErrorCode> = {
  401: 'unauthorized',
  402: 'payment-required',
  403: 'forbidden',
  404: 'not-found',
  408: 'timeout',
  425: 'server-error',
  429: 'rate-limited',
  // The server has not built the operation, so that asking again would not help.
  501: 'unexpected-status',
};

/** Statuses that mean a wrong URL if there is no problem object: the service always sends one. */
const statusesWithoutRoute = [404, 405, 410, 501];

/** Every other 5xx may pass: a CDN has its own for a service that is down, such as 520 to 530 of Cloudflare. */
const codeOfOtherStatus = (status: number): SnippetErrorCode => {
  if (status >= 500 && status <= 599) return 'server-error';
  return status >= 300 && status < 400 ? 'redirect' : 'unexpected-status';
};

/**
 * Reads what a complete HTTP response means.
 *
 * @param id the snippet that was asked for. An answer with another id is a `bad-answer`: it is of another snippet.
 * @param now the current time, in milliseconds since the epoch.
 */
export function readResponse(
  response: HttpResponse,
  variant: Variant,
  id: number,
  now: number,
): AttemptResult {
  const { status, contentType, body } = response;

  if (status === 200) {
    const sent = parseBody(responseSchemas[variant], body);
    if (!sent) return { code: 'bad-answer', status };
    if (sent.id !== undefined && sent.id !== id) {
      return { code: 'bad-answer', status, reason: `the service answered with snippet ${sent.id} instead` };
    }
    const { id: _, ...snippet } = sent;
    return { snippet, status };
  }

  const isDeclaredProblem = /^application\/problem\+json\s*(;|$)/i.test(contentType.trim());
  const problem = parseBody(isDeclaredProblem ? problemSchema : completeProblemSchema, body);
  const code = codeOf(status, problem !== undefined);
  // The server's clock may differ from the one here, so its date counts from the date of its answer.
  const sentAt = parseHttpDate(response.date ?? '') ?? now;
  return { code, status, problem, retryAfter: parseRetryAfter(response.retryAfter, sentAt) };
}

function codeOf(status: number, hasProblem: boolean): SnippetErrorCode {
  if (!hasProblem && statusesWithoutRoute.includes(status)) return 'no-route';
  return codesByStatus[status] ?? codeOfOtherStatus(status);
}

const optionalText = z.preprocess((value) => value ?? undefined, z.string().optional());

/**
 * The schemas of a body with status 200, for each variant (specification, sections 4.1 and 4.2). Variant B need not send
 * an id. If it sends a number, that is a snippet's.
 */
const responseSchemas: Record<Variant, z.ZodType<Partial<RetrievedSnippet>>> = {
  render: z.union([z.object({ id: z.int(), content: z.string() }), z.object({ content: z.string() })]),
  retrieve: z.object({ id: z.int(), name: optionalText, content: optionalText }),
};

/** Parses a body as JSON in UTF-8; `undefined` if that fails or the result does not match the schema. */
function parseBody<T>(schema: z.ZodType<T>, body: Uint8Array): T | undefined {
  try {
    return schema.safeParse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))).data;
  } catch {
    return undefined;
  }
}

/** Turns the error of a request without a complete response into a result. */
export function readFailure(error: unknown): AttemptResult {
  if (isTransportError(error)) {
    return { code: error.kind, reason: reasonOf(error), isUnreachable: error.isUnreachable };
  }
  // The platform cannot make this request, so that none was made.
  if (error instanceof SnippetError) return { code: error.code, reason: error.reason };
  const kind = error instanceof Error ? error.name : 'thrown';
  return { code: 'internal-error', reason: `the code failed, not the service: ${kind}: ${reasonOf(error)}` };
}

/** Says for people why an attempt failed, such as "404 Not Found: There is no snippet 42.". */
export function describeAttempt({ code, status, problem, reason, retryAfter }: AttemptResult): string {
  if (reason !== undefined) return reason;
  if (code === 'bad-answer') return 'the answer is cut off or is not what the specification says';
  if (code === 'no-content') return 'the answer has no content';
  if (code === 'redirect') return `the service answered with a redirect (${status}), which is never followed`;

  const wait = retryAfter === undefined ? '' : `, retry after ${formatDuration(retryAfter)}`;
  if (!problem) return `the service answered ${status} without a problem object${wait}`;
  const { title = '', detail = '' } = problem;
  return `${status} ${[title, detail].filter(Boolean).join(': ')}${wait}`;
}

/**
 * Parses `Retry-After` (RFC 9110, section 10.2.3) as milliseconds; `undefined` if invalid.
 *
 * @param now the time at which the server sent the header, in milliseconds since the epoch.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d{1,15}$/.test(value)) return Number(value) * 1000;
  const date = parseHttpDate(value);
  return date === undefined ? undefined : Math.max(0, date - now);
}

/** HTTP's three date formats (RFC 9110, section 5.6.7), checked as `Date.parse` would also accept "1" and "-5". */
const httpDate =
  /^(?:\w{3}, \d{2} \w{3} \d{4} [\d:]{8} GMT|\w{6,9}, \d{2}-\w{3}-\d{2} [\d:]{8} GMT|\w{3} \w{3} [ \d]\d [\d:]{8} \d{4})$/;

function parseHttpDate(value: string): number | undefined {
  if (!httpDate.test(value)) return undefined;
  // The third format has no time zone. It means UTC.
  const date = Date.parse(value.replace(/(?<!GMT)$/, ' GMT'));
  return Number.isNaN(date) ? undefined : date;
}
