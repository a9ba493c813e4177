import { cleanLines } from '../text/clean-text.ts';
import type { Problem } from './problem.ts';
import type { Variant } from './variants.ts';

/** Why no snippet can be fetched. */
export type EndingCode =
  | 'unauthorized' // 401: no valid API key was provided.
  | 'payment-required'; // 402: the trial or subscription has expired.

/** Why a snippet could not be fetched. The codes are permanent. */
export type SnippetErrorCode =
  // Sent by the service (specification, section 7).
  | EndingCode
  | 'forbidden' // 403: the key lacks permission.
  | 'not-found' // 404 with a problem object.
  | 'no-route' // 404, 405, 410 or 501 without a problem object: the URL is not the service's.
  | 'rate-limited' // 429, or a `Retry-After` longer than the client waits.
  | 'server-error' // 500, 502, 503 or 504, even after the last attempt.
  | 'unexpected-status' // Any other status.
  | 'redirect' // Redirects are never followed.
  | 'bad-answer' // A 200 that is cut off, or does not match the specification.
  | 'no-content' // Variant A answered without `content`.
  // The service was not reached.
  | 'network' // The connection failed.
  | 'timeout' // It took too long.
  | 'certificate' // It could not be trusted.
  | 'too-large' // The answer is longer than the client accepts.
  | 'unavailable' // So many attempts failed that the client stopped asking.
  // No request was made.
  | 'invalid-id'
  | 'invalid-params'
  | 'invalid-options' // An argument is invalid, or a proxy in the environment cannot be used.
  | 'unsupported-node' // Older than `engines` in package.json allows.
  | 'aborted' // The caller's signal was aborted.
  | 'closed'; // The client was closed.

interface SnippetErrorFields
  extends Partial<Pick<SnippetError, 'snippetId' | 'variant' | 'attempts' | 'status'>> {
  problem?: Problem | undefined;
  cause?: unknown;
}

/**
 * Thrown for every failure of the client, with the service's problem object (`title`, `detail` and `type`; specification,
 * section 2). Never contains the API key, or an error of the HTTP library.
 */
export class SnippetError extends Error {
  override readonly name = 'SnippetError';
  readonly code: SnippetErrorCode;
  /** The message without the snippet. */
  readonly reason: string;
  readonly snippetId: number | undefined;
  readonly variant: Variant | undefined;
  /** Requests made for this snippet. */
  readonly attempts: number;
  /** The status of the answer, not of the problem. */
  readonly status: number | undefined;
  readonly title: string | undefined;
  readonly detail: string | undefined;
  readonly type: string | undefined;

  constructor(code: SnippetErrorCode, reason: string, fields: SnippetErrorFields = {}) {
    const { snippetId, variant, attempts = 0, status, problem, cause } = fields;
    const clean = cleanLines(reason);
    const task = variant && ` could not be ${variant === 'render' ? 'rendered' : 'retrieved'}`;
    const message = snippetId === undefined ? clean : `Snippet ${snippetId}${task ?? ''}: ${clean}`;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.reason = clean;
    this.snippetId = snippetId;
    this.variant = variant;
    this.attempts = attempts;
    this.status = status;
    this.title = problem?.title;
    this.detail = problem?.detail;
    this.type = problem?.type;
  }
}
