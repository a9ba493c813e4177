import { constants } from 'node:os';
import type { PageToBuild } from '../build/refresh.ts';
import type { Clock } from '../client/clock.ts';
import { formatDuration } from '../client/format.ts';
import type { UserError } from '../failures/errors.ts';
import type { Manifest } from '../record/manifest.ts';
import { type ChangedFiles, runWithLists } from './changed-files.ts';
import type { ErrorOutput, WatchOutput } from './cli-output.ts';
import { whileAlone } from './command-lock.ts';
import type { CliContext, Signals } from './context.ts';
import { explain } from './explain.ts';
import { callableClock, listen, readWebhookSecret } from './listen.ts';
import type { ListenAddress } from './listen-address.ts';
import { exitCodes } from './output.ts';
import { buildPending, isCommandPending, markPending, runPendingCommand } from './pending-command.ts';
import {
  checkPatience,
  environmentFilesOf,
  findManifest,
  manifestPath,
  openProject,
  type ProjectOptions,
} from './project.ts';
import { type SiteUpdate, updateSite } from './refresh.ts';
import { afterFailure } from './refresh-output.ts';
import type { RunCommandOptions } from './run-command.ts';
import type { Terminal } from './terminal.ts';
import {
  buildPause,
  idle,
  nextAction,
  noRecord,
  type WatchAction,
  type WatchEvent,
  type WatchState,
} from './watch-policy.ts';

export interface WatchOptions {
  /** In milliseconds. @default half a minute; with `listen`, five */
  every?: number;
  /** Where signed calls start a check at once. */
  listen?: ListenAddress;
  /** Builds the site where a refresh cannot update it. */
  build?: string;
  /** Deploys the site. */
  exec?: string;
  skipModified?: boolean;
  /** Renews what was made from the pages. */
  after?: string;
  /** Prints an event a line. What is for people goes to standard error. */
  json?: boolean;
}

const pollInterval = 30_000;
// For calls that did not arrive.
const pollIntervalBesideCalls = 300_000;

/**
 * `astro-snippets watch`: keeps the built site up to date until it is stopped.
 *
 * @returns 128 + n after a signal.
 */
export async function watch(
  context: CliContext,
  project: ProjectOptions,
  options: WatchOptions,
): Promise<number> {
  const { terminal } = context;
  const { build, exec, listen: address, json = false } = options;
  const { every = address === undefined ? pollInterval : pollIntervalBesideCalls } = options;
  const found = () => findManifest(context, project);
  const webhook =
    address === undefined
      ? undefined
      : await readWebhookSecret(context, environmentFilesOf(context, await found()));
  const say = (line: string) => (json ? terminal.printError(line) : terminal.print(line));
  const emit = (event: WatchNews) => {
    if (json) printEvent(terminal, event);
  };
  // Standard output is for events alone.
  const stdout = json ? 'stderr' : 'stdout';
  const recordOf = () => manifestPath(context, project);
  // Whether another process has run its commands since this one has run its own.
  let othersRan = false;
  const builds = async (command: string, signal: AbortSignal) => {
    const before = await found();
    return whileAlone(
      context,
      project,
      async (inner, hasWaited) => {
        othersRan ||= hasWaited;
        if (hasWaited && isNewer(await found(), before)) return undefined;
        const run = () => buildSite(inner, project, command, { stdout });
        return exec === undefined ? run() : buildPending(recordOf, run);
      },
      signal,
    );
  };
  const deploy = (command: string, signal: AbortSignal) =>
    whileAlone(
      context,
      project,
      async (inner, hasWaited) => {
        othersRan ||= hasWaited;
        // Theirs has succeeded then, and was told about everything that is written.
        if (othersRan && !(await isCommandPending(await recordOf()))) return exitCodes.ok;
        othersRan = false;
        return runPendingCommand(recordOf, (changed) => runWithLists(inner, command, changed, { stdout }));
      },
      signal,
    );
  // What is written is deployed even if this process ends before that.
  const beforeWrite =
    exec === undefined ? undefined : async (changed: ChangedFiles) => markPending(await recordOf(), changed);
  // Checked once in advance: a site that was not built is an error, not a problem that may pass.
  if (build === undefined || (await found()) !== undefined) {
    await openProject(context, project, { writes: true });
  }
  const needsDeploy = exec !== undefined && (await isCommandPending(await recordOf()));
  const isUnfinished = (await found())?.pending !== undefined;
  return untilInterrupted(context.signals, async (signal) => {
    const { clock, call } = callableClock(context.clock);
    let url: string | undefined;
    if (address !== undefined && webhook !== undefined) {
      const listener = await listen({ address, webhook, onCall: call, log: say });
      signal.addEventListener('abort', listener.close);
      url = listener.url;
    }
    // Not before signals are handled, since a caller may stop the command as soon as it says so.
    say(`Checking every ${every / 1000} s. Press Ctrl-C to stop.`);
    emit({ event: 'started', everyMilliseconds: every, url });
    const site = new WatchedSite({
      every,
      needsDeploy,
      isUnfinished,
      signal,
      clock: context.clock,
      update: () =>
        updateSite(context, project, { ...options, patience: checkPatience, beforeWrite }, signal),
      build: build === undefined ? undefined : () => builds(build, signal),
      deploy: async () => (exec === undefined ? undefined : deploy(exec, signal)),
      log: (line) => {
        if (!signal.aborted) say(line);
      },
      emit: (event) => {
        if (!signal.aborted) emit(event);
      },
    });
    await poll(
      every,
      () => site.update(),
      clock,
      signal,
      (milliseconds) => emit({ event: 'waiting', upToDate: site.isUpToDate, milliseconds }),
    );
  });
}

