import { constants } from 'node:os';
import { withCommandLock } from '../deploy/command-lock.ts';
import { markForDeploy } from '../deploy/deployments.ts';
import { findRecord, readProject, requireRecord } from '../project/open-project.ts';
import { readVariables } from '../project/project-settings.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import type { Cli } from '../terminal/terminal.ts';
import { type ListenAddress, listen, readWebhookSecret } from '../webhook-server.ts';
import { type PrintEvent, type TurnOptions, WatchTurns } from './watch-turns.ts';

interface WatchOptions extends Omit<TurnOptions, 'every'> {
  /** The time between two turns, in milliseconds. @default 30,000; with `listen`, 300,000 */
  every?: number;
  /** The address for signed calls, which begin a turn at once. */
  listen?: ListenAddress;
}

/**
 * The command `watch`: refreshes the site regularly and after calls, builds and deploys it, until a signal
 * ends the process. See {@link WatchTurns} for what a turn does.
 */
export async function watch(cli: Cli, options: WatchOptions): Promise<void> {
  const { terminal, clock } = cli;
  const { build, exec, listen: address } = options;
  // With `--listen`, calls begin the turns, and polling only makes up for lost calls, so it is rare.
  const { every = address ? 300_000 : 30_000 } = options;
  const project = await readProject(cli);
  const webhook = address && readWebhookSecret(await readVariables(cli, project.manifest));
  // A site without a record needs a build, so a watch that cannot build ends at once.
  if (!build || project.manifest) await requireRecord(cli, project, { writes: true });
  // From now on, each write is noted as to be deployed, even if this process ends before it deploys.
  if (exec) await markForDeploy(project, []);

  terminal.isLog = true;
  const stop = new AbortController();
  const { signal } = stop;
  const print = eventPrinter(cli, signal);
  const turns = new WatchTurns({ ...options, every }, print);
  let nextCall = new AbortController();
  const stopHandlingSignals = stopOnSignals(cli, stop);
  try {
    let url: string | undefined;
    if (address && webhook) {
      const log = (message: string) => print({ event: 'call', message }, message);
      url = await listen({ address, webhook, onCall: () => nextCall.abort(), log, signal });
    }
    // Printed after signals are handled, since whoever reads the line may stop the command at once.
    const listening = url ? `Listening for signed calls at ${url}\n` : '';
    const started = `${listening}Checking every ${every / 1000} s. Press Ctrl-C to stop.`;
    print({ event: 'started', everyMilliseconds: every, url }, started);

    while (!signal.aborted) {
      const turnCli: Cli = { ...cli, signal };
      const upToDate = await withCommandLock(turnCli, await findRecord(cli), (inner) => turns.run(inner));
      // Varied by 10 %, so that many sites do not check at the same moment.
      const milliseconds = every * (0.9 + 0.2 * clock.random());
      print({ event: 'waiting', upToDate, milliseconds });
      await clock.wait(milliseconds, AbortSignal.any([signal, nextCall.signal])).catch(() => {});
      // The next turn answers all calls until now, so later calls get a new controller.
      if (nextCall.signal.aborted) nextCall = new AbortController();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    // Aborting also closes the server for calls, if the watch ends with an error.
    stop.abort();
    stopHandlingSignals();
  }
  terminal.exitStatus = signal.reason;
}

function eventPrinter({ terminal }: Cli, signal: AbortSignal): PrintEvent {
  return (event, text = '') => {
    // A watch that was stopped says nothing more.
    if (signal.aborted) return;
    if (terminal.json) terminal.printJson({ at: new Date().toISOString(), ...event });
    else if (text !== '') terminal.print(text);
  };
}

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGPIPE'] as const;

/**
 * Stops a watch when the process gets a signal. The reason of the abort is the exit status, as of a process
 * that the signal ends; when nobody reads the output any more, that is no failure. @returns an undo function
 */
function stopOnSignals({ signals }: Cli, stop: AbortController): () => void {
  const onSignal = (name: NodeJS.Signals) =>
    stop.abort(name === 'SIGPIPE' ? exitCodes.ok : 128 + constants.signals[name]);
  for (const name of stopSignals) signals?.on(name, onSignal);
  return () => {
    for (const name of stopSignals) signals?.off(name, onSignal);
  };
}
