import { z } from 'zod';
import { cleanText } from './clean-text.ts';
import type { SnippetErrorCode } from './snippet-error.ts';

/** What `render` returns (specification, section 4.2). */
export interface RenderedSnippet {
  /** The rendered snippet: HTML, exactly as the service sent it. May be empty. */
  content: string;
}

/** What `retrieve` returns (specification, sections 2 and 4.1, which leave open which fields are always present). */
export interface RetrievedSnippet {
  id: number;
  name?: string | undefined;
  content?: string | undefined;
}

/** The service's error object (specification, section 2; RFC 9457), with its texts cleaned. */
export interface Problem {
  title?: string | undefined;
  detail?: string | undefined;
  type?: string | undefined;
}

const rendered: z.ZodType<RenderedSnippet> = z.object({ content: z.string() });

const optionalText = z
  .string()
  .nullish()
  .transform((value) => value ?? undefined);
const retrieved: z.ZodType<RetrievedSnippet> = z.object({
  id: z.int(),
  name: optionalText,
  content: optionalText,
});

// A field of the wrong type is dropped without affecting the others.
const problemText = z.string().optional().catch(undefined);
const problem = z.object({ title: problemText, detail: problemText, type: problemText });

// All fields of section 2: recognized even without the media type, which some gateways rewrite.
const completeProblem = z.object({
  status: z.int(),
  title: z.string(),
  detail: z.string(),
  type: z.string(),
});

/** Parses a successful body of variant B. Returns `undefined` if it is cut off, not JSON, or not as specified. */
export function readRendered(body: Uint8Array): RenderedSnippet | undefined {
  return read(rendered, body);
}

/** Parses a successful body of variant A, whose id must be the one that was asked for. */
export function readRetrieved(body: Uint8Array, id: number): RetrievedSnippet | undefined {
  const snippet = read(retrieved, body);
  return snippet?.id === id ? snippet : undefined;
}

/**
 * Parses a problem object. Every error of the service is one (specification, section 7), so an error without one
 * comes from something else at this URL.
 */
export function readProblem(contentType: string, body: Uint8Array): Problem | undefined {
  const isDeclared = /^application\/problem\+json\s*(;|$)/i.test(contentType.trim());
  const found = read<Problem>(isDeclared ? problem : completeProblem, body);
  if (found === undefined) return undefined;
  const { title, detail, type } = found;
  return {
    title: title && cleanText(title),
    detail: detail && cleanText(detail),
    type: type && cleanText(type),
  };
}

function read<T>(schema: z.ZodType<T>, body: Uint8Array): T | undefined {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
  const parsed = schema.safeParse(json);
  return parsed.success ? parsed.data : undefined;
}

/** Why there is no answer, or no request was made. These are codes of errors, too. */
type WithoutAnswer = 'network' | 'timeout' | 'certificate' | 'too-large' | 'invalid-options';

/** The result of one HTTP request, reduced to what decides the next step. */
export type Outcome =
  | { kind: 'usable' }
  | { kind: 'unusable' }
  | { kind: 'status'; status: number; problem: boolean }
  | { kind: WithoutAnswer };

/**
 * - `use`: the content arrived.
 * - `end`: the key is used for every request, so no other snippet can succeed.
 * - `fail`: this snippet fails; the others continue.
 * - `elsewhere`: this route does not exist; ask the other variant.
 * - `again`: the failure may be temporary.
 */
export type Verdict = 'use' | 'end' | 'fail' | 'elsewhere' | 'again';

interface Judgement {
  verdict: Verdict;
  code: SnippetErrorCode;
}

// Without a problem, they are not the service's.
const withoutRoute: ReadonlySet<number> = new Set([404, 405, 410, 501]);

const ofStatus: Readonly<Record<number, Judgement>> = {
  401: { verdict: 'end', code: 'unauthorized' },
  402: { verdict: 'end', code: 'payment-required' },
  403: { verdict: 'fail', code: 'forbidden' },
  404: { verdict: 'fail', code: 'not-found' },
  408: { verdict: 'again', code: 'timeout' },
  429: { verdict: 'again', code: 'rate-limited' },
  500: { verdict: 'again', code: 'server-error' },
  502: { verdict: 'again', code: 'server-error' },
  503: { verdict: 'again', code: 'server-error' },
  504: { verdict: 'again', code: 'server-error' },
};

const withoutAnswer: Readonly<Record<WithoutAnswer, Verdict>> = {
  network: 'again',
  timeout: 'again',
  certificate: 'fail',
  'too-large': 'fail',
  // The environment names a proxy that cannot be used.
  'invalid-options': 'fail',
};

/**
 * Decides what an outcome means. The same for both variants; after variant A there is no other variant to ask, so
 * `elsewhere` fails there.
 *
 * The statuses are those of the specification's section 7, plus the ones that servers and gateways in between are
 * known to send.
 */
export function judge(outcome: Outcome): Judgement {
  switch (outcome.kind) {
    case 'usable':
      return { verdict: 'use', code: 'bad-answer' };
    case 'unusable':
      return { verdict: 'again', code: 'bad-answer' };
    case 'status':
      return judgeStatus(outcome.status, outcome.problem);
    default:
      return { verdict: withoutAnswer[outcome.kind], code: outcome.kind };
  }
}

function judgeStatus(status: number, problem: boolean): Judgement {
  if (!problem && withoutRoute.has(status)) return { verdict: 'elsewhere', code: 'no-route' };
  const isRedirect = status >= 300 && status < 400;
  return ofStatus[status] ?? { verdict: 'fail', code: isRedirect ? 'redirect' : 'unexpected-status' };
}
