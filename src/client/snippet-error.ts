import { cleanLines } from '../text/clean-text.ts';
import type { Problem } from './problem.ts';
import type { Variant } from './variants.ts';

/** The codes of failures that end a run: all requests use one API key and the same code, so all would fail the same way. */
export type EndingCode =
  | 'unauthorized' // 401: no valid API key was provided.
  | 'payment-required' // 402: the trial or subscription has expired.
  | 'internal-error'; // Code threw what has nothing to do with the network, such as a TypeError.

/** Why a snippet could not be fetched. The codes are permanent; docs/errors.md says what to do about each. */
export type SnippetErrorCode =
  // Sent by the service (specification, section 7).
  | EndingCode
  | 'forbidden' // 403: the key lacks permission.
  | 'not-found' // 404 with a problem object.
  | 'no-route' // 404, 405, 410 or 501 without a problem object: the URL is not the service's.
  | 'rate-limited' // 429, or a `Retry-After` longer than the client waits.
  | 'server-error' // 425, or any 5xx but 501, even after the last attempt.
  | 'unexpected-status' // Any other HTTP status than those above, 200 and redirects.
  | 'redirect' // Redirects are never followed.
  | 'bad-answer' // A 200 that is cut off, or does not match the specification.
  | 'no-content' // Variant A answered without `content`.
  // The service was not reached.
  | 'network' // The connection failed.
  | 'timeout' // The answer took too long, or is 408.
  | 'certificate' // The server's certificate could not be trusted.
  | 'too-large' // The answer is longer than the client accepts.
  | 'unavailable' // The client stopped asking, since so many attempts failed.
  // No request was made.
  | 'invalid-id'
  | 'invalid-params'
  | 'invalid-options' // An argument is invalid, or a proxy in the environment cannot be used.
  | 'unsupported-node' // Older than `engines` in package.json allows.
  | 'aborted' // The caller's signal was aborted.
  | 'closed'; // The client was closed.

/** The facts about a failure, besides its code and reason. {@link SnippetError} explains them. */
interface SnippetErrorFields {
  snippetId?: number | undefined;
  variant?: Variant | undefined;
  /** @default 0 */
  attempts?: number;
  status?: number | undefined;
  /** The problem object of the last answer. */
  problem?: Problem | undefined;
  cause?: unknown;
}

/**
 * The one error that the client throws, for every failure. `title`, `detail` and `type` are those of the
 * problem object that the service sent (specification, sections 2 and 7), made safe to show. An error never
 * contains the API key, or an error of the HTTP library.
 */
export class SnippetError extends Error {
  override readonly name = 'SnippetError';
  /** The kind of failure, for programs: compare this, not the message. */
  readonly code: SnippetErrorCode;
  /** The message without the part that names the snippet. */
  readonly reason: string;
  /** The snippet that was asked for; `undefined` if the failure is not about one. */
  readonly snippetId: number | undefined;
  /** The variant that the last request went to; `undefined` if no request was made. */
  readonly variant: Variant | undefined;
  /** Requests made for this snippet, to both variants. */
  readonly attempts: number;
  /** The HTTP status of the last answer, whatever its problem object says; `undefined` without an answer. */
  readonly status: number | undefined;
  /** The problem object's general type of the error, in a few words. */
  readonly title: string | undefined;
  /** The problem object's description of the specific error. */
  readonly detail: string | undefined;
  /** The problem object's URL with more about the error. */
  readonly type: string | undefined;

  constructor(code: SnippetErrorCode, reason: string, fields: SnippetErrorFields = {}) {
    const { snippetId, variant, attempts = 0, status, problem, cause } = fields;
    const cleanReason = cleanLines(reason);
    const subject = snippetId === undefined ? undefined : `Snippet ${snippetId}`;
    super(describeFailure(subject, cleanReason, variant), cause === undefined ? undefined : { cause });

    this.code = code;
    this.reason = cleanReason;
    this.snippetId = snippetId;
    this.variant = variant;
    this.attempts = attempts;
    this.status = status;
    this.title = problem?.title;
    this.detail = problem?.detail;
    this.type = problem?.type;
  }
}

/** The sentence that a failure is described by. @param subject the name of the snippet; absent if it is about none */
export function describeFailure(
  subject: string | undefined,
  reason: string,
  variant: Variant | undefined,
): string {
  if (subject === undefined) return reason;
  if (!variant) return `${subject}: ${reason}`;
  return `${subject} could not be ${variant === 'render' ? 'rendered' : 'retrieved'}: ${reason}`;
}
