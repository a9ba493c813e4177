import { compareOutput, describeModified } from '../../output/compare-output.ts';
import { count } from '../../text/format.ts';
import { isInsideCommand, withCommandLock } from '../deploy/command-lock.ts';
import { deploy, deployPending, markForDeploy, readDeployed, refreshPending } from '../deploy/deployments.ts';
import type { CheckOutput } from '../json-output.ts';
import { checkPatience, openChanges } from '../project/fetch-changes.ts';
import { notWrittenLines, shownSnippet, snippetLines } from '../project/lines.ts';
import { readRecord } from '../project/open-project.ts';
import type { Cli } from '../terminal/cli.ts';
import { exitCodes, type Result, toFailureResult } from '../terminal/exit-codes.ts';
import { appendStepSummary } from './step-summary.ts';

/** With `exec`, runs that command if something has changed, and with each check until it succeeds. */
export async function check(cli: Cli, { exec }: { exec?: string }): Promise<undefined> {
  const { terminal } = cli;
  // Inside the command of --exec, that this command has not ended is no reason to fail.
  if (!exec) return void (await showChanges(cli, isInsideCommand(cli)));
  await withCommandLock(cli, async (inner) => {
    const found = await showChanges(inner, false).catch((thrown: unknown) => {
      if (toFailureResult(thrown).exitStatus !== exitCodes.needsBuild) throw thrown;
      terminal.showFailure(thrown);
    });
    if (found?.exitStatus === exitCodes.ok) return;
    const { changed = [], unfinished = [] } = found ?? {};
    const others = unfinished.filter((one) => one !== deployPending);
    if (others.length < unfinished.length) {
      terminal.printError('The last --exec command failed. Running it again.');
    }
    // It is not known which pages use an entry of a collection, or what else is unfinished.
    const isKnown = found && others.length === 0 && changed.every(({ collections }) => !collections[0]);
    await markForDeploy(inner, isKnown ? changed.flatMap(({ pages }) => pages) : undefined);
    const status = await deploy(inner, exec);
    terminal.exitStatus = status;
    const { file, manifest } = await readRecord(inner);
    const failure = `The command of --exec exited with status ${status}. The next check with --exec runs it again.`;
    const missing = `There is still no record of a build at ${file}, so the next check with --exec runs the command again.`;
    if (status !== 0) terminal.printError(failure);
    else if (!found && !manifest) terminal.printError(missing);
  });
}

/** @param isInCommand whether the command of `--exec` runs this. */
async function showChanges(cli: Cli, isInCommand: boolean) {
  const { output, terminal } = cli;
  const options = { patience: checkPatience };
  const { file, manifest, changed } = await openChanges(cli, options, false).catch((thrown: Error) => {
    appendStepSummary(cli, thrown.message);
    throw thrown;
  });
  const nothing = { toBuild: [], modified: [] };
  const { toBuild, modified } = output === undefined ? nothing : await compareOutput(manifest);
  if (modified.length > 0) terminal.printError(describeModified(modified));
  const interrupted = manifest.files.filter(({ expectedHashes }) => expectedHashes);
  const unfinished = [
    ...interrupted.map(({ name }) => ({ name, reason: 'was being written when a refresh was interrupted' })),
    ...(manifest.pending ? [refreshPending] : []),
    ...(!isInCommand && (await readDeployed(file))?.hasBegun ? [deployPending] : []),
    ...toBuild,
  ];
  const isSame = changed.length + unfinished.length === 0;
  const document: Result<CheckOutput> = {
    exitStatus: toBuild.length > 0 ? exitCodes.needsBuild : isSame ? exitCodes.ok : exitCodes.changed,
    compared: manifest.snippets.length,
    changed: changed.map((one) => {
      const { newHash } = one;
      return shownSnippet(manifest, one, { missing: newHash ? undefined : true, newHash });
    }),
    unfinished,
  };
  const text = checkText(document);
  appendStepSummary(cli, text);
  terminal.show(document, () => text);
  return document;
}

export function checkText({ compared, changed, unfinished }: Result<CheckOutput>): string {
  const lines = snippetLines(changed, ' no longer exists, and is optional', ' has changed');
  lines.push(...notWrittenLines(unfinished));
  if (lines.length > 0) return lines.join('\n');
  if (compared === 0) return 'The site shows no snippets.';
  return `Nothing has changed: ${count(compared, 'snippet')} ${compared === 1 ? 'matches' : 'match'} the last build.`;
}
