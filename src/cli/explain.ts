import { type ErrorCode, errors, isSnippetFailure, UserError } from '../failures/errors.ts';
import type { ErrorOutput } from './cli-output.ts';
import { exitCodes } from './output.ts';

/** An error as the command line reports it. */
export interface Explanation {
  /** The message, with the error's code. */
  message: string;
  hint: string | undefined;
  exitCode: number;
  /** The same for `--json`. */
  error: ErrorOutput['error'];
}

/** Every other error exits with `failed`. */
const exitCodeOf: Partial<Record<ErrorCode, number>> = {
  'missing-manifest': exitCodes.needsBuild,
  'missing-output': exitCodes.usage,
  'unusable-output': exitCodes.usage,
  // Thrown for the arguments of a command. In a report on several snippets, no single code decides.
  'invalid-id': exitCodes.usage,
  'invalid-params': exitCodes.usage,
};

/** Explains an error that ended a command. */
export function explain(error: unknown): Explanation {
  const { message } = error as Error;
  const { code, hint, codes } = isSnippetFailure(error)
    ? { code: error.code, hint: errors[error.code].hint, codes: [error.code] }
    : error instanceof UserError
      ? error
      : { code: undefined, hint: undefined, codes: ['unexpected'] };
  return {
    message: code === undefined ? message : `${message} [${code}]`,
    hint,
    exitCode: (code === undefined ? undefined : exitCodeOf[code]) ?? exitCodes.failed,
    error: { code: codes.length === 1 ? (codes[0] ?? '') : 'several', message, hint: hint || undefined },
  };
}
