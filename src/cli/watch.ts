import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { type Clock, systemClock } from '../client/clock.ts';
import type { UserError } from '../failures/user-error.ts';
import type { PageToBuild } from '../record/refresh.ts';
import { print } from './output.ts';
import { openProject, type ProjectOptions } from './project.ts';
import { failureOf as afterFailure, type RefreshResult, updateSite } from './refresh.ts';

export interface WatchOptions {
  /** In milliseconds. */
  every: number;
  exec?: string;
  skipModified?: boolean;
  after?: string;
}

/** `astro-snippets watch`: keeps the built site up to date until it is stopped. */
export async function watch(
  project: ProjectOptions,
  { every, exec, ...options }: WatchOptions,
): Promise<void> {
  // Checked once in advance: a site that was not built is an error, not a problem that may pass.
  await openProject(project);
  await untilInterrupted(async (signal) => {
    // Not before signals are handled, since a caller may stop the command as soon as it says so.
    print(`Checking every ${every / 1000} s. Press Ctrl-C to stop.`);
    const site = new WatchedSite({
      update: () => updateSite(project, options, signal),
      deploy: () => (exec === undefined ? Promise.resolve(true) : run(exec)),
      log: (line) => {
        if (!signal.aborted) print(line);
      },
    });
    await poll(every, () => site.update(), systemClock, signal);
  });
}

export interface WatchedSiteOptions {
  /** Updates the site as far as possible without a build. @throws if the service is in trouble. */
  update(): Promise<RefreshResult>;
  /** Called after pages were written. @returns whether it succeeded. */
  deploy(): Promise<boolean>;
  log(line: string): void;
}

/**
 * A site that is kept up to date. Each set of changes is deployed once. If the command fails, it is run again with the
 * next update, even without changes: the pages are written, and nothing else would deploy them.
 */
export class WatchedSite {
  readonly #options: WatchedSiteOptions;
  #trouble: string | undefined;
  #toBuild = '';
  #needsDeploy = false;

  constructor(options: WatchedSiteOptions) {
    this.#options = options;
  }

  async update(): Promise<void> {
    const { update, deploy, log } = this.#options;
    try {
      const { written, toBuild, after } = await update();
      if (this.#trouble !== undefined) log('The check succeeded again.');
      this.#trouble = undefined;
      for (const name of written) log(`${name} is up to date`);
      this.#logToBuild(toBuild);
      // The command may be that of an earlier update, whose pages were not deployed without it.
      this.#needsDeploy ||= written.length > 0 || after !== undefined;
      const failure = after === undefined ? undefined : afterFailure(after);
      if (failure !== undefined) {
        log(failure);
        return;
      }
    } catch (error) {
      this.#logTrouble(error as UserError);
      return;
    }
    if (this.#needsDeploy) this.#needsDeploy = !(await deploy());
  }

  #logToBuild(pages: readonly PageToBuild[]): void {
    const lines = pages.map(({ name, reason }) => `${name} ${reason}`).join('\n');
    if (lines !== '' && lines !== this.#toBuild)
      this.#options.log(`${lines}\nBuild the site to update these pages.`);
    this.#toBuild = lines;
  }

  /** Logged once per kind of trouble. The hint tells kinds apart, since details such as attempts change each time. */
  #logTrouble({ message, hint = '' }: UserError): void {
    const kind = hint === '' ? message : hint;
    if (kind === this.#trouble) return;
    this.#trouble = kind;
    this.#options.log([message, hint, 'The site stays as it is until then.'].filter(Boolean).join('\n'));
  }
}

/** How much a wait may differ from the interval, so that many sites do not check at the same moment. */
const jitter = 0.1;

/** @param random from 0 to 1. */
export function jittered(milliseconds: number, random: number): number {
  return milliseconds * (1 - jitter + 2 * jitter * random);
}

/** Calls `task` again and again, never twice at the same time, until the signal is aborted. */
export async function poll(
  every: number,
  task: () => Promise<void>,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await task();
    if (!signal.aborted) await clock.wait(jittered(every, clock.random()), signal).catch(() => {});
  }
}

/**
 * Runs work that is finished before the process ends. On Ctrl-C, or when the process is asked to terminate, the work's
 * signal is aborted; when the work has ended, the process exits with the usual status.
 */
async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController();
  let received: 'SIGINT' | 'SIGTERM' | undefined;
  const interrupt = (signal: 'SIGINT' | 'SIGTERM') => {
    received ??= signal;
    controller.abort();
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  await work(controller.signal);
  if (received !== undefined) process.exit(128 + constants.signals[received]);
}

/** Runs a shell command, as `npm run` does. When the watch is stopped, a running command is waited for. */
function run(command: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, { shell: true, stdio: 'inherit' });
    child.once('error', ({ message }) => {
      print(`${command} could not be started: ${message}`);
      resolve(false);
    });
    child.once('close', (status, signal) => {
      if (status !== 0)
        print(`${command} exited with ${signal ?? status}. It is run again with the next check.`);
      resolve(status === 0);
    });
  });
}
