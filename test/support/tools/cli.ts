import { EventEmitter } from 'node:events';
import type { Command } from 'commander';
import { onTestFinished } from 'vitest';
import { createProgram, runCli } from '../../../src/cli/program.ts';
import { type Cli, type CliHost, type OutputStream, Terminal } from '../../../src/cli/terminal/terminal.ts';
import { type Clock, systemClock } from '../../../src/client/clock.ts';
import { cleanEnvironment } from './environment.ts';

/** The parts of a command's host that a test can change. */
export interface CliOptions {
  clock?: Clock;
  /** More about standard output and standard error, for instance that they are a terminal. */
  stream?: Partial<OutputStream>;
}

/** The output of a command. */
interface Written {
  /** Standard output and standard error so far, in order. */
  output(): string;
  stdout(): string;
  stderr(): string;
}

/** A command that runs in this process. */
export interface RunningCli extends Written {
  /** Acts as if the process had received a signal. */
  kill(signal: 'SIGINT' | 'SIGTERM'): void;
  ended: Promise<CliResult>;
}

/** A command that has ended. */
export interface CliResult {
  exitCode: number;
  /** Standard output and standard error, in order. */
  output: string;
  stdout: string;
  stderr: string;
}

/** Runs `astro-snippets` in this process, from the source, with only this environment. */
export function startCli(
  folder: string,
  arguments_: readonly string[],
  environment: Record<string, string> = {},
  options: CliOptions = {},
): RunningCli {
  const signals = new EventEmitter();
  const { host, output, stdout, stderr } = testHost(folder, environment, options);
  const ended = runCli(arguments_, { ...host, signals }).then((exitCode) => ({
    exitCode,
    output: output(),
    stdout: stdout(),
    stderr: stderr(),
  }));
  return { output, stdout, stderr, ended, kill: (signal) => void signals.emit(signal, signal) };
}

/** Runs a `watch`, which is stopped when the running test ends. */
export function startWatch(...parameters: Parameters<typeof startCli>): RunningCli {
  const watching = startCli(...parameters);
  onTestFinished(async () => {
    watching.kill('SIGTERM');
    await watching.ended;
  });
  return watching;
}

/** Runs a command until it ends. */
export function cli(...parameters: Parameters<typeof startCli>): Promise<CliResult> {
  return startCli(...parameters).ended;
}

/** The context for a command from the source, and what the command has written. */
export function testContext(...parameters: Parameters<typeof testHost>): Written & { context: Cli } {
  const { host, ...written } = testHost(...parameters);
  return { ...written, context: { ...host, terminal: new Terminal(host) } };
}

/** The program of the command line, to look at and not to run. */
export function testProgram(): Command {
  return createProgram(testContext('.').context);
}

function testHost(
  folder: string,
  environment: Record<string, string> = {},
  { clock = systemClock, stream = {} }: CliOptions = {},
): Written & { host: CliHost } {
  const written: { name: 'stdout' | 'stderr'; text: Uint8Array }[] = [];
  const textOf = (...names: string[]) => {
    const chosen = written.filter(({ name }) => names.includes(name));
    return Buffer.concat(chosen.map(({ text }) => text)).toString();
  };
  const streamOf = (name: 'stdout' | 'stderr'): OutputStream => ({
    ...stream,
    write: (text) => written.push({ name, text: typeof text === 'string' ? Buffer.from(text) : text }),
  });
  return {
    host: {
      cwd: folder,
      env: { ...cleanEnvironment(), ...environment },
      stdout: streamOf('stdout'),
      stderr: streamOf('stderr'),
      clock,
    },
    output: () => textOf('stdout', 'stderr'),
    stdout: () => textOf('stdout'),
    stderr: () => textOf('stderr'),
  };
}
