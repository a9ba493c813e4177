import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { print } from './output.ts';

/**
 * Runs a shell command, as `npm run` does.
 *
 * @returns its exit status: as a shell's, 128 and the signal's number if a signal ended it.
 */
export function runCommand(command: string): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(command, { shell: true, stdio: 'inherit' });
    child.once('error', ({ message }) => {
      print(`${command} could not be started: ${message}`);
      resolve(127);
    });
    child.once('close', (status, signal) =>
      resolve(status ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    );
  });
}
