import type { Problem } from './problem.ts';
import type { Variant } from './variant.ts';

/**
 * What went wrong, as one word to switch on.
 *
 * The service said so (specification, section 7):
 * - `unauthorized`: 401, no valid API key was provided.
 * - `payment-required`: 402, the trial or subscription has ended.
 * - `forbidden`: 403, the key lacks permission.
 * - `not-found`: 404 with a problem: no such snippet, or another organization's.
 * - `no-route`: 404, 405, 410 or 501 without a problem: nothing answers at this address.
 * - `rate-limited`: 429, or a `Retry-After` longer than the client waits.
 * - `server-error`: 500, 502, 503 or 504, still so after the last attempt.
 * - `unexpected-status`: any other status.
 * - `redirect`: a redirect, which is never followed.
 * - `bad-answer`: a 200 whose body is cut, is no JSON, or is not what the specification says.
 * - `no-content`: variant A answered without a `content`.
 *
 * The service was not reached:
 * - `network`, `timeout`, `certificate`: the connection failed, took too long, or could not be trusted.
 * - `too-large`: the answer is longer than the client accepts.
 * - `unavailable`: so many attempts failed that the service is not asked any more.
 *
 * What the service gave is not to be shown:
 * - `sanitize-failed`, `script-refused`, `left-open`: the site's own rules for HTML say so. The client has none.
 *
 * The service was not asked:
 * - `invalid-id`, `invalid-params`, `invalid-options`: what was passed cannot be used.
 * - `not-cached`: it was to be taken from a cache, and is not in it.
 * - `aborted`: the caller's signal was aborted. `closed`: the client was closed.
 */
export type SnippetErrorCode =
  | 'unauthorized'
  | 'payment-required'
  | 'forbidden'
  | 'not-found'
  | 'no-route'
  | 'rate-limited'
  | 'server-error'
  | 'unexpected-status'
  | 'redirect'
  | 'bad-answer'
  | 'no-content'
  | 'network'
  | 'timeout'
  | 'certificate'
  | 'too-large'
  | 'unavailable'
  | 'sanitize-failed'
  | 'script-refused'
  | 'left-open'
  | 'invalid-id'
  | 'invalid-params'
  | 'invalid-options'
  | 'not-cached'
  | 'aborted'
  | 'closed';

interface SnippetErrorFields {
  snippetId?: number | undefined;
  variant?: Variant | undefined;
  /** Requests made for this snippet. */
  attempts?: number | undefined;
  /** The status of the answer, which wins over the problem's own. */
  status?: number | undefined;
  problem?: Problem | undefined;
  cause?: unknown;
}

/**
 * Every failure of the client. Carries what the service said of it (`status`, `title`, `detail`, `type`: the
 * problem of the specification's section 2) beside the snippet, the variant and the number of attempts.
 *
 * Never carries the API key: texts from outside are cleaned of it, and of control characters, before they
 * come here. Never is a raw error of the HTTP library, nor has one as its `cause`.
 */
export class SnippetError extends Error {
  override readonly name = 'SnippetError';
  readonly code: SnippetErrorCode;
  readonly snippetId: number | undefined;
  readonly variant: Variant | undefined;
  readonly attempts: number;
  readonly status: number | undefined;
  readonly title: string | undefined;
  readonly detail: string | undefined;
  readonly type: string | undefined;

  constructor(code: SnippetErrorCode, message: string, fields: SnippetErrorFields = {}) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = code;
    this.snippetId = fields.snippetId;
    this.variant = fields.variant;
    this.attempts = fields.attempts ?? 0;
    this.status = fields.status;
    this.title = fields.problem?.title;
    this.detail = fields.problem?.detail;
    this.type = fields.problem?.type;
  }
}
