import { fileLock, type WaitOptions, waitForLock } from '../../record/lock.ts';
import { holderOf } from '../../record/lock-holder.ts';
import { commandLockFile } from '../../record/record-paths.ts';
import type { Cli } from '../terminal/terminal.ts';

/** The variable with the tokens of locks whose holders started this process: it must not wait for those. */
const heldLocks = 'ASTRO_SNIPPETS_LOCKS';

/**
 * Does work that runs commands for an output while no other process does: one command could empty what
 * another deploys. Waits for the lock, so read the record in `work`: it may have changed meanwhile.
 *
 * @param work gets a `cli` whose environment lets the commands that it runs pass this lock
 */
export async function withCommandLock<T>(
  cli: Cli,
  recordFile: string,
  work: (inner: Cli) => Promise<T>,
): Promise<T> {
  if (isInsideCommand(cli, recordFile)) return work(cli);
  const lock = await waitForLock(fileLock(commandLockFile(recordFile)), 'command', waitOptions(cli));
  const env = { ...cli.env, [heldLocks]: `${cli.env[heldLocks] ?? ''} ${lock.token}` };
  return work({ ...cli, env }).finally(() => lock.release());
}

/** Whether this process was started by a command for the same output, directly or not. */
export function isInsideCommand({ env }: Pick<Cli, 'env'>, recordFile: string): boolean {
  const token = holderOf(commandLockFile(recordFile))?.token;
  return Boolean(token && env[heldLocks]?.includes(token));
}

/** How commands wait for a lock: they print that they wait, and stop waiting when `signal` is aborted. */
export function waitOptions({ terminal, clock, signal }: Cli): WaitOptions {
  return { log: terminal.printError, clock, signal };
}
