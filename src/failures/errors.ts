import { SnippetError } from '../client/snippet-error.ts';
import { cleanLines } from '../text/clean-text.ts';
import { type ErrorCode, errorTable, type SiteErrorCode } from './error-table.ts';

/** Why a snippet that arrived must not be shown, or an embed is invalid. */
export class SiteError extends Error {
  override readonly name = 'SiteError';
  readonly code: SiteErrorCode;
  /** The message without the part that names the snippet. */
  readonly reason: string;

  constructor(code: SiteErrorCode, reason: string, snippetId?: number) {
    const clean = cleanLines(reason);
    super(snippetId ? `Snippet ${snippetId} ${clean}` : clean);
    this.code = code;
    this.reason = clean;
  }
}

/** An error about one snippet. Such errors are collected into one report; any other ends the run at once. */
export type SnippetFailure = SnippetError | SiteError;

export function isSnippetFailure(error: unknown): error is SnippetFailure {
  return error instanceof SnippetError || error instanceof SiteError;
}

/**
 * An error for people, with a hint, which Astro shows because of `type`. Astro's own error class is not
 * imported, as the command line also runs without Astro.
 */
export class UserError extends Error {
  readonly type = 'AstroUserError';
  readonly hint: string;
  /** `undefined` for a report, which shows the code of each failure. */
  readonly code: ErrorCode | undefined;
  /** The codes of all failures in a report, or the code of this one error. */
  readonly codes: readonly ErrorCode[];

  constructor(message: string, hint: string, codes: ErrorCode | readonly ErrorCode[]) {
    super(cleanLines(message));
    this.hint = cleanLines(hint);
    this.code = typeof codes === 'string' ? codes : undefined;
    this.codes = [codes].flat();
    this.name = this.code ? `astro-snippets/${this.code}` : 'astro-snippets';
    // The stack is left empty: it would only show lines of this package, not of the site.
    this.stack = '';
  }
}

/** @param hint replaces the hint of the error table where the caller knows more. */
export const userError = (
  code: ErrorCode,
  message: string,
  hint: string = errorTable[code].hint,
): UserError => new UserError(message, hint, code);
