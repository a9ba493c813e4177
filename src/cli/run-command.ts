import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { CliContext } from './context.ts';

export interface RunCommandOptions {
  /** Where the command's standard output goes: to our own by default. */
  stdout?: 'stdout' | 'stderr' | undefined;
  /** Variables that it gets besides ours; `undefined` for one that it must not get. */
  environment?: NodeJS.ProcessEnv;
}

const couldNotStart = 127;

/**
 * Runs a shell command where the command line runs, and waits for it, as `npm run` does: Ctrl-C reaches the command by
 * itself, and SIGTERM is passed on to it.
 *
 * @returns its exit status, as a shell would report it: 128 + n after a signal, 127 if it could not be started. Never
 * rejects. Messages leave the command out, since a shell may have expanded the API key in it.
 */
export function runCommand(
  context: CliContext,
  command: string,
  { stdout = 'stdout', environment }: RunCommandOptions = {},
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
