import { cleanLines } from '../client/clean-text.ts';
import { type ErrorCode, errors } from './errors.ts';

/** An error for people: Astro prints its message and hint, and the command line does too. */
export interface UserError extends Error {
  hint: string | undefined;
  /** Of a report on several failures: the code of each kind of failure, once. */
  codes?: readonly ErrorCode[];
}

/**
 * Creates an error that Astro prints with its code in front and its hint below.
 *
 * @param hint what to do next, if the table of errors does not say it best.
 */
export function userError(
  code: Exclude<ErrorCode, 'aborted' | 'closed'>,
  message: string,
  hint: string = errors[code].hint,
): UserError {
  return createError(`astro-snippets/${code}`, cleanLines(message), cleanLines(hint));
}

/** Creates the error for a report on several failures, each of which shows its own code. */
export function reportError(message: string, hint: string, codes: readonly ErrorCode[] = []): UserError {
  return Object.assign(createError('astro-snippets', cleanLines(message), cleanLines(hint)), { codes });
}

/**
 * Astro recognizes its errors by `type`. Its class is not imported: the command line and the client work without Astro.
 * The stack only says where in this package the error was created, which does not help the people who read it.
 */
function createError(name: string, message: string, hint: string): UserError {
  return Object.assign(new Error(message), { name, hint, type: 'AstroUserError', stack: '' });
}
