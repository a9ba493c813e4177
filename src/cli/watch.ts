import { spawn } from 'node:child_process';
import { systemClock } from '../client/clock.ts';
import { interruptible } from '../interruption.ts';
import { poll } from '../publish/poll.ts';
import { WatchedSite } from '../publish/watched-site.ts';
import { bringUpToDate } from './bring-up-to-date.ts';
import { print } from './print.ts';
import { openProject, type ProjectOptions } from './project.ts';

export interface WatchOptions {
  /** In milliseconds. */
  every: number;
  exec?: string;
  skipModified?: boolean;
}

/** `astro-snippets watch`: keeps the built site up to date until it is stopped. */
export async function watch(
  project: ProjectOptions,
  { every, exec, ...options }: WatchOptions,
): Promise<void> {
  // Before the first turn, so that a site that was not built is an error and no trouble that passes.
  await openProject(project);
  print(`Asking every ${every / 1000} s, until Ctrl-C.`);
  await interruptible(async (signal) => {
    const site = new WatchedSite({
      refresh: () => bringUpToDate(project, options, signal),
      deploy: () => (exec === undefined ? Promise.resolve(true) : run(exec)),
      say: (line) => {
        if (!signal.aborted) print(line);
      },
    });
    await poll(every, () => site.turn(), systemClock, signal);
  });
}

/** Runs a command of the user's, as `npm run` would. One that is running when the watch is stopped is waited for. */
function run(command: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, { shell: true, stdio: 'inherit' });
    child.once('error', ({ message }) => {
      print(`${command} could not be run: ${message}`);
      resolve(false);
    });
    child.once('close', (status, signal) => {
      if (status !== 0)
        print(`${command} ended with ${signal ?? status}. It is run again with the next turn.`);
      resolve(status === 0);
    });
  });
}
