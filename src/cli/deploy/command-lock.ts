import { holderOf, type WaitOptions, waitForLock } from '../../record/lock.ts';
import { commandLockFile } from '../../record/record-paths.ts';
import type { Cli } from '../terminal/terminal.ts';

/** The variable with the tokens of locks whose holders run this process. Waiting for them would never end. */
const heldLocks = 'ASTRO_SNIPPETS_LOCKS';

/**
 * Does work that runs commands for an output while no other process does: one command could empty what
 * another deploys. Waits for the lock, so the record may be another one when the work begins.
 *
 * @param work gets a `cli` whose environment lets commands run such commands themselves
 */
export async function withCommandLock<T>(
  cli: Cli,
  recordFile: string,
  work: (inner: Cli) => Promise<T>,
): Promise<T> {
  if (isInsideCommand(cli, recordFile)) return work(cli);
  const lock = await waitForLock(commandLockFile(recordFile), 'command', waitOptions(cli));
  const env = { ...cli.env, [heldLocks]: `${cli.env[heldLocks] ?? ''} ${lock.token}` };
  return work({ ...cli, env }).finally(() => lock.release());
}

/** Whether this process was started by a command for the same output, directly or not. */
export function isInsideCommand({ env }: Pick<Cli, 'env'>, recordFile: string): boolean {
  const token = holderOf(commandLockFile(recordFile))?.token;
  return Boolean(token && env[heldLocks]?.includes(token));
}

/** How commands wait for a lock: they say so, and stop waiting when they are stopped. */
export function waitOptions({ terminal, clock, signal }: Cli): WaitOptions {
  return { log: terminal.printError, clock, signal };
}
