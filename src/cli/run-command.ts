import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShownFile } from './cli-output.ts';
import type { CliContext } from './context.ts';

/** The files of the output that a command is about; `undefined` if that is not known, so that it may be any. */
export type ChangedFiles = readonly ShownFile[] | undefined;

/** The variables that name the lists of files and of their URLs. Documented: commands read them. */
const listVariables = {
  files: 'ASTRO_SNIPPETS_CHANGED_FILES',
  urls: 'ASTRO_SNIPPETS_CHANGED_URLS',
} as const;

/**
 * Runs a shell command that finds the changed files and their URLs in two lists. If they are not known, the variables are
 * not set, also if this process has inherited them from such a command.
 *
 * @param json whether standard output is for JSON alone: the command writes to standard error then.
 * @returns its exit status, as a shell would report it: 128 + n after a signal, 127 if it could not be started. Messages
 * leave the command out, since a shell may have expanded the API key in it.
 * @throws if the lists cannot be written. The command was not run then.
 */
export async function runWithLists(
  context: CliContext,
  command: string,
  changed: ChangedFiles,
  { json = false }: { json?: boolean | undefined } = {},
): Promise<number> {
  const { files, urls } = listVariables;
  const stdout = json ? 'stderr' : 'stdout';
  // A name with a line break would be taken for two.
  if (changed === undefined || changed.some(({ file }) => /[\r\n]/.test(file))) {
    return runCommand(context, command, stdout, { [files]: undefined, [urls]: undefined });
  }
  const folder = await mkdtemp(join(tmpdir(), 'astro-snippets-'));
  try {
    const lists = { [files]: join(folder, 'files.txt'), [urls]: join(folder, 'urls.txt') };
    await writeFile(lists[files] ?? '', changed.map(({ file }) => `${file}\n`).join(''));
    await writeFile(lists[urls] ?? '', changed.map(({ url }) => `${url}\n`).join(''));
    return await runCommand(context, command, stdout, lists);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const couldNotStart = 127;

/**
 * Runs a shell command where the command line runs, and waits for it, as `npm run` does: Ctrl-C reaches the command by
 * itself, and SIGTERM is passed on to it. Never rejects.
 */
function runCommand(
  context: CliContext,
  command: string,
  stdout: 'stdout' | 'stderr',
  environment: NodeJS.ProcessEnv,
): Promise<number> {
  const { cwd, env, stdin = 'ignore', stderr, signals, terminal } = context;
  terminal.clearStatus();
  return new Promise((resolve) => {
    // Without a handler, Ctrl-C would end this process before the command, and its status would be lost.
    const ignore = () => {};
    const passOn = () => child?.kill('SIGTERM');
    signals?.on('SIGINT', ignore);
    signals?.on('SIGTERM', passOn);
    const settle = (status: number) => {
      signals?.off('SIGINT', ignore);
      signals?.off('SIGTERM', passOn);
      resolve(status);
    };
    const fail = ({ code }: NodeJS.ErrnoException) => {
      terminal.printError(`The shell could not be started: ${code}`);
      settle(couldNotStart);
    };
    let child: ChildProcess | undefined;
    try {
      const outputs = [context[stdout], stderr];
      child = spawn(command, {
        shell: true,
        stdio: [stdin, ...outputs.map(({ fd }) => fd ?? 'pipe')],
        cwd,
        env: { ...env, ...environment },
      });
      for (const [index, from] of [child.stdout, child.stderr].entries()) {
        from?.on('data', (text: Buffer) => outputs[index]?.write(text));
      }
    } catch (error) {
      return fail(error as NodeJS.ErrnoException);
    }
    // Also emitted when a signal could not be sent.
    child.once('error', (error) => child?.pid === undefined && fail(error));
    child.once('close', (status, signal) => {
      settle(status ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}
