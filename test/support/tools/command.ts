import { type ChildProcess, spawn } from 'node:child_process';
import { snippetsCommand } from '../site/installation.ts';
import { cleanEnvironment } from './environment.ts';

/** A command that runs in its own process. */
export interface RunningCommand {
  process: ChildProcess;
  /** Standard output and standard error so far, in order. */
  output(): string;
  stdout(): string;
  stderr(): string;
  ended: Promise<{ exitCode: number | null; signal: NodeJS.Signals | null; output: string }>;
}

/**
 * Runs a command in a folder, in its own process.
 *
 * @param options.isGroup whether the process gets its own group, as a command in a terminal does.
 */
export function startProcess(
  command: string,
  arguments_: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  { isGroup = false } = {},
): RunningCommand {
  const child = spawn(command, arguments_, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: isGroup,
  });
  const texts = { output: '', stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts.output += text;
      texts[name] += text;
    });
  }
  const ended: RunningCommand['ended'] = new Promise((resolve) => {
    child.once('close', (exitCode, signal) => resolve({ exitCode, signal, output: texts.output }));
  });
  return {
    process: child,
    output: () => texts.output,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    ended,
  };
}

/** Runs a Node program in a folder, in its own process. */
export function startProgram(
  file: string,
  folder: string,
  arguments_: readonly string[],
  env: NodeJS.ProcessEnv,
  options?: { isGroup?: boolean },
): RunningCommand {
  return startProcess(process.execPath, [file, ...arguments_], folder, env, options);
}

/** Runs `astro-snippets` in a folder, as a user would, with only this environment. */
export function startCommand(
  folder: string,
  arguments_: readonly string[],
  environment: Record<string, string>,
  options?: { isGroup?: boolean },
): RunningCommand {
  return startProgram(
    snippetsCommand,
    folder,
    arguments_,
    { ...cleanEnvironment(), ...environment },
    options,
  );
}
