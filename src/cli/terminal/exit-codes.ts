import { CommanderError } from 'commander';
import { isSnippetFailure, UserError, userError } from '../../failures/errors.ts';
import type { ErrorOutput } from '../json-output.ts';

/** The exit statuses of all commands. */
export const exitCodes = {
  ok: 0,
  /** `check` found a change. */
  changed: 10,
  /** The site needs a build: no usable record, or a refresh is not enough (refresh/needs-build.ts). */
  needsBuild: 3,
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
} as const;

/** How a command ends that has thrown an error: what it prints, and its exit status. */
export interface FailureResult {
  /** The message for people, with its code and hint; empty if Commander has printed it already. */
  text: string;
  exitStatus: number;
  /** The error for `--json`. */
  error: ErrorOutput['error'];
}

/** Error codes of wrong arguments. A command that fails with one exits with the status for wrong usage. */
const usageErrors: unknown[] = ['missing-output', 'unusable-output', 'invalid-id', 'invalid-params'];

/** Says why a command ended, for people and for `--json`, and with which exit status. */
export function toFailureResult(thrown: unknown): FailureResult {
  const { message } = thrown as Error;
  if (thrown instanceof CommanderError) {
    // Commander also throws after it has printed a help text or the version. Its exit code is 0 then.
    const exitStatus = thrown.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    return { text: '', exitStatus, error: { code: 'usage', message } };
  }

  const error = isSnippetFailure(thrown) ? userError(thrown.code, message) : thrown;
  const { code, hint, codes = [] }: Partial<UserError> = error instanceof UserError ? error : {};
  // A report on several snippets has no code of its own: its message shows the code of each failure.
  const messageWithCode = code ? `${message} [${code}]` : message;
  return {
    text: hint === undefined ? messageWithCode : `${messageWithCode}\n\n${hint}`,
    exitStatus: exitStatusOf(code),
    error: { code: codes.length > 1 ? 'several' : (codes[0] ?? 'unexpected'), message, hint },
  };
}

/** `missing-manifest`, also thrown if the pack (the generated pages) is missing, alone asks for a build. */
function exitStatusOf(code: UserError['code']) {
  if (code === 'missing-manifest') return exitCodes.needsBuild;
  return usageErrors.includes(code) ? exitCodes.usage : exitCodes.failed;
}
