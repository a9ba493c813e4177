import { type ChildProcess, spawn } from 'node:child_process';
import { cleanEnvironment } from './environment.ts';
import { snippetsCommand } from './installation.ts';

export interface RunningCommand {
  process: ChildProcess;
  /** What it has written to standard output and standard error so far, in order. */
  output(): string;
  /** What of it went to standard output. */
  stdout(): string;
  /** What of it went to standard error. */
  stderr(): string;
  ended: Promise<{ exitCode: number | null; output: string }>;
}

/**
 * Runs `astro-snippets` in a folder, as a user would: in a process of its own, with only this environment.
 *
 * @param options.isGroup whether it has a group of processes of its own, as a terminal gives to each command.
 */
export function startCommand(
  folder: string,
  arguments_: readonly string[],
  environment: Record<string, string>,
  { isGroup = false } = {},
): RunningCommand {
  const child = spawn(process.execPath, [snippetsCommand, ...arguments_], {
    cwd: folder,
    env: { ...cleanEnvironment(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: isGroup,
  });
  let output = '';
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output += text;
      texts[name] += text;
    });
  }
  const ended = new Promise<{ exitCode: number | null; output: string }>((resolve) => {
    child.once('close', (exitCode) => resolve({ exitCode, output }));
  });
  return {
    process: child,
    output: () => output,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    ended,
  };
}
