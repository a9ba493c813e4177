import { z } from 'zod';
import { reasonOf } from '../text/clean-text.ts';
import { formatDuration } from '../text/format.ts';
import { completeProblem, type Problem, problemSchema } from './problem.ts';
import type { SnippetErrorCode } from './snippet-error.ts';
import { type HttpResponse, TransportError } from './transport/transport.ts';
import type { RetrievedSnippet, Variant } from './variants.ts';

const optionalText = z.preprocess((value) => value ?? undefined, z.string().optional());

const responseSchemas: Record<Variant, z.ZodType<Partial<RetrievedSnippet>>> = {
  render: z.object({ content: z.string() }),
  retrieve: z.object({ id: z.int(), name: optionalText, content: optionalText }),
};

function parseBody<T>(schema: z.ZodType<T>, body: Uint8Array) {
  try {
    return schema.safeParse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))).data;
  } catch {
    return undefined;
  }
}

export interface AttemptResult {
  code?: SnippetErrorCode | undefined;
  value?: Omit<RetrievedSnippet, 'id'>;
  status?: number;
  problem?: Problem | undefined;
  /** Why there is no answer, cleaned. */
  reason?: string;
  isUnreachable?: boolean;
  /** In milliseconds. */
  retryAfter?: number | undefined;
}

// Those of the specification (section 7), and of gateways in between.
const codesByStatus: Record<number, SnippetErrorCode> = {
  401: 'unauthorized',
  402: 'payment-required',
  403: 'forbidden',
  404: 'not-found',
  408: 'timeout',
  429: 'rate-limited',
  500: 'server-error',
  502: 'server-error',
  503: 'server-error',
  504: 'server-error',
};

// Without a problem, which the service sends with every error (section 7), something else answered.
const withoutRoute = [404, 405, 410, 501];

export function readResponse(answer: HttpResponse, variant: Variant, id: number, now: number): AttemptResult {
  const { status, contentType, body } = answer;
  if (status === 200) {
    const { id: sent = id, ...value } = parseBody(responseSchemas[variant], body) ?? { id: Number.NaN };
    return sent === id ? { value, status } : { code: 'bad-answer', status };
  }
  const isDeclared = /^application\/problem\+json\s*(;|$)/i.test(contentType.trim());
  const problem = parseBody<Problem>(isDeclared ? problemSchema : completeProblem, body);
  const isNoRoute = !problem && withoutRoute.includes(status);
  const isRedirect = status >= 300 && status < 400;
  const code = isNoRoute
    ? 'no-route'
    : (codesByStatus[status] ?? (isRedirect ? 'redirect' : 'unexpected-status'));
  return { code, status, problem, retryAfter: parseRetryAfter(answer.retryAfter, now) };
}

export function readFailure(error: unknown): {
  code: 'network' | 'timeout' | 'certificate' | 'too-large' | 'invalid-options';
  reason: string;
  isUnreachable: boolean;
} {
  const { kind, isUnreachable = false } =
    error instanceof TransportError ? error : { kind: 'network' as const };
  return { code: kind, reason: reasonOf(error), isUnreachable };
}

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

// RFC 9110, section 5.6.7. Date.parse would also accept "1" and "-5".
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Parses a `Retry-After` header (RFC 9110, section 10.2.3) as milliseconds from `now`. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d{1,15}$/.test(value)) return Number(value) * 1000;
  if (!httpDate.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
