import { type ErrorCode, errorTable } from '../failures/error-table.ts';
import type { SnippetFailure, UserError } from '../failures/errors.ts';

/** Why a live snippet could not be shown: the `error` of `getLiveEntry`. Its message never contains the API key. */
export class LiveSnippetError extends Error {
  override readonly name = 'LiveSnippetError';
  /** The kind of failure, for programs. docs/errors.md explains each. */
  readonly code: ErrorCode;
  /** What to do next, for developers. */
  readonly hint: string;

  constructor(failure: SnippetFailure | UserError, code: ErrorCode) {
    super(failure.message, { cause: failure });
    this.code = code;
    this.hint = 'hint' in failure ? failure.hint : errorTable[code].hint;
  }
}
