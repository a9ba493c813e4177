import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

const command = join(import.meta.dirname, '../../dist/cli/main.js');

export interface RunningCommand {
  process: ChildProcess;
  /** What it wrote so far to its standard output and standard error, as they came. */
  output(): string;
  ended: Promise<{ exitCode: number | null; output: string }>;
}

/** Runs `astro-snippets` in a folder, as a user would: in a process of its own, with just this environment. */
export function startCommand(
  folder: string,
  arguments_: readonly string[],
  environment: Record<string, string>,
): RunningCommand {
  const child = spawn(process.execPath, [command, ...arguments_], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const ended = new Promise<{ exitCode: number | null; output: string }>((resolve) => {
    child.once('close', (exitCode) => resolve({ exitCode, output }));
  });
  return { process: child, output: () => output, ended };
}
