import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanJson } from '../../text/clean-text.ts';
import type { ShownFile, Warning } from '../json-output.ts';
import type { Cli } from '../terminal/terminal.ts';

/** The files that have changed, as a command is told; `undefined` if any file may have. */
export type ChangedFiles = readonly ShownFile[] | undefined;

/** What a command is told. */
export interface CommandFacts {
  files: ChangedFiles;
  /** What is wrong with the snippets on these files, or on any file. */
  warnings: readonly Warning[];
}

/** The variable with the path of a JSON file: an array of warnings. */
const warningsVariable = 'ASTRO_SNIPPETS_WARNINGS';

/** Variables with the path of a list, each with the property of changed files that is listed, one a line. */
const listVariables = { ASTRO_SNIPPETS_CHANGED_FILES: 'file', ASTRO_SNIPPETS_CHANGED_URLS: 'url' } as const;

/**
 * Runs a shell command, with variables that name lists of the changed files and of their URLs, and a file with
 * warnings. The lists are not set if any file may have changed.
 *
 * @param facts absent for a command that is told nothing, such as a build
 * @returns the exit status, as from a shell: 128 + n after a signal, 127 if the shell could not be started
 */
export async function runWithLists(cli: Cli, command: string, facts?: CommandFacts): Promise<number> {
  const env = { ...cli.env };
  // If this process runs in such a command itself, the variables name files of that command: unset them.
  for (const variable of [warningsVariable, ...Object.keys(listVariables)]) env[variable] = undefined;
  if (!facts) return runCommand({ ...cli, env }, command);

  const { files, warnings } = facts;
  const folder = await mkdtemp(join(tmpdir(), 'astro-snippets-'));
  const write = async (variable: string, name: string, text: string) => {
    const file = join(folder, name);
    await writeFile(file, text);
    env[variable] = file;
  };
  try {
    await write(warningsVariable, 'warnings.json', `${cleanJson(warnings)}\n`);
    // A name with a line break would be read as two names of a list.
    const isListable = files?.every(({ file }) => !/[\r\n]/.test(file));
    for (const [variable, property] of isListable ? Object.entries(listVariables) : []) {
      const lines = files?.map((file) => `${file[property]}\n`) ?? [];
      await write(variable, `${property}s.txt`, lines.join(''));
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
