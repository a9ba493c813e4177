import { type ErrorCode, errors, isSnippetFailure } from '../failures/errors.ts';
import type { UserError } from '../failures/user-error.ts';
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
  const code = codeOf(error);
  const { message } = error as Error;
  const hint = isSnippetFailure(error) ? errors[error.code].hint : (error as UserError).hint;
  return {
    message: code === undefined ? message : `${message} [${code}]`,
    hint,
    exitCode: (code === undefined ? undefined : exitCodeOf[code]) ?? exitCodes.failed,
    error: { code: code ?? codeOfReport(error as UserError), message, hint: hint || undefined },
  };
}

function codeOfReport({ codes }: UserError): string {
  if (codes === undefined) return 'unexpected';
  const [only, ...others] = codes;
  return only === undefined || others.length > 0 ? 'several' : only;
}

function codeOf(error: unknown): ErrorCode | undefined {
  if (isSnippetFailure(error)) return error.code;
  const [, code] = /^astro-snippets\/(.+)$/.exec((error as Error).name) ?? [];
  return code as ErrorCode | undefined;
}
