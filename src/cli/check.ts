import { describeChanged, lookAtOutput } from '../build/output-state.ts';
import type { PageToBuild } from '../build/refresh.ts';
import { count } from '../client/format.ts';
import { namesOf } from '../record/changes.ts';
import { unfinishedOf } from './after-command.ts';
import { type ChangedFiles, runWithLists } from './changed-files.ts';
import type { CheckOutput } from './cli-output.ts';
import { whileAlone } from './command-lock.ts';
import type { CliContext } from './context.ts';
import { explain } from './explain.ts';
import { exitCodes, nameOf } from './output.ts';
import { isCommandPending, runPendingCommand } from './pending-command.ts';
import { openProgress } from './progress.ts';
import {
  checkPatience,
  findManifest,
  manifestPath,
  type OpenedChanges,
  openChanges,
  type ProjectOptions,
} from './project.ts';
import { changedSnippet, shownFile } from './shown-files.ts';
import { appendStepSummary } from './step-summary.ts';
import type { Terminal } from './terminal.ts';

export interface CheckOptions {
  json?: boolean;
  exec?: string;
}

/** `astro-snippets check`: which snippets have changed since the build, and where the site shows them. */
export async function check(
  context: CliContext,
  project: ProjectOptions,
  { json = false, exec }: CheckOptions,
): Promise<number> {
  if (exec === undefined) return (await showChanges(context, project, json)).exitStatus;
  return whileAlone(context, project, (inner) => checkAndRun(inner, project, json, exec));
}

/**
 * Runs the command unless nothing has changed. It runs again with each check until it has succeeded.
 *
 * @returns the command's exit status, or 0 if it did not have to run.
 * @throws AstroError if the check failed. The command was not run then.
 */
async function checkAndRun(
  context: CliContext,
  project: ProjectOptions,
  json: boolean,
  exec: string,
): Promise<number> {
  const { terminal } = context;
  const recordOf = () => manifestPath(context, project);
  const { exitStatus: found, files } = await showChanges(context, project, json).catch(
    (error: unknown): Shown => {
      const { message, exitCode, error: explained } = explain(error);
      if (exitCode !== exitCodes.needsBuild) throw error;
      terminal.printError(message);
      if (json) terminal.printJson({ command: 'check', exitStatus: exitCode, error: explained });
      return { exitStatus: exitCode, files: undefined };
    },
  );
  if (found === exitCodes.ok) {
    if (!(await isCommandPending(await recordOf()))) return found;
    terminal.printError('The command of --exec has not succeeded since the last change. It is run again.');
  }
  // Standard output stays one JSON document.
  const stdout = json ? 'stderr' : 'stdout';
  const status = await runPendingCommand(
    recordOf,
    (changed) => runWithLists(context, exec, changed, { stdout }),
    {
      changed: files,
    },
  );
  if (status !== 0) {
    terminal.printError(
      `The command of --exec exited with status ${status}. The next check with --exec runs it again.`,
    );
  } else if (found === exitCodes.needsBuild && (await findManifest(context, project)) === undefined) {
    terminal.printError(
      `There is still no record of a build at ${await recordOf()}, so the next check with --exec runs the command again.`,
    );
  }
  return status;
}

interface Shown {
  exitStatus: number;
  /** The files that show something else than what is published. */
  files: ChangedFiles;
}

async function showChanges(context: CliContext, project: ProjectOptions, json: boolean): Promise<Shown> {
  const { terminal } = context;
  const progress = openProgress(context, { json });
  const found = await openChanges(context, project, { patience: checkPatience, progress }).catch(
    async (error: unknown) => {
      if (explain(error).exitCode === exitCodes.needsBuild) await appendStepSummary(context, 'no record');
      throw error;
    },
  );
  const flaws = project.output === undefined ? undefined : await lookAtOutput(found.file, found.manifest);
  if (flaws !== undefined && flaws.changed.length > 0) terminal.printError(describeChanged(flaws.changed));
  const unfinished = [...unfinishedOf(found), ...(flaws?.toBuild ?? [])];
  const exitStatus =
    flaws !== undefined && flaws.toBuild.length > 0
      ? exitCodes.needsBuild
      : found.changed.length + unfinished.length === 0
        ? exitCodes.ok
        : exitCodes.changed;
  if (json) terminal.printJson(checkOutput(found, unfinished, exitStatus));
  else printChanges(terminal, found, unfinished);
  await appendStepSummary(context, {
    compared: found.manifest.snippets.length,
    changed: found.changed,
    unfinished,
  });
  return { exitStatus, files: outdatedFiles(found) };
}

/** Which pages use an entry of a collection, and which a command of `--after` was to follow, is not known. */
function outdatedFiles({ manifest, changed }: OpenedChanges): ChangedFiles {
  const isKnown =
    manifest.pending === undefined && changed.every(({ collections }) => collections.length === 0);
  if (!isKnown) return undefined;
  const unfinished = manifest.files.filter(({ next }) => next !== undefined).map(({ name }) => name);
  const names = new Set([...changed.flatMap(({ pages }) => pages), ...unfinished]);
  return [...names].map((name) => shownFile(manifest, name));
}

function checkOutput(
  { manifest, changed }: OpenedChanges,
  unfinished: readonly PageToBuild[],
  exitStatus: number,
): Omit<CheckOutput, 'version'> {
  return {
    command: 'check',
    exitStatus,
    compared: manifest.snippets.length,
    changed: changed.map((one) => changedSnippet(manifest, one)),
    unfinished: [...unfinished],
  };
}

function printChanges(
  terminal: Terminal,
  { manifest, changed }: OpenedChanges,
  unfinished: readonly PageToBuild[],
): void {
  if (manifest.snippets.length === 0) {
    terminal.print('The site shows no snippets.');
  } else if (changed.length + unfinished.length === 0) {
    const { length } = manifest.snippets;
    terminal.print(
      `Nothing has changed: ${count(length, 'snippet')} ${length === 1 ? 'matches' : 'match'} the last build.`,
    );
  } else {
    for (const { request, newHash, ...places } of changed) {
      const what = newHash === undefined ? 'no longer exists, and is optional' : 'has changed';
      terminal.print(`${nameOf(request)} ${what}\n    ${namesOf(places).join('\n    ')}`);
    }
    for (const { name, reason } of unfinished) terminal.print(`${name} ${reason}`);
  }
}
