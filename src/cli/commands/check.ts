import { warningLines } from '../../failures/snippet-warning.ts';
import { compareOutput, describeModified, findMissing } from '../../output/compare-output.ts';
import { count } from '../../text/format.ts';
import { isInsideCommand, withCommandLock } from '../deploy/command-lock.ts';
import {
  afterNotSucceeded,
  deploy,
  deployPending,
  markForDeploy,
  needsDeploy,
  readDeployed,
} from '../deploy/deployments.ts';
import type { CheckOutput, NotWritten } from '../json-output.ts';
import { notWrittenLines, snippetLines, toPlacedSnippet } from '../project/describe-snippets.ts';
import { describeSnippetWarnings, toWarnings } from '../project/describe-warnings.ts';
import { checkPatience, type FetchedChanges, fetchChanges } from '../project/fetch-changes.ts';
import { findRecord, type Project, readProject } from '../project/open-project.ts';
import { exitCodes, toFailureResult } from '../terminal/exit-codes.ts';
import { appendStepSummary } from '../terminal/step-summary.ts';
import type { Cli, CommandResult } from '../terminal/terminal.ts';

/**
 * The command `check`: says which snippets have changed since the site was built.
 *
 * @param options `exec` is a command to run if something has changed
 */
export async function check(cli: Cli, { exec }: { exec?: string }): Promise<void> {
  if (exec) return checkAndDeploy(cli, exec);
  const project = await readProject(cli);
  // Inside a command of `--exec`, that command has not succeeded yet, which must not make its own check fail.
  await showChanges(cli, project, { ignoresDeploy: isInsideCommand(cli, project.recordFile) });
}

/**
 * Checks, and runs a command if something has changed, if the output is not what was deployed last, or if there
 * is no usable record; until it succeeds.
 */
async function checkAndDeploy(cli: Cli, exec: string) {
  const { terminal } = cli;
  await withCommandLock(cli, await findRecord(cli), async (inner) => {
    const project = await readProject(inner);
    const result = await showChanges(inner, project).catch((thrown: unknown) => {
      if (toFailureResult(thrown).exitStatus !== exitCodes.needsBuild) throw thrown;
      terminal.showFailure(thrown);
      return undefined;
    });
    // Marking also begins the list of what is deployed, so that the next check notices a refresh or a build.
    await markForDeploy(project, result && changedFilesOf(result));
    if (result?.exitStatus === exitCodes.ok) {
      if (!(await needsDeploy(project))) return;
      terminal.printError('The output is not what --exec has deployed last. Running its command.');
    }

    const hasFailed = result?.unfinished.includes(deployPending);
    if (hasFailed) terminal.printError('The last --exec command failed. Running it again.');
    const status = await deploy(inner, exec, result);
    terminal.exitStatus = status;

    // The command may have been a build, so the record is read again.
    const { recordFile, manifest } = await readProject(inner);
    if (status !== 0) {
      terminal.printError(
        `The command of --exec exited with status ${status}. The next check with --exec runs it again.`,
      );
    } else if (!result && !manifest) {
      terminal.printError(
        `There is still no record of a build at ${recordFile}, so the next check with --exec runs the command again.`,
      );
    }
  });
}

/** The files to deploy; `undefined` for any file: which pages show a collection's entry is not on record. */
function changedFilesOf({ changed, unfinished }: CommandResult<CheckOutput>) {
  const isKnown =
    unfinished.every((item) => item === deployPending) &&
    changed.every(({ collections }) => collections.length === 0);
  return isKnown ? changed.flatMap(({ pages }) => pages) : undefined;
}

/**
 * Compares the site on record with the service, and shows the result.
 *
 * @param options with `ignoresDeploy`, a command of `--exec` that has not succeeded counts as fine
 */
async function showChanges(cli: Cli, project: Project, { ignoresDeploy = false } = {}) {
  const options = { forRefresh: false, patience: checkPatience };
  const changes = await fetchChanges(cli, project, options).catch((thrown: Error) => {
    appendStepSummary(cli, thrown.message);
    throw thrown;
  });
  const { manifest, changed, names, warnings, imageWarnings } = changes;
  const site = { ...manifest, names };
  for (const line of warningLines(imageWarnings)) cli.terminal.printError(line);

  const toBuild = await findPagesToBuild(cli, changes);
  const unfinished = [...(await findUnfinished(changes, ignoresDeploy)), ...toBuild];
  let exitStatus: number = exitCodes.ok;
  if (changed.length + unfinished.length > 0) exitStatus = exitCodes.changed;
  if (toBuild.length > 0) exitStatus = exitCodes.needsBuild;

  const result: CommandResult<CheckOutput> = {
    exitStatus,
    compared: manifest.snippets.length,
    changed: changed.map((snippet) => {
      const { newHash, only } = snippet;
      return toPlacedSnippet(site, snippet, { missing: newHash ? undefined : true, newHash, only });
    }),
    warnings: toWarnings(site, warnings),
    unfinished,
  };
  const text = checkText(result);
  appendStepSummary(cli, text);
  cli.terminal.show(result, () => text);
  return result;
}

/**
 * Looks for pages that are missing; with `--output`, compares the whole output with the record.
 *
 * @returns the pages that only a build can update
 */
async function findPagesToBuild({ output, terminal }: Cli, { manifest }: FetchedChanges) {
  if (output === undefined) return findMissing(manifest);
  const { toBuild, modified } = await compareOutput(manifest);
  if (modified.length > 0) terminal.printError(describeModified(modified));
  return toBuild;
}

/** Lists what earlier commands have left undone. */
async function findUnfinished({ recordFile, manifest }: FetchedChanges, ignoresDeploy: boolean) {
  const unfinished: NotWritten[] = manifest.files
    .filter(({ expectedHashes }) => expectedHashes)
    .map(({ name }) => ({ name, reason: 'was being written when a refresh was interrupted' }));
  if (manifest.afterPending) unfinished.push(afterNotSucceeded);
  if (!ignoresDeploy && (await readDeployed(recordFile))?.hasBegun) unfinished.push(deployPending);
  return unfinished;
}

export function checkText({ compared, changed, warnings, unfinished }: CommandResult<CheckOutput>): string {
  const changes = snippetLines(changed, ' no longer exists, and is optional', ' has changed');
  if (changed.length + unfinished.length > 0) {
    return [...changes, ...describeSnippetWarnings(warnings), ...notWrittenLines(unfinished)].join('\n');
  }
  if (compared === 0) return 'The site shows no snippets.';
  return `Nothing has changed: ${count(compared, 'snippet')} ${compared === 1 ? 'matches' : 'match'} the last build.`;
}
