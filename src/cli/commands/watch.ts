import { constants } from 'node:os';
import type { UserError } from '../../failures/errors.ts';
import { formatDuration } from '../../text/format.ts';
import { withCommandLock } from '../deploy/command-lock.ts';
import { deploy, markForDeploy, needsDeploy } from '../deploy/deployments.ts';
import { runWithLists } from '../deploy/run-command.ts';
import type { NotWritten, WatchEvent } from '../json-output.ts';
import { checkPatience, type RefreshOptions } from '../project/fetch-changes.ts';
import { notWrittenLines } from '../project/lines.ts';
import { openProject, readRecord } from '../project/open-project.ts';
import { readVariables } from '../project/project-settings.ts';
import type { Cli } from '../terminal/cli.ts';
import { exitCodes, toFailureResult } from '../terminal/exit-codes.ts';
import { type ListenOptions, listen, readWebhookSecret } from '../webhook-server.ts';
import { refreshSite } from './refresh.ts';

interface WatchOptions extends Pick<RefreshOptions, 'skipModified' | 'after'> {
  /** In milliseconds. @default half a minute; with `listen`, five */
  every?: number;
  listen?: ListenOptions['address'];
  build?: string;
  exec?: string;
}

/** Prints an event as JSON, or its text, if it has one. */
type Say = (event: WatchEvent, text?: string) => void;

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGPIPE'] as const;

