import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShownFile } from '../json-output.ts';
import type { Cli } from '../terminal/cli.ts';

/** `undefined` if it may be any file. */
export type ChangedFiles = readonly ShownFile[] | undefined;

const listVariables = { ASTRO_SNIPPETS_CHANGED_FILES: 'file', ASTRO_SNIPPETS_CHANGED_URLS: 'url' } as const;

/**
 * Runs a shell command with variables that name lists of the changed files and their URLs. Without lists, they are unset.
 *
 * @returns the exit status, as from a shell: 128 + n after a signal, 127 if it could not be started.
 */
export async function runWithLists(cli: Cli, command: string, changed: ChangedFiles): Promise<number> {
  // A name with a line break would be taken for two.
  const listed = changed?.every(({ file }) => !/[\r\n]/.test(file)) ? changed : undefined;
  const folder = listed && (await mkdtemp(join(tmpdir(), 'astro-snippets-')));
  const env = { ...cli.env };
  try {
    for (const [variable, kind] of Object.entries(listVariables)) {
      const list = folder && join(folder, `${kind}s.txt`);
      env[variable] = list;
      if (list) await writeFile(list, listed.map((one) => `${one[kind]}\n`).join(''));
    }
    return await runCommand({ ...cli, env }, command);
  } finally {
    if (folder) await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Waits as `npm run` does: Ctrl-C reaches the command by itself, and SIGTERM is passed on. Messages leave the command out,
 * since a shell may have expanded the key in it.
 */
async function runCommand(cli: Cli, command: string) {
  const { cwd, env, stdin = 'ignore', stdout, stderr, signals, terminal } = cli;
  terminal.clearStatus();
  const results = terminal.json ? stderr : stdout;
  let shell: ChildProcess | undefined;
  // Else Ctrl-C would end this process before the command.
  const ignore = () => {};
  const passOn = () => shell?.kill('SIGTERM');
  signals?.on('SIGINT', ignore);
  signals?.on('SIGTERM', passOn);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  try {
    const stdio: StdioOptions = [stdin, results.fd ?? 'pipe', stderr.fd ?? 'pipe'];
    shell = spawn(command, { shell: true, stdio, cwd, env });
    shell.stdout?.on('data', (text: Buffer) => results.write(text));
    shell.stderr?.on('data', (text: Buffer) => stderr.write(text));
    // Also emitted when a signal could not be sent.
    shell.on('error', (error) => shell?.pid === undefined && reject(error));
    shell.once('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    return await promise;
  } catch (error) {
    terminal.printError(`The shell could not be started: ${(error as NodeJS.ErrnoException).code}`);
    return 127;
  } finally {
    signals?.off('SIGINT', ignore);
    signals?.off('SIGTERM', passOn);
  }
}
