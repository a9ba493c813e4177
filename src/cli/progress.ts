import { type Progress, type ProgressPace, paced } from '../progress.ts';
import { printError, showStatus } from './output.ts';

/** On a terminal, one line is rewritten; anywhere else, a line is added. */
const paces = {
  terminal: { first: 2_000, every: 100 },
  lines: { first: 10_000, every: 10_000 },
} as const satisfies Record<string, ProgressPace>;

/**
 * Says on standard error how far a command is, if that takes long; nothing with `--json`.
 *
 * @param now in milliseconds.
 */
export function openProgress({ json = false, now }: { json?: boolean; now?: () => number } = {}): Progress {
  if (json) return () => {};
  const isTerminal = process.stderr.isTTY && process.env['TERM'] !== 'dumb';
  return isTerminal ? paced(paces.terminal, showStatus, now) : paced(paces.lines, printError, now);
}