export async function watch(cli: Cli, options: WatchOptions): Promise<void> {
  const { terminal, clock, signals } = cli;
  const { build, exec, listen: address } = options;
  // With calls, it is for those that do not arrive.
  const { every = address ? 300_000 : 30_000 } = options;
  const { manifest } = await readRecord(cli);
  const webhook = address && readWebhookSecret(await readVariables(cli, manifest));
  // That a site was not built does not pass by itself.
  if (!build || manifest) await openProject(cli, true);
  // What is written from now on is deployed, even if this process ends before.
  if (exec) await markForDeploy(cli, []);
  terminal.isLog = true;
  const stop = new AbortController();
  const { signal } = stop;
  const onSignal = (name: NodeJS.Signals) =>
    stop.abort(name === 'SIGPIPE' ? exitCodes.ok : 128 + constants.signals[name]);
  const say: Say = (event, text = '') => {
    if (signal.aborted) return;
    if (terminal.json) terminal.printJson({ at: new Date().toISOString(), ...event });
    else if (text !== '') terminal.print(text);
  };
  let called = new AbortController();
  const onCall = () => called.abort();
  const log = (message: string) => say({ event: 'call', message }, message);
  const turn = createTurn({ ...options, every }, say);
  for (const name of stopSignals) signals?.on(name, onSignal);
  try {
    const url = address && webhook && (await listen({ address, webhook, onCall, log, signal }));
    // Once signals are handled: a caller may stop the command when it reads this.
    const listening = url ? `Listening for signed calls at ${url}\n` : '';
    const started = `${listening}Checking every ${every / 1000} s. Press Ctrl-C to stop.`;
    say({ event: 'started', everyMilliseconds: every, url }, started);
    while (!signal.aborted) {
      const upToDate = await withCommandLock({ ...cli, signal }, turn);
      // Many sites must not check at the same moment.
      const milliseconds = every * (0.9 + 0.2 * clock.random());
      say({ event: 'waiting', upToDate, milliseconds });
      await clock.wait(milliseconds, AbortSignal.any([signal, called.signal])).catch(() => {});
      // Calls until now are one.
      if (called.signal.aborted) called = new AbortController();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    // Also ends listening.
    stop.abort();
    for (const name of stopSignals) signals?.off(name, onSignal);
  }
  terminal.exitStatus = signal.reason;
}

const longestPause = 600_000;

const noRecord = 'no record';

/** A turn checks, writes, builds and deploys. @returns whether the site shows what is published, and was deployed. */
function createTurn({ every, build, exec, ...options }: WatchOptions & { every: number }, say: Say) {
  /** What was said last of trouble, and of what only a build can update. */
  let [trouble, toBuild] = ['', ''];
  let failed: { what: string; pause: number; until: number } | undefined;

  const sayToBuild = (notWritten: NotWritten[]) => {
    const reasons = notWrittenLines(notWritten).join('\n');
    const advice = build ? '' : '\nBuild the site to update these pages.';
    if (reasons && reasons !== toBuild) say({ event: 'not-written', notWritten }, reasons + advice);
    toBuild = reasons;
  };

  /** @returns what has to be built, with what is published; `undefined` if unknown. */
  const update = async (cli: Cli): Promise<string | undefined> => {
    say({ event: 'checking' });
    try {
      const { document, published } = await refreshSite(cli, { ...options, patience: checkPatience });
      const { written, notWritten, after } = document;
      if (trouble) say({ event: 'recovered' }, 'The check succeeded again.');
      trouble = '';
      const updated = written.map(({ file }) => `Updated ${file}`);
      if (updated[0]) say({ event: 'written', written }, updated.join('\n'));
      sayToBuild(notWritten);
      if (!after?.exitStatus) return toBuild && `${toBuild}\n${published}`;
      const { exitStatus } = after;
      const failure = `The command of --after exited with status ${exitStatus}, so what was made from the pages may be out of date. It is run again with the next check.`;
      say({ event: 'after-failed', exitStatus }, failure);
    } catch (thrown) {
      const { exitStatus, error } = toFailureResult(thrown);
      const { message, code, hint } = error;
      if (build && exitStatus === exitCodes.needsBuild) {
        sayToBuild([{ name: 'The site', reason: `has no usable record: ${message} [${code}]` }]);
        return noRecord;
      }
      // By their codes, as details such as attempts change each time.
      const kind = (thrown as Partial<UserError>).codes?.join() ?? message;
      const lines = [message, hint, 'The site stays as it is until then.'];
      if (kind !== trouble) say({ event: 'trouble', error }, lines.filter(Boolean).join('\n'));
      trouble = kind;
    }
    return undefined;
  };

  const buildSite = async (cli: Cli, command: string, what: string) => {
    const before = (await readRecord(cli)).manifest?.builtAt;
    say({ event: 'building' }, 'Building the site.');
    const status = await runWithLists(cli, command, undefined);
    // Any file may have changed.
    if (exec) await markForDeploy(cli, undefined);
    const { file, manifest: { builtAt = before } = {} } = await readRecord(cli);
    if (status === 0 && builtAt !== before) {
      say({ event: 'built', succeeded: true });
      [failed, toBuild] = [undefined, ''];
      return true;
    }
    const pause = Math.max(every, Math.min(longestPause, 2 * (failed?.pause ?? every)));
    failed = { what, pause, until: cli.clock.now() + pause };
    const problem = status ? `exited with status ${status}` : `left no new record of a build at ${file}`;
    const again = `It is run again in ${formatDuration(pause, 'long')}, or when something else changes.`;
    const text = `The command of --build ${problem}. ${again}`;
    say({ event: 'built', succeeded: false, problem, retryMilliseconds: pause }, text);
    return false;
  };

  return async (cli: Cli) => {
    const { clock, signal } = cli;
    let what = await update(cli);
    // A failed build leaves no record, which is nothing else to build.
    if (what !== undefined && what !== noRecord && what !== failed?.what) failed = undefined;
    const canBuild = clock.now() >= (failed?.until ?? 0) && !signal?.aborted;
    if (build && what && canBuild && (await buildSite(cli, build, what))) what = '';
    // What a failed build has left is not deployed.
    const canDeploy = !failed && !signal?.aborted;
    if (exec && canDeploy && (await needsDeploy(cli))) {
      const status = await deploy(cli, exec);
      const problem = status ? `exited with status ${status}` : undefined;
      const text = problem && `The command of --exec ${problem}. It is run again with the next check.`;
      say({ event: 'deployed', succeeded: status === 0, problem }, text);
    }
    return what === '' && !(exec && (await needsDeploy(cli)));
  };
}
