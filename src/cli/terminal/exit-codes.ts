import { CommanderError } from 'commander';
import { isSnippetFailure, UserError, userError } from '../../failures/errors.ts';
import type { Document } from '../json-output.ts';

export const exitCodes = {
  ok: 0,
  changed: 10,
  /** There is no usable record, or a refresh cannot update everything. */
  needsBuild: 3,
  failed: 1,
  usage: 2,
} as const;

// About arguments: a report on several snippets has no single code.
const usageErrors: unknown[] = ['missing-output', 'unusable-output', 'invalid-id', 'invalid-params'];

/** Why a command ended, for people and for `--json`. */
export function toFailureResult(thrown: unknown):
  | {
      text: string;
      exitStatus: 0 | 2;
      error: {
        code: string;
        message: string;
        hint?: never;
      };
    }
  | {
      text: string;
      exitStatus: 1 | 2 | 3;
      error: {
        code: string;
        message: string;
        hint: string | undefined;
      };
    } {
  const { message } = thrown as Error;
  if (thrown instanceof CommanderError) {
    const exitStatus = thrown.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    // Commander has printed it, or a help text.
    return { text: '', exitStatus, error: { code: 'usage', message } };
  }
  const error = isSnippetFailure(thrown) ? userError(thrown.code, message) : thrown;
  const known: Partial<UserError> = error instanceof UserError ? error : {};
  // A report shows the code of each failure itself.
  const { code, hint, codes: [kind = 'unexpected', ...others] = [] } = known;
  const shown = code ? `${message} [${code}]` : message;
  const status = usageErrors.includes(code) ? exitCodes.usage : exitCodes.failed;
  return {
    text: hint === undefined ? shown : `${shown}\n\n${hint}`,
    exitStatus: code === 'missing-manifest' ? exitCodes.needsBuild : status,
    error: { code: others[0] ? 'several' : kind, message, hint },
  };
}

export type Result<Output extends Document> = Omit<Output, 'version' | 'command'>;
