import { count } from '../client/format.ts';
import { afterOption, commandPending } from './after-command.ts';
import type { RefreshOutput } from './cli-output.ts';
import { exitCodes, nameOf } from './output.ts';
import type { RefreshOptions, RefreshResult } from './refresh.ts';
import type { Terminal } from './terminal.ts';

/**
 * Says what a refresh has done, or would do.
 *
 * @returns the exit status.
 */
export function reportRefresh(terminal: Terminal, result: RefreshResult, options: RefreshOptions): number {
  const { toBuild, afterStatus } = result;
  const failure = afterFailure(afterStatus);
  const done = toBuild.length > 0 ? exitCodes.needsBuild : exitCodes.ok;
  const exitStatus = failure === undefined ? done : exitCodes.failed;
  const next = nextStep(result, options);
  if (options.json) terminal.printJson({ ...refreshOutput(result, options), exitStatus, nextStep: next });
  else printRefresh(terminal, result, options);
  if (failure !== undefined) terminal.printError(`${failure}\n${next}`);
  else if (next !== undefined && !options.json) terminal.print(next);
  return exitStatus;
}

function refreshOutput(
  { files = [], toBuild, diffs, afterStatus }: RefreshResult,
  { dryRun = false }: RefreshOptions,
): Omit<RefreshOutput, 'version' | 'exitStatus'> {
  const shown = new Map(files.map(({ file, url }) => [file, { file, url }]));
  return {
    command: 'refresh',
    dryRun,
    written: [...files],
    notWritten: [...toBuild],
    diffs: diffs?.map(({ request: { id, params }, pages, patch }) => ({
      id,
      params,
      pages: pages.flatMap((name) => shown.get(name) ?? []),
      patch,
    })),
    after: afterStatus === undefined ? undefined : { exitStatus: afterStatus },
  };
}

function printRefresh(
  terminal: Terminal,
  { written, toBuild, diffs = [], afterStatus }: RefreshResult,
  options: RefreshOptions,
): void {
  for (const { request, pages, patch } of diffs) {
    terminal.print(`${nameOf(request)}, on ${count(pages.length, 'page')}`);
    terminal.printPatch(patch);
  }
  for (const name of written)
    terminal.print(`${name} ${options.dryRun ? 'would be written' : 'is up to date'}`);
  for (const { name, reason } of toBuild) terminal.print(`${name} ${reason}`);
  if (written.length + toBuild.length === 0 && afterStatus === undefined)
    terminal.print('Nothing has changed.');
}

function nextStep(
  { written, toBuild, stale = [], afterStatus }: RefreshResult,
  options: RefreshOptions,
): string | undefined {
  const { dryRun = false, skipModified = false } = options;
  if (afterFailure(afterStatus) !== undefined) {
    return 'Fix the command and refresh with --after again: it is run even if nothing else has changed.';
  }
  if (toBuild.length === 0) return undefined;
  // The others were changed by something else in the meantime, and are left alone.
  if (!dryRun && !skipModified && written.length > 0) {
    return 'The other pages are written. Build the site to update the rest.';
  }
  const nothing = `Nothing ${dryRun ? 'would be' : 'was'} written. Build the site`;
  if (options.after === undefined && stale.length > 0) {
    if (toBuild.length > stale.length) return `${nothing}.`;
    return `${nothing}, or refresh with a command that renews what was made from its pages: ${afterOption(stale)}`;
  }
  if (toBuild.includes(commandPending)) return `${nothing}, or refresh with the same --after again.`;
  if (skipModified) return 'Build the site to update these pages too.';
  return `${nothing}, or update the other pages with --skip-modified.`;
}

/** That a command has failed; `undefined` if it has not. Without the command, which may contain a key. */
export function afterFailure(status: number | undefined): string | undefined {
  if (!status) return undefined;
  return `The pages are written, but the command of --after exited with status ${status}, so what was made from them may be out of date.`;
}
