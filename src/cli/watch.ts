import { constants } from 'node:os';
import { formatDuration } from '../client/format.ts';
import type { UserError } from '../failures/errors.ts';
import type { RefreshOutput, WatchOutput } from './cli-output.ts';
import { whileAlone } from './command-lock.ts';
import type { CliContext, Signals } from './context.ts';
import { addDue, deploy, isDue } from './deployed.ts';
import { explain } from './explain.ts';
import { type ListenOptions, listen, readWebhookSecret } from './listen.ts';
import { exitCodes } from './output.ts';
import {
  checkPatience,
  environmentFilesOf,
  findManifest,
  manifestPath,
  openProject,
  type ProjectOptions,
} from './project.ts';
import { type RefreshOptions, updateSite } from './refresh.ts';
import { runWithLists } from './run-command.ts';

export interface WatchOptions extends Pick<RefreshOptions, 'skipModified' | 'after'> {
  /** In milliseconds. @default half a minute; with `listen`, five */
  every?: number;
  /** Where signed calls start a check at once. */
  listen?: ListenOptions['address'];
  /** Builds the site where a refresh cannot update it. */
  build?: string;
  /** Deploys the site. */
  exec?: string;
}

const pollInterval = 30_000;
// For calls that do not arrive.
const pollIntervalBesideCalls = 300_000;

/** How much a wait may differ from the interval, so that many sites do not check at the same moment. */
const jitter = 0.1;

/** An event as `--json` prints it. */
type WatchEvent = Unsigned<WatchOutput>;
type Unsigned<Event> = Event extends unknown ? Omit<Event, 'version' | 'command' | 'at'> : never;

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
  const { terminal, clock } = context;
  const { build, exec, listen: address } = options;
  const { every = address === undefined ? pollInterval : pollIntervalBesideCalls } = options;
  const found = await findManifest(context, project);
  const files = environmentFilesOf(context, found);
  const webhook = address === undefined ? undefined : await readWebhookSecret(context, files);
  // Checked once in advance: a site that was not built is an error, not a problem that may pass.
  if (build === undefined || found !== undefined) await openProject(context, project, { writes: true });
  // What is written from now on is deployed even if this process ends before that.
  if (exec !== undefined) await addDue(manifestPath(context, project), []);
  terminal.showsTime = true;
  return untilInterrupted(context.signals, async (signal) => {
    const emit = (event: WatchEvent) => {
      if (signal.aborted) return;
      if (terminal.isJson) {
        const at = new Date().toISOString();
        terminal.printJson({ version: 1, command: 'watch', at, ...event });
      } else {
        const text = eventText(event, build !== undefined);
        if (text !== undefined) terminal.print(text);
      }
    };
    let called = new AbortController();
    const onCall = () => called.abort();
    const log = (message: string) => emit({ event: 'call', message });
    const url = address && webhook && (await listen({ address, webhook, onCall, log, signal }));
    // Not before signals are handled, since a caller may stop the command as soon as it says so.
    emit({ event: 'started', everyMilliseconds: every, url });
    const turn = turns({ ...context, signal }, project, { ...options, every }, emit);
    while (!signal.aborted) {
      const upToDate = await turn();
      const milliseconds = every * (1 - jitter + 2 * jitter * clock.random());
      emit({ event: 'waiting', upToDate, milliseconds });
      await clock.wait(milliseconds, AbortSignal.any([signal, called.signal])).catch(() => {});
      // Calls until now are one.
      if (called.signal.aborted) called = new AbortController();
    }
  });
}

/** What people read of an event; `undefined` for one that is for scripts alone. */
function eventText(event: WatchEvent, canBuild: boolean): string | undefined {
  switch (event.event) {
    case 'started': {
      const listening = event.url === undefined ? '' : `Listening for signed calls at ${event.url}\n`;
      return `${listening}Checking every ${event.everyMilliseconds / 1000} s. Press Ctrl-C to stop.`;
    }
    case 'call':
      return event.message;
    case 'written':
      return event.written.map(({ file }) => `Updated ${file}`).join('\n');
    case 'not-written': {
      const reasons = event.notWritten.map(({ name, reason }) => `${name} ${reason}`);
      return [...reasons, ...(canBuild ? [] : ['Build the site to update these pages.'])].join('\n');
    }
    case 'trouble': {
      const { message, hint } = event.error;
      return [message, hint, 'The site stays as it is until then.'].filter(Boolean).join('\n');
    }
    case 'recovered':
      return 'The check succeeded again.';
    case 'after-failed':
      return `The command of --after exited with status ${event.exitStatus}, so what was made from the pages may be out of date. It is run again with the next check.`;
    case 'building':
      return 'Building the site.';
    case 'built':
      return (
        event.problem &&
        `The command of --build ${event.problem}. It is run again in ${formatDuration(event.retryMilliseconds ?? 0, 'long')}, or when something else changes.`
      );
    case 'deployed':
      return event.problem && `The command of --exec ${event.problem}. It is run again with the next check.`;
    default:
      return undefined;
  }
}

const longestPause = 600_000;
const noRecord = 'no record';
const noFailure = { what: '', times: 0, until: 0 };

/**
 * Returns a function that checks, and does what follows: writes, builds, deploys. It returns whether the whole site shows
 * what is published, and was deployed.
 */
