import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLockFile, holderOf, type WaitOptions, waitForLock } from '../record/output-lock.ts';
import type { ShownFile } from './cli-output.ts';
import { manifestPath } from './project.ts';
import type { CliContext } from './terminal.ts';

/** `undefined` if that is not known, so that it may be any file of the output. */
export type ChangedFiles = readonly ShownFile[] | undefined;

/**
 * Runs a shell command that finds the changed files and their URLs in two lists. If they are not known, the variables are
 * not set, also if this process has inherited them from such a command.
 *
 * @returns its exit status, as a shell would report it: 128 + n after a signal, 127 if it could not be started.
 */
export async function runWithLists(context: CliContext, command: string, changed: ChangedFiles) {
  const lists = { ASTRO_SNIPPETS_CHANGED_FILES: undefined, ASTRO_SNIPPETS_CHANGED_URLS: undefined };
  const env: NodeJS.ProcessEnv = { ...context.env, ...lists };
  const run = () => runCommand({ ...context, env }, command);
  // A name with a line break would be taken for two.
  if (changed === undefined || changed.some(({ file }) => /[\r\n]/.test(file))) return run();
  const folder = await mkdtemp(join(tmpdir(), 'astro-snippets-'));
  try {
    for (const kind of ['file', 'url'] as const) {
      const list = join(folder, `${kind}s.txt`);
      await writeFile(list, changed.map((one) => `${one[kind]}\n`).join(''));
      env[`ASTRO_SNIPPETS_CHANGED_${kind.toUpperCase()}S`] = list;
    }
    return await run();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs a shell command where the command line runs, and waits for it, as `npm run` does: Ctrl-C reaches the command by
 * itself, and SIGTERM is passed on to it. Messages leave the command out, since a shell may have expanded the key in it.
 */
async function runCommand(context: CliContext, command: string): Promise<number> {
  const { cwd, env, stdin = 'ignore', stdout, stderr, signals, terminal } = context;
  terminal.clearStatus();
  const results = terminal.json ? stderr : stdout;
  // Without a handler, Ctrl-C would end this process before the command, and its status would be lost.
  const ignore = () => {};
  const passOn = () => shell?.kill('SIGTERM');
  let shell: ChildProcess | undefined;
  signals?.on('SIGINT', ignore);
  signals?.on('SIGTERM', passOn);
  try {
    const stdio: StdioOptions = [stdin, results.fd ?? 'pipe', stderr.fd ?? 'pipe'];
    shell = spawn(command, { shell: true, stdio, cwd, env });
    shell.stdout?.on('data', (text: Buffer) => results.write(text));
    shell.stderr?.on('data', (text: Buffer) => stderr.write(text));
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    // Also emitted when a signal could not be sent.
    shell.on('error', (error) => shell?.pid === undefined && reject(error));
    shell.once('close', (status, signal) =>
      resolve(status ?? 128 + (signal ? constants.signals[signal] : 0)),
    );
    return await promise;
  } catch (error) {
    terminal.printError(`The shell could not be started: ${(error as NodeJS.ErrnoException).code}`);
    return 127;
  } finally {
    signals?.off('SIGINT', ignore);
    signals?.off('SIGTERM', passOn);
  }
}

// The tokens of the locks that the processes above this one hold, which wait for this one.
const heldLocks = 'ASTRO_SNIPPETS_LOCKS';

/**
 * Runs work that may run a command, while no other process does so for the same output: one of two at once would empty the
 * folder that the other one deploys. The command gets the context that the work is called with, so that it may itself run
 * such commands, and builds.
 */
export async function whileAlone<T>(context: CliContext, work: (inner: CliContext) => Promise<T>) {
  if (isInside(context)) return work(context);
  const lock = await waitForLock(commandLockFile(manifestPath(context)), 'command', waiting(context));
  const env = { ...context.env, [heldLocks]: `${context.env[heldLocks] ?? ''} ${lock.token}` };
  return work({ ...context, env }).finally(() => lock.release());
}

/** Whether the command of another process runs this one, and waits for it. */
export function isInside(context: CliContext): boolean {
  const token = holderOf(commandLockFile(manifestPath(context)))?.token;
  return Boolean(token && context.env[heldLocks]?.includes(token));
}

/** How a command waits for a lock: it says for whom. */
export function waiting({ terminal, clock, signal }: CliContext): WaitOptions {
  return { log: (line) => terminal.printError(line), clock, signal };
}
