import type { Clock } from '../../client/clock.ts';
import { holderOf, waitForLock } from '../../record/lock.ts';
import { commandLockFile } from '../../record/record-paths.ts';
import { manifestPath } from '../project/open-project.ts';
import type { Cli } from '../terminal/cli.ts';

// The tokens of the locks of processes that wait for this one.
const heldLocks = 'ASTRO_SNIPPETS_LOCKS';

/**
 * Runs work while no other process runs a command for the same output: one could empty what the other deploys. With the
 * cli that it gets, a command may itself run such commands.
 */
export async function withCommandLock<T>(cli: Cli, work: (inner: Cli) => Promise<T>): Promise<T> {
  if (isInsideCommand(cli)) return work(cli);
  const lock = await waitForLock(commandLockFile(manifestPath(cli)), 'command', waitOptions(cli));
  const env = { ...cli.env, [heldLocks]: `${cli.env[heldLocks] ?? ''} ${lock.token}` };
  return work({ ...cli, env }).finally(() => lock.release());
}

/** Whether the process that holds the lock runs this one. */
export function isInsideCommand(cli: Cli): boolean {
  const token = holderOf(commandLockFile(manifestPath(cli)))?.token;
  return Boolean(token && cli.env[heldLocks]?.includes(token));
}

export const waitOptions = ({
  terminal,
  clock,
  signal,
}: Cli): {
  log: (text: string) => void;
  clock: Clock;
  signal: AbortSignal | undefined;
} => ({
  log: terminal.printError,
  clock,
  signal,
});