function turns(
  context: CliContext & { signal: AbortSignal },
  project: ProjectOptions,
  { every, build, exec, ...options }: WatchOptions & { every: number },
  emit: (event: WatchEvent) => void,
): () => Promise<boolean> {
  const { clock, signal } = context;
  const recordOf = () => manifestPath(context, project);
  const builtAt = async () => (await findManifest(context, project))?.builtAt;
  const isToDeploy = async () => exec !== undefined && (await isDue(recordOf()));
  /** What kind of trouble there is. It is said once. */
  let trouble: string | undefined;
  /** What only a build can update, as text. It is said once. */
  let toBuild = '';
  /** Builds of the same that failed in a row, and when it is built again. */
  let failed = noFailure;

  const sayToBuild = (notWritten: RefreshOutput['notWritten']) => {
    const reasons = notWritten.map(({ name, reason }) => `${name} ${reason}`).join('\n');
    if (reasons !== '' && reasons !== toBuild) emit({ event: 'not-written', notWritten });
    toBuild = reasons;
  };

  /** @returns what has to be built, with what is published; `undefined` if that is not known. */
  const update = async (): Promise<string | undefined> => {
    emit({ event: 'checking' });
    try {
      const { document, published } = await updateSite(context, project, {
        ...options,
        patience: checkPatience,
      });
      const { written, notWritten, after } = document;
      if (trouble !== undefined) emit({ event: 'recovered' });
      trouble = undefined;
      if (written.length > 0) emit({ event: 'written', written });
      sayToBuild(notWritten);
      if (!after?.exitStatus) return toBuild && `${toBuild}\n${published}`;
      emit({ event: 'after-failed', exitStatus: after.exitStatus });
    } catch (error) {
      const { exitStatus, error: explained } = explain(error);
      const { message, code } = explained;
      if (build !== undefined && exitStatus === exitCodes.needsBuild) {
        trouble = undefined;
        sayToBuild([{ name: 'The site', reason: `has no usable record: ${message} [${code}]` }]);
        return noRecord;
      }
      // The codes tell kinds apart, since details such as attempts change each time.
      const kind = (error as Partial<UserError>).codes?.join() ?? message;
      if (kind !== trouble) emit({ event: 'trouble', error: explained });
      trouble = kind;
    }
    return undefined;
  };

  /** @returns whether the site is built now. */
  const buildSite = async (command: string, what: string): Promise<boolean> => {
    const before = await builtAt();
    const isBuilt = async () => ((await builtAt()) ?? before) !== before;
    const pause = Math.max(every, Math.min(longestPause, every * 2 ** (failed.times + 1)));
    const run = async (inner: CliContext) => {
      // Another process may have built it meanwhile.
      if (await isBuilt()) return undefined;
      emit({ event: 'building' });
      const status = await runWithLists(inner, command, undefined);
      // Any file may have changed. The build may also have emptied the folder of the record, or left one elsewhere.
      if (exec !== undefined) await addDue(recordOf(), undefined);
      let problem: string | undefined;
      if (status !== 0) problem = `exited with status ${status}`;
      else if (!(await isBuilt())) problem = `left no new record of a build at ${recordOf()}`;
      const retryMilliseconds = problem === undefined ? undefined : pause;
      emit({ event: 'built', succeeded: problem === undefined, problem, retryMilliseconds });
      return problem;
    };
    const problem = await whileAlone(context, project, run);
    failed = { what, times: failed.times + 1, until: clock.now() + pause };
    if (problem !== undefined) return false;
    failed = noFailure;
    toBuild = '';
    return true;
  };

  const deploySite = async (inner: CliContext, command: string) => {
    // Another process may have deployed it meanwhile.
    if (!(await isToDeploy())) return;
    const status = await deploy(inner, project, command, { mayWrite: false });
    const problem = status === 0 ? undefined : `exited with status ${status}`;
    emit({ event: 'deployed', succeeded: problem === undefined, problem });
  };

  return async () => {
    let what = await update();
    // That a failed build has left no record is nothing else to build.
    if (what !== undefined && what !== noRecord && what !== failed.what) failed = { ...noFailure, what };
    const canBuild = clock.now() >= failed.until && !signal.aborted;
    if (build !== undefined && what && canBuild && (await buildSite(build, what))) what = '';
    // Nothing that a failed build has left in the output is deployed.
    if (exec !== undefined && failed.times === 0 && !signal.aborted && (await isToDeploy())) {
      await whileAlone(context, project, (inner) => deploySite(inner, exec));
    }
    return what === '' && !(await isToDeploy());
  };
}

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGPIPE'] as const;

/**
 * Runs work that is finished before the command ends. On Ctrl-C, when the process is asked to terminate, or when
 * its output is no longer read, the work's signal is aborted.
 *
 * @returns the exit status that is usual after that signal.
 */
async function untilInterrupted(
  signals: Signals | undefined,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<number> {
  const controller = new AbortController();
  let exitStatus: number = exitCodes.ok;
  const stop = (name: (typeof stopSignals)[number]) => {
    if (!controller.signal.aborted && name !== 'SIGPIPE') exitStatus = 128 + constants.signals[name];
    controller.abort();
  };
  for (const name of stopSignals) signals?.on(name, stop);
  try {
    await work(controller.signal);
  } finally {
    // What the work has opened is closed even if it fails.
    controller.abort();
    for (const name of stopSignals) signals?.off(name, stop);
  }
  return exitStatus;
}
