import { appendFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { escapeText } from 'entities/escape';
import { describeChanged, lookAtOutput } from '../build/output-state.ts';
import { cleanLines } from '../client/clean-text.ts';
import { count } from '../client/format.ts';
import type { CheckOutput } from './cli-output.ts';
import { addDue, deploy, readDeployed } from './deployed.ts';
import { exitCodes, explain, notWrittenLines, type Result, shownPlaces, snippetText } from './output.ts';
import { checkPatience, findManifest, manifestPath, openChanges } from './project.ts';
import { commandPending } from './refresh.ts';
import { isInside, whileAlone } from './run-command.ts';
import type { CliContext } from './terminal.ts';

const deployPending = {
  name: 'The last --exec command',
  reason: 'has not succeeded, so the site is still to be deployed',
};

export async function check(context: CliContext, exec?: string): Promise<Result<CheckOutput>> {
  const { file, manifest, changed } = await openChanges(context, checkPatience).catch(
    async (thrown: Error) => {
      await appendStepSummary(context, thrown.message);
      throw thrown;
    },
  );
  const { toBuild, changed: written } =
    context.output === undefined ? { toBuild: [], changed: [] } : await lookAtOutput(manifest);
  if (written.length > 0) context.terminal.printError(describeChanged(written));
  // A check that the command of --exec runs must not fail because that command has not ended.
  const isOfCommand = exec === undefined && isInside(context);
  const unfinished = [
    ...manifest.files
      .filter(({ next }) => next !== undefined)
      .map(({ name }) => ({ name, reason: 'was being written when a refresh was interrupted' })),
    ...(manifest.pending ? [commandPending] : []),
    ...(!isOfCommand && (await readDeployed(file))?.hasBegun ? [deployPending] : []),
    ...toBuild,
  ];
  const isSame = changed.length + unfinished.length === 0;
  const document: Result<CheckOutput> = {
    exitStatus: toBuild.length > 0 ? exitCodes.needsBuild : isSame ? exitCodes.ok : exitCodes.changed,
    compared: manifest.snippets.length,
    changed: changed.map(({ recorded: { id, params }, newHash, ...places }) => ({
      id,
      params,
      missing: newHash === undefined ? true : undefined,
      newHash,
      ...shownPlaces(manifest, places),
    })),
    unfinished,
  };
  await appendStepSummary(context, checkText(document));
  return document;
}

export function checkText({ compared, changed, unfinished }: Result<CheckOutput>): string {
  if (compared === 0 && unfinished.length === 0) return 'The site shows no snippets.';
  if (changed.length + unfinished.length === 0) {
    return `Nothing has changed: ${count(compared, 'snippet')} ${compared === 1 ? 'matches' : 'match'} the last build.`;
  }
  const lines = changed.map((snippet) =>
    snippetText(snippet, snippet.missing ? ' no longer exists, and is optional' : ' has changed'),
  );
  return [...lines, ...notWrittenLines(unfinished)].join('\n');
}

// GitHub refuses a summary of more than 1 MiB as a whole. Escaped, a character takes at most six bytes.
const maxSummary = 100_000;

/** Under GitHub Actions, adds a text to the summary of the run. A summary that fails fails no check. */
export async function appendStepSummary({ cwd, env, terminal }: CliContext, text: string): Promise<void> {
  const file = env['GITHUB_STEP_SUMMARY'];
  if (!file) return;
  const more = text.length > maxSummary ? '\n… The rest is in the log of this step.' : '';
  // In this element, nothing is taken for Markdown. Names come from outside.
  const shown = escapeText(cleanLines(text.slice(0, maxSummary) + more));
  try {
    await appendFile(resolve(cwd, file), `### Snippets\n\n<pre>${shown}</pre>\n\n`);
  } catch (error) {
    terminal.printError(`The step summary could not be written: ${(error as NodeJS.ErrnoException).code}`);
  }
}

/** Runs the command unless nothing has changed, and again with each check until it has succeeded. @returns its status, or 0. */
export function checkAndRun(context: CliContext, exec: string, fail: (thrown: unknown) => void) {
  const { terminal } = context;
  return whileAlone(context, async (inner): Promise<number> => {
    const found = await check(inner, exec).catch((thrown: unknown) => {
      if (explain(thrown).exitStatus !== exitCodes.needsBuild) throw thrown;
      fail(thrown);
    });
    if (found) terminal.printDocument(found, checkText);
    if (found?.exitStatus === exitCodes.ok) return exitCodes.ok;
    const { changed = [], unfinished = [] } = found ?? {};
    if (unfinished.includes(deployPending)) {
      terminal.printError('The last --exec command failed. Running it again.');
    }
    // Which pages use an entry of a collection, and what else is unfinished, is not known.
    const isKnown =
      found !== undefined &&
      unfinished.every((one) => one === deployPending) &&
      changed.every(({ collections }) => collections.length === 0);
    const record = manifestPath(context);
    await addDue(record, isKnown ? changed.flatMap(({ pages }) => pages) : undefined);
    const status = await deploy(inner, exec);
    if (status !== 0) {
      terminal.printError(
        `The command of --exec exited with status ${status}. The next check with --exec runs it again.`,
      );
    } else if (found === undefined && (await findManifest(context)) === undefined) {
      terminal.printError(
        `There is still no record of a build at ${record}, so the next check with --exec runs the command again.`,
      );
    }
    return status;
  });
}
