import { type Progress, type ProgressPace, paced } from '../record/progress.ts';
import type { CliContext } from './context.ts';

/** On a terminal, one line is rewritten; anywhere else, a line is added. */
const paces = {
  terminal: { first: 2_000, every: 100 },
  lines: { first: 10_000, every: 10_000 },
} as const satisfies Record<string, ProgressPace>;

/** Says on standard error how far a command is, if that takes long; nothing with `--json`. */
export function openProgress(
  { terminal, clock }: Pick<CliContext, 'terminal' | 'clock'>,
  { json = false } = {},
): Progress {
  if (json) return () => {};
  return terminal.canShowStatus
    ? paced(paces.terminal, (line) => terminal.showStatus(line), clock.now)
    : paced(paces.lines, (line) => terminal.printError(line), clock.now);
}
