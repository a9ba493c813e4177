import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { escapeText } from 'entities/escape';
import { compareOutput, describeModified } from '../../output/compare-output.ts';
import { cleanLines } from '../../text/clean-text.ts';
import { count } from '../../text/format.ts';
import { isInsideCommand, withCommandLock } from '../deploy/command-lock.ts';
import { deploy, deployPending, markForDeploy, readDeployed, refreshPending } from '../deploy/deployments.ts';
import type { CheckOutput, NotWritten } from '../json-output.ts';
import { notWrittenLines, snippetLines, toPlacedSnippet } from '../project/describe-snippets.ts';
import { checkPatience, type FetchedChanges, fetchChanges } from '../project/fetch-changes.ts';
import { findRecord, type Project, readProject } from '../project/open-project.ts';
import { exitCodes, toFailureResult } from '../terminal/exit-codes.ts';
import type { Cli, CommandResult } from '../terminal/terminal.ts';

interface CheckOptions {
  /** A command to run if something has changed. */
  exec?: string;
}

/** The command `check`: says which snippets have changed since the site was built. */
export async function check(cli: Cli, { exec }: CheckOptions): Promise<void> {
  if (exec) {
    await checkAndDeploy(cli, exec);
    return;
  }
  const project = await readProject(cli);
  // A command of `--exec` that checks the site has not ended yet. This must not make its check fail.
  const ignoresDeploy = isInsideCommand(cli, project.recordFile);
  await showChanges(cli, project, { ignoresDeploy });
}

/**
 * Checks, and runs a command if something has changed or there is no usable record; again with each check
 * until it succeeds.
 */
async function checkAndDeploy(cli: Cli, exec: string) {
  const { terminal } = cli;
  await withCommandLock(cli, findRecord(cli), async (inner) => {
    const result = await showChanges(inner, await readProject(inner), { ignoresDeploy: false }).catch(
      (thrown: unknown) => {
        if (toFailureResult(thrown).exitStatus !== exitCodes.needsBuild) throw thrown;
        terminal.showFailure(thrown);
        return undefined;
      },
    );
    if (result?.exitStatus === exitCodes.ok) return;

    if (result?.unfinished.includes(deployPending)) {
      terminal.printError('The last --exec command failed. Running it again.');
    }
    await markForDeploy(await readProject(inner), result && changedFilesOf(result));
    const status = await deploy(inner, exec);
    terminal.exitStatus = status;

    // The command may have been a build.
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

/**
 * The files that a deploy is about; `undefined` if not known: which pages show an entry of a collection is
 * not on record.
 */
function changedFilesOf({ changed, unfinished }: CommandResult<CheckOutput>) {
  const isKnown =
    unfinished.every((item) => item === deployPending) &&
    changed.every(({ collections }) => collections.length === 0);
  return isKnown ? changed.flatMap(({ pages }) => pages) : undefined;
}

interface ShowOptions {
  /** Whether a command of `--exec` that has not succeeded counts as fine. */
  ignoresDeploy: boolean;
}

/** Compares the site on record with the service, and shows the result. */
async function showChanges(cli: Cli, project: Project, { ignoresDeploy }: ShowOptions) {
  const options = { forRefresh: false, patience: checkPatience };
  const changes = await fetchChanges(cli, project, options).catch((thrown: Error) => {
    appendStepSummary(cli, thrown.message);
    throw thrown;
  });
  const { manifest, changed } = changes;

  const toBuild = await findPagesToBuild(cli, changes);
  const unfinished = [...(await findUnfinished(changes, ignoresDeploy)), ...toBuild];
  let exitStatus: number = exitCodes.ok;
  if (changed.length + unfinished.length > 0) exitStatus = exitCodes.changed;
  if (toBuild.length > 0) exitStatus = exitCodes.needsBuild;

  const result: CommandResult<CheckOutput> = {
    exitStatus,
    compared: manifest.snippets.length,
    changed: changed.map((snippet) => {
      const { newHash } = snippet;
      return toPlacedSnippet(manifest, snippet, { missing: newHash ? undefined : true, newHash });
    }),
    unfinished,
  };
  const text = checkText(result);
  appendStepSummary(cli, text);
  cli.terminal.show(result, () => text);
  return result;
}

/**
 * Compares the files of the output with the record, if `--output` names the output. Otherwise a check is
 * about the record alone.
 */
async function findPagesToBuild({ output, terminal }: Cli, { manifest }: FetchedChanges) {
  if (output === undefined) return [];
  const { toBuild, modified } = await compareOutput(manifest);
  if (modified.length > 0) terminal.printError(describeModified(modified));
  return toBuild;
}

/** Lists what earlier commands have left undone. */
async function findUnfinished({ recordFile, manifest }: FetchedChanges, ignoresDeploy: boolean) {
  const unfinished: NotWritten[] = manifest.files
    .filter(({ expectedHashes }) => expectedHashes)
    .map(({ name }) => ({ name, reason: 'was being written when a refresh was interrupted' }));
  if (manifest.pending) unfinished.push(refreshPending);
  if (!ignoresDeploy && (await readDeployed(recordFile))?.hasBegun) unfinished.push(deployPending);
  return unfinished;
}

export function checkText({ compared, changed, unfinished }: CommandResult<CheckOutput>): string {
  const endings = { missing: ' no longer exists, and is optional', existing: ' has changed' };
  const lines = [...snippetLines(changed, endings), ...notWrittenLines(unfinished)];
  if (lines.length > 0) return lines.join('\n');
  if (compared === 0) return 'The site shows no snippets.';
  return `Nothing has changed: ${count(compared, 'snippet')} ${compared === 1 ? 'matches' : 'match'} the last build.`;
}

/**
 * The longest text, in characters. GitHub refuses a summary of more than 1 MiB, and an escaped character
 * takes at most six bytes.
 */
const maxSummaryLength = 100_000;

/**
 * Adds text to the job summary of GitHub Actions, if the command runs there. A summary that cannot be written
 * does not fail the check.
 */
export function appendStepSummary({ cwd, env, terminal }: Cli, text: string): void {
  const file = env['GITHUB_STEP_SUMMARY'];
  if (!file) return;
  const note = text.length > maxSummaryLength ? '\n… The rest is in the log of this step.' : '';
  // The text contains names from outside. Nothing in a `<pre>` element is read as Markdown, and no escaped
  // text as HTML.
  const html = escapeText(cleanLines(text.slice(0, maxSummaryLength) + note));
  try {
    appendFileSync(resolve(cwd, file), `### Snippets\n\n<pre>${html}</pre>\n\n`);
  } catch (error) {
    terminal.printError(`The step summary could not be written: ${(error as NodeJS.ErrnoException).code}`);
  }
}
