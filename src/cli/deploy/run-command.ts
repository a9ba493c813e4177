import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShownFile } from '../json-output.ts';
import type { Cli } from '../terminal/terminal.ts';

/** The files that have changed, as a command is told; `undefined` if any file may have. */
export type ChangedFiles = readonly ShownFile[] | undefined;

/** Variables with the path of a list, each with the property of changed files that is listed, one a line. */
const listVariables = { ASTRO_SNIPPETS_CHANGED_FILES: 'file', ASTRO_SNIPPETS_CHANGED_URLS: 'url' } as const;

/**
 * Runs a shell command, with variables that name lists of the changed files and of their URLs. The variables
 * are not set if any file may have changed.
 *
 * @returns the exit status, as from a shell: 128 + n after a signal, 127 if the shell could not be started
 */
export async function runWithLists(cli: Cli, command: string, changedFiles: ChangedFiles): Promise<number> {
  const env = { ...cli.env };
  // A name with a line break would be read as two names of a list.
  if (!changedFiles || changedFiles.some(({ file }) => /[\r\n]/.test(file))) {
    // If this process runs in such a command itself, the variables name lists of that command: unset them.
    for (const variable of Object.keys(listVariables)) env[variable] = undefined;
    return runCommand({ ...cli, env }, command);
  }

  const folder = await mkdtemp(join(tmpdir(), 'astro-snippets-'));
  try {
    for (const [variable, property] of Object.entries(listVariables)) {
      const list = join(folder, `${property}s.txt`);
      await writeFile(list, changedFiles.map((file) => `${file[property]}\n`).join(''));
      env[variable] = list;
    }
    return await runCommand({ ...cli, env }, command);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs a shell command and waits for its end, as `npm run` does: Ctrl-C reaches the command by itself, and
 * SIGTERM is passed on. Messages do not quote the command, since a shell may have expanded the key in it.
 */
async function runCommand(cli: Cli, command: string) {
  const { cwd, env, stdin = 'ignore', stdout, stderr, signals, terminal } = cli;
  terminal.clearProgress();
  // With `--json`, standard output is for JSON alone, so the command writes to standard error.
  const commandOutput = terminal.json ? stderr : stdout;
  let shell: ChildProcess | undefined;
  // A terminal sends Ctrl-C to both processes. Without a listener, it would end this one before the command.
  const ignoreInterrupt = () => {};
  const passOnTermination = () => shell?.kill('SIGTERM');
  signals?.on('SIGINT', ignoreInterrupt);
  signals?.on('SIGTERM', passOnTermination);

  const { promise: exitStatus, resolve, reject } = Promise.withResolvers<number>();
  try {
    const stdio: StdioOptions = [stdin, commandOutput.fd ?? 'pipe', stderr.fd ?? 'pipe'];
    shell = spawn(command, { shell: true, stdio, cwd, env });
    shell.stdout?.on('data', (text: Buffer) => commandOutput.write(text));
    shell.stderr?.on('data', (text: Buffer) => stderr.write(text));
    // If the shell has a pid, the error is only that a signal could not be sent, and the command still runs.
    shell.on('error', (error) => shell?.pid === undefined && reject(error));
    shell.once('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    return await exitStatus;
  } catch (error) {
    terminal.printError(`The shell could not be started: ${(error as NodeJS.ErrnoException).code}`);
    return 127;
  } finally {
    signals?.off('SIGINT', ignoreInterrupt);
    signals?.off('SIGTERM', passOnTermination);
  }
}
