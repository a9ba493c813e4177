import { resolve } from 'node:path';
import { outDirOf } from '../record/manifest.ts';
import { commandLockFile, lockFile, possibleLockFiles } from '../record/manifest-file.ts';
import { holderOf, type WaitOptions, waitForLock, waitUntilFree } from '../record/output-lock.ts';
import type { CliContext } from './context.ts';
import { findManifest, manifestPath, type ProjectOptions } from './project.ts';

/** The variable that names the tokens of the locks that the processes above this one hold, which wait for this one. */
const inherited = 'ASTRO_SNIPPETS_LOCKS';

/**
 * Runs work that runs a command, while no other process does so for the same output: one of two at once would empty the
 * folder that the other one deploys. The command may itself run such commands, and builds.
 *
 * @param work called with the context for that command, and with whether another process had to end first: what it was
 * for may have been done there.
 */
export async function whileAlone<T>(
  context: CliContext,
  project: ProjectOptions,
  work: (inner: CliContext, hasWaited: boolean) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const file = await manifestPath(context, project);
  const tokens = (context.env[inherited] ?? '').split(' ').filter(Boolean);
  let hasWaited = false;
  const options = waiting(context, signal, () => {
    hasWaited = true;
  });
  // The place of the lock depends on the record, and the first build is what leaves it.
  for (const lock of possibleLockFiles(file).map(commandLockFile)) {
    const holder = holderOf(lock);
    // It is running this very process.
    if (holder !== undefined && tokens.includes(holder.token)) return work(context, false);
    await waitUntilFree(lock, options);
  }
  const manifest = await findManifest(context, project);
  const outDir =
    manifest === undefined ? resolve(context.cwd, project.output ?? 'dist') : outDirOf(file, manifest);
  const lock = await waitForLock(commandLockFile(lockFile(file, outDir)), 'command', options);
  const env = { ...context.env, [inherited]: [...tokens, lock.token].join(' ') };
  try {
    return await work({ ...context, env }, hasWaited);
  } finally {
    lock.release();
  }
}

/** Whether such work is under way. */
export function isCommandRunning(record: string): boolean {
  return possibleLockFiles(record).some((lock) => holderOf(commandLockFile(lock)) !== undefined);
}

/** How a command waits for a lock: it says once for whom. */
export function waiting(
  { terminal, clock }: CliContext,
  signal: AbortSignal | undefined,
  onWait = () => {},
): WaitOptions {
  return {
    log(line) {
      onWait();
      terminal.printError(line);
    },
    clock,
    signal,
  };
}
