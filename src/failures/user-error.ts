import { cleanLines } from '../client/clean-text.ts';
import { type ErrorCode, errors } from './errors.ts';

/**
 * An error for people: Astro prints its name, message and hint, and the command line does too. Astro recognizes its errors
 * by `type`; its class is not imported, as the command line and the client work without Astro.
 */
export class UserError extends Error {
  readonly type = 'AstroUserError';
  readonly hint: string;
  /** `undefined` for a report on several failures, each of which shows its own code. */
  readonly code: ErrorCode | undefined;
  /** The code of each kind of failure, once. */
  readonly codes: readonly ErrorCode[];

  constructor(message: string, hint: string, codes: ErrorCode | readonly ErrorCode[]) {
    super(cleanLines(message));
    this.hint = cleanLines(hint);
    this.code = typeof codes === 'string' ? codes : undefined;
    this.codes = typeof codes === 'string' ? [codes] : codes;
    this.name = this.code === undefined ? 'astro-snippets' : `astro-snippets/${this.code}`;
    // It only says where in this package the error was created, which does not help the people who read it.
    this.stack = '';
  }
}

/**
 * Creates an error that Astro prints with its code in front and its hint below.
 *
 * @param hint what to do next, if the table of errors does not say it best.
 */
export function userError(code: ErrorCode, message: string, hint: string = errors[code].hint): UserError {
  return new UserError(message, hint, code);
}
