import { commandLockFile } from '../record/manifest-file.ts';
import { holderOf, type WaitOptions, waitForLock } from '../record/output-lock.ts';
import type { CliContext } from './context.ts';
import { manifestPath, type ProjectOptions } from './project.ts';

/** The variable that names the tokens of the locks that the processes above this one hold, which wait for this one. */
const inherited = 'ASTRO_SNIPPETS_LOCKS';

/**
 * Runs work that runs a command, while no other process does so for the same output: one of two at once would empty the
 * folder that the other one deploys. The command may itself run such commands, and builds.
 *
 * @param work called with the context for that command. What it is for may have been done by another process meanwhile.
 */
export async function whileAlone<T>(
  context: CliContext,
  project: ProjectOptions,
  work: (inner: CliContext) => Promise<T>,
): Promise<T> {
  const file = commandLockFile(manifestPath(context, project));
  const tokens = (context.env[inherited] ?? '').split(' ').filter(Boolean);
  const holder = holderOf(file);
  // It is running this very process.
  if (holder !== undefined && tokens.includes(holder.token)) return work(context);
  const lock = await waitForLock(file, 'command', waiting(context));
  const env = { ...context.env, [inherited]: [...tokens, lock.token].join(' ') };
  try {
    return await work({ ...context, env });
  } finally {
    lock.release();
  }
}

/** Whether such work is under way. */
export function isCommandRunning(record: string): boolean {
  return holderOf(commandLockFile(record)) !== undefined;
}

/** How a command waits for a lock: it says for whom. */
export function waiting({ terminal, clock, signal }: CliContext): WaitOptions {
  return { log: (line) => terminal.printError(line), clock, signal };
}