/** @returns why it failed, as the end of a sentence; `undefined` if there is the record of a new build now. */
async function buildSite(
  context: CliContext,
  project: ProjectOptions,
  command: string,
  { stdout }: Pick<RunCommandOptions, 'stdout'>,
): Promise<string | undefined> {
  const before = await findManifest(context, project);
  const status = await runWithLists(context, command, undefined, { stdout });
  if (status !== 0) return `exited with status ${status}`;
  const after = await findManifest(context, project);
  if (isNewer(after, before)) return undefined;
  return `left no new record of a build at ${await manifestPath(context, project)}`;
}

/** Whether there is the record of another build than before. */
function isNewer(now: Manifest | undefined, before: Manifest | undefined): boolean {
  return now !== undefined && now.builtAt !== before?.builtAt;
}

interface WatchedSiteOptions {
  /** The time between two updates, in milliseconds. */
  every: number;
  /** Whether there is something to deploy from the start. */
  needsDeploy: boolean;
  /** Whether what was made from the pages is out of date from the start. */
  isUnfinished: boolean;
  /** When it is aborted, nothing more is begun. */
  signal: AbortSignal;
  clock: Pick<Clock, 'now'>;
  /** Updates the site as far as possible without a build. @throws if the service is in trouble. */
  update(): Promise<SiteUpdate>;
  /** Called where only a build helps. @returns why it failed, as the end of a sentence; else `undefined`. */
  build: (() => Promise<string | undefined>) | undefined;
  /** Called after pages were written or built. @returns the exit status; `undefined` without a command. */
  deploy(): Promise<number | undefined>;
  log(line: string): void;
  /** Called with what scripts may want to know. */
  emit(event: WatchNews): void;
}

/** An event as `--json` prints it. */
type WatchNews = Unsigned<WatchOutput>;
type Unsigned<Event> = Event extends unknown ? Omit<Event, 'version' | 'command' | 'at'> : never;

function printEvent(terminal: Terminal, event: WatchNews): void {
  terminal.printJson({ command: 'watch', at: new Date().toISOString(), ...event } as WatchOutput);
}

/**
 * A site that is kept up to date. Each set of changes is deployed once. If the command fails, it is run again with the
 * next update, even without changes: the pages are written, and nothing else would deploy them.
 */
class WatchedSite {
  readonly #options: WatchedSiteOptions;
  #state: WatchState;
  #trouble: string | undefined;
  #toBuild = '';

  constructor(options: WatchedSiteOptions) {
    this.#options = options;
    const { needsDeploy, isUnfinished } = options;
    this.#state = { ...idle, needsDeploy, isUnfinished };
  }

  /** Whether the whole site shows what is published, and was deployed. */
  get isUpToDate(): boolean {
    const { needsDeploy, isUnfinished, toBuild } = this.#state;
    const isBuilt = this.#options.build === undefined ? this.#toBuild === '' : toBuild === undefined;
    return isBuilt && !needsDeploy && !isUnfinished && this.#trouble === undefined;
  }

  async update(): Promise<void> {
    const { build, signal } = this.#options;
    let action = this.#decide(await this.#check());
    while (action !== 'wait' && !signal.aborted) {
      const done = action === 'build' && build !== undefined ? this.#build(build) : this.#deploy();
      action = this.#decide(await done);
    }
  }

  #decide(event: WatchEvent): WatchAction {
    const { build, every, clock } = this.#options;
    const conditions = { canBuild: build !== undefined, every, now: clock.now() };
    const { state, action } = nextAction(this.#state, event, conditions);
    this.#state = state;
    return action;
  }

