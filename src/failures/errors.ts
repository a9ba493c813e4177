import { SnippetError } from '../client/snippet-error.ts';
import { cleanLines } from '../text/clean-text.ts';
import { type ErrorCode, hints, type SiteErrorCode } from './error-table.ts';

/** Of a snippet that arrived but must not be shown, or of an invalid embed. */
export class SiteError extends Error {
  override readonly name = 'SiteError';
  readonly code: SiteErrorCode;
  /** Without the part that names the snippet. */
  readonly reason: string;

  constructor(code: SiteErrorCode, reason: string, snippetId?: number) {
    const clean = cleanLines(reason);
    super(snippetId ? `Snippet ${snippetId} ${clean}` : clean);
    this.code = code;
    this.reason = clean;
  }
}

export type SnippetFailure = SnippetError | SiteError;

export function isSnippetFailure(error: unknown): error is SnippetFailure {
  return error instanceof SnippetError || error instanceof SiteError;
}

/** An error for people, with a hint. Astro recognizes it by `type`: without Astro, its class is not there. */
export class UserError extends Error {
  readonly type = 'AstroUserError';
  readonly hint: string;
  /** `undefined` for a report, which shows the code of each failure. */
  readonly code: ErrorCode | undefined;
  readonly codes: readonly ErrorCode[];

  constructor(message: string, hint: string, codes: ErrorCode | readonly ErrorCode[]) {
    super(cleanLines(message));
    this.hint = cleanLines(hint);
    this.code = typeof codes === 'string' ? codes : undefined;
    this.codes = [codes].flat();
    this.name = this.code ? `astro-snippets/${this.code}` : 'astro-snippets';
    // It would only name a place in this package.
    this.stack = '';
  }
}

/** @param hint if the table says it less well. */
export const userError = (code: ErrorCode, message: string, hint: string = hints[code]): UserError =>
  new UserError(message, hint, code);
