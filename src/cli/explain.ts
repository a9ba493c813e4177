import { type ErrorCode, isSnippetFailure, UserError, userError } from '../failures/errors.ts';
import type { ErrorOutput } from './cli-output.ts';
import { exitCodes } from './output.ts';

/** An error as the command line reports it: for people, with its code and its hint, and for `--json`. */
interface Explanation extends Pick<ErrorOutput, 'exitStatus' | 'error'> {
  text: string;
}

/** Every other error exits with `failed`. */
const exitStatusOf: Partial<Record<ErrorCode, number>> = {
  'missing-manifest': exitCodes.needsBuild,
  'missing-output': exitCodes.usage,
  'unusable-output': exitCodes.usage,
  // Thrown for the arguments of a command. In a report on several snippets, no single code decides.
  'invalid-id': exitCodes.usage,
  'invalid-params': exitCodes.usage,
};

/** Explains an error that ended a command. */
export function explain(thrown: unknown): Explanation {
  const { message } = thrown as Error;
  const error = isSnippetFailure(thrown) ? userError(thrown.code, message) : thrown;
  const known: Partial<UserError> = error instanceof UserError ? error : {};
  // A report shows the code of each failure itself.
  const { code, hint, codes: [kind, ...others] = ['unexpected'] } = known;
  const shown = code === undefined ? message : `${message} [${code}]`;
  return {
    text: hint === undefined ? shown : `${shown}\n\n${hint}`,
    exitStatus: (code && exitStatusOf[code]) ?? exitCodes.failed,
    error: { code: others.length === 0 ? `${kind}` : 'several', message, hint: hint || undefined },
  };
}