  async #check(): Promise<WatchEvent> {
    const { update, build, log } = this.#options;
    this.#emit({ event: 'checking' });
    try {
      const { written, files = [], toBuild, published, isUnfinished, afterStatus } = await update();
      this.#logRecovery();
      for (const name of written) log(`${name} is up to date`);
      if (files.length > 0) this.#emit({ event: 'written', written: [...files] });
      const reasons = toBuild.map(({ name, reason }) => `${name} ${reason}`).join('\n');
      this.#logToBuild(reasons, toBuild);
      const failure = afterFailure(afterStatus);
      if (afterStatus !== undefined && failure !== undefined) {
        log(`${failure} It is run again with the next check.`);
        this.#emit({ event: 'after-failed', exitStatus: afterStatus });
        return { kind: 'unfinished' };
      }
      if (build === undefined && isUnfinished) return { kind: 'unfinished' };
      const what = reasons === '' ? undefined : `${reasons}\n${published}`;
      // The command may be that of an earlier check, whose pages were not deployed without it.
      return { kind: 'checked', written: written.length > 0 || afterStatus !== undefined, toBuild: what };
    } catch (error) {
      const { message, exitCode, error: explained } = explain(error);
      if (build === undefined || exitCode !== exitCodes.needsBuild) {
        this.#logTrouble(error as UserError, explained);
        return { kind: 'trouble' };
      }
      this.#trouble = undefined;
      this.#logToBuild(message, [{ name: 'The site', reason: 'has no usable record of a build' }]);
      return { kind: 'checked', written: false, toBuild: noRecord };
    }
  }

  async #build(build: () => Promise<string | undefined>): Promise<WatchEvent> {
    const { every, log } = this.#options;
    log('Building the site.');
    this.#emit({ event: 'building' });
    const problem = await build().catch(({ message }: Error) => `was not run: ${message}`);
    const pause = buildPause(this.#state.failures + 1, every);
    const retryMilliseconds = problem === undefined ? undefined : pause;
    this.#emit({ event: 'built', succeeded: problem === undefined, problem, retryMilliseconds });
    if (problem !== undefined) {
      log(
        `The command of --build ${problem}. It is run again in ${formatDuration(pause, 'long')}, or when something else changes.`,
      );
    }
    return { kind: 'built', succeeded: problem === undefined };
  }

  async #deploy(): Promise<WatchEvent> {
    const { deploy, log } = this.#options;
    const { status, problem } = await deploy().then(
      (status) => ({ status, problem: status ? `exited with status ${status}` : undefined }),
      ({ message }: Error) => ({ status: 1, problem: `was not run: ${message}` }),
    );
    if (status === undefined) return { kind: 'deployed', succeeded: true };
    if (problem !== undefined) log(`The command of --exec ${problem}. It is run again with the next check.`);
    this.#emit({ event: 'deployed', succeeded: problem === undefined, problem });
    return { kind: 'deployed', succeeded: problem === undefined };
  }

  #emit(event: WatchNews): void {
    this.#options.emit(event);
  }

  #logRecovery(): void {
    if (this.#trouble === undefined) return;
    this.#options.log('The check succeeded again.');
    this.#emit({ event: 'recovered' });
    this.#trouble = undefined;
  }

  /** Logged when it is not what the last check has found. */
  #logToBuild(reasons: string, notWritten: readonly PageToBuild[]): void {
    const { build, log } = this.#options;
    const step = build === undefined ? '\nBuild the site to update these pages.' : '';
    if (reasons !== '' && reasons !== this.#toBuild) {
      log(`${reasons}${step}`);
      this.#emit({ event: 'not-written', notWritten: [...notWritten] });
    }
    this.#toBuild = reasons;
  }

  /** Logged once per kind of trouble. The codes tell kinds apart, since details such as attempts change each time. */
  #logTrouble({ message, hint, codes }: Partial<UserError>, error: ErrorOutput['error']): void {
    const kind = codes?.join() ?? message;
    if (kind === this.#trouble) return;
    this.#trouble = kind;
    this.#emit({ event: 'trouble', error });
    this.#options.log([message, hint, 'The site stays as it is until then.'].filter(Boolean).join('\n'));
  }
}

/** How much a wait may differ from the interval, so that many sites do not check at the same moment. */
const jitter = 0.1;

/** @param random from 0 to 1. */
function jittered(milliseconds: number, random: number): number {
  return milliseconds * (1 - jitter + 2 * jitter * random);
}

/**
 * Calls `task` again and again, never twice at the same time, until the signal is aborted.
 *
 * @param onWait called with how long the wait for the next time is, in milliseconds.
 */
async function poll(
  every: number,
  task: () => Promise<void>,
  clock: Clock,
  signal: AbortSignal,
  onWait: (milliseconds: number) => void,
): Promise<void> {
  while (!signal.aborted) {
    await task();
    if (signal.aborted) return;
    const milliseconds = jittered(every, clock.random());
    onWait(milliseconds);
    await clock.wait(milliseconds, signal).catch(() => {});
  }
}

/**
 * Runs work that is finished before the command ends. On Ctrl-C, or when the process is asked to terminate, the work's
 * signal is aborted.
 *
 * @returns the exit status that is usual after that signal.
 */
async function untilInterrupted(
  signals: Signals | undefined,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<number> {
  const controller = new AbortController();
  let received: 'SIGINT' | 'SIGTERM' | undefined;
  const interrupt = (signal: 'SIGINT' | 'SIGTERM') => {
    received ??= signal;
    controller.abort();
  };
  const onInt = () => interrupt('SIGINT');
  const onTerm = () => interrupt('SIGTERM');
  signals?.on('SIGINT', onInt);
  signals?.on('SIGTERM', onTerm);
  try {
    await work(controller.signal);
  } finally {
    // What the work has opened is closed even if it fails.
    controller.abort();
    signals?.off('SIGINT', onInt);
    signals?.off('SIGTERM', onTerm);
  }
  return received === undefined ? exitCodes.ok : 128 + constants.signals[received];
}
