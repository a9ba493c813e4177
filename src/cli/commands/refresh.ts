import { readFile } from 'node:fs/promises';
import { nameSnippet } from '../../failures/name-snippet.ts';
import { warningLines } from '../../failures/snippet-warning.ts';
import { describeOtherOwners } from '../../files/write.ts';
import { describeModified } from '../../output/compare-output.ts';
import { displayedHash, pageHashOf, shownHash } from '../../record/changes.ts';
import { waitForLock, waitUntilFree } from '../../record/lock.ts';
import type { Manifest } from '../../record/manifest.ts';
import { writeManifest } from '../../record/manifest-file.ts';
import { OutputLock } from '../../record/output-lock.ts';
import type { RefreshPlan } from '../../refresh/plan-refresh.ts';
import { count } from '../../text/format.ts';
import { waitOptions, withCommandLock } from '../deploy/command-lock.ts';
import { afterNotSucceeded, markForDeploy, readDeployed } from '../deploy/deployments.ts';
import { runWithLists } from '../deploy/run-command.ts';
import type { NotWritten, RefreshOutput } from '../json-output.ts';
import { notWrittenLines, toShownFile } from '../project/describe-snippets.ts';
import { describeSnippetWarnings, toWarnings } from '../project/describe-warnings.ts';
import { type FetchedChanges, fetchChanges } from '../project/fetch-changes.ts';
import { findRecord, readProject } from '../project/open-project.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { appendStepSummary } from '../terminal/step-summary.ts';
import type { Cli, CommandResult } from '../terminal/terminal.ts';
import { diffSnippets } from './diff-snippets.ts';

export interface RefreshOptions {
  /** Whether to say what would be written, and write nothing. */
  dryRun?: boolean;
  /** Whether to update the other pages if some need a build. If `false`, nothing is written in that case. */
  skipModified?: boolean;
  /** The command that renews what was made from the pages, such as a search index. */
  after?: string;
  /** How long to try a service that gives no answer, in milliseconds. @default as long as a build */
  patience?: number;
}

export interface RefreshResult {
  result: CommandResult<RefreshOutput>;
  /** The hashes of the contents of all snippets in one text, which changes when any content does. */
  contentsKey: string;
}

/** The outcome of a refresh before the command of `--after` runs; or of a dry run, which only plans. */
interface RefreshOutcome extends Pick<RefreshOutput, 'written' | 'warnings' | 'notWritten' | 'diffs'> {
  /** A message that nothing was written, with advice; `undefined` if all that can be updated was written. */
  refusal: string | undefined;
  /** Whether the command of `--after` has to run, since pages were written or it has not succeeded before. */
  needsAfter: boolean;
}

/** The command `refresh`: writes changed snippets into the pages of a built site. */
export async function refresh(cli: Cli, options: RefreshOptions): Promise<void> {
  const { result } = await refreshSite(cli, options).catch((thrown: Error) => {
    appendStepSummary(cli, thrown.message);
    throw thrown;
  });
  appendStepSummary(cli, summaryText(result));
  if (result.after?.exitStatus) cli.terminal.printError(result.nextStep ?? '');
  cli.terminal.show(result, () => refreshText(result));
}

/** What the job summary says: besides what is printed, the warnings and what to do next. */
function summaryText(result: CommandResult<RefreshOutput>) {
  const { warnings, after, nextStep } = result;
  const failure = after?.exitStatus ? nextStep : undefined;
  return [refreshText(result), ...describeSnippetWarnings(warnings), failure].filter(Boolean).join('\n');
}

function refreshText(result: CommandResult<RefreshOutput>) {
  const { dryRun, written, notWritten, diffs = [], after, nextStep = '' } = result;
  const lines: string[] = [];
  for (const { patch, pages, ...request } of diffs) {
    const indented = patch.trimEnd().replace(/^/gm, '    ');
    lines.push(`${nameSnippet(request, Infinity)}, on ${count(pages.length, 'page')}`, indented);
  }
  for (const { file } of written) lines.push(dryRun ? `${file} would be written` : `Updated ${file}`);
  lines.push(...notWrittenLines(notWritten));
  // If the command of `--after` failed, `refresh` prints the next step to standard error instead.
  if (nextStep && !after?.exitStatus) lines.push(nextStep);
  if (lines.length === 0 && !after) return 'Nothing has changed.';
  return lines.join('\n');
}

/** Writes changed snippets into the pages of a built site, and runs the command of `--after`. */
export async function refreshSite(cli: Cli, options: RefreshOptions): Promise<RefreshResult> {
  // The whole refresh keeps to one record. While another process builds the site, its record is missing, and
  // looking again would find that of another output.
  const recordFile = await findRecord(cli);
  const pinned: Cli = { ...cli, manifest: recordFile };
  await waitUntilFree(new OutputLock(recordFile, undefined), waitOptions(cli));

  if (!options.after || options.dryRun) return planAndWrite(pinned, recordFile, options);
  // The lock is taken before planning: a plan must not contain what another refresh's command is renewing.
  return withCommandLock(pinned, recordFile, (inner) => planAndWrite(inner, recordFile, options));
}

/** @param cli its `manifest` is the path of the record */
async function planAndWrite(cli: Cli, recordFile: string, options: RefreshOptions): Promise<RefreshResult> {
  const { after, dryRun, patience } = options;
  const readRecordText = () => readFile(recordFile, 'utf8').catch(() => '');
  const plannedRecord = await readRecordText();
  const changes = await fetchChanges(cli, await readProject(cli), { forRefresh: true, dryRun, patience });

  const lock = dryRun ? undefined : await lockOutput(cli, changes);
  let outcome: RefreshOutcome | undefined;
  try {
    const isUnchanged = plannedRecord === (await readRecordText());
    if (isUnchanged) outcome = await writeChanges(cli, changes, options);
  } finally {
    lock?.release();
  }
  // Another process has written the record meanwhile, so the plan is outdated: start again.
  if (!outcome) return planAndWrite(cli, recordFile, options);

  const afterStatus = after && outcome.needsAfter ? await runAfter(cli, changes, after, outcome) : undefined;
  const contentsKey = changes.currentContents.map(pageHashOf).join();
  return { result: toResult(outcome, dryRun, afterStatus), contentsKey };
}

const lockOutput = (cli: Cli, { recordFile, manifest }: FetchedChanges) =>
  waitForLock(new OutputLock(recordFile, manifest.output), 'refresh', waitOptions(cli));

/** Runs the command of `--after`, and notes its success. It may be a build, which locks the output itself. */
async function runAfter(
  cli: Cli,
  changes: FetchedChanges,
  command: string,
  { written, warnings }: RefreshOutcome,
) {
  // If the `--after` command of an earlier refresh failed, what it was run for is not on record: it may be any file.
  const files = changes.manifest.afterPending ? undefined : written;
  const status = await runWithLists(cli, command, { files, warnings });
  if (status !== 0) return status;

  const lock = await lockOutput(cli, changes);
  try {
    // The command may have been a build, so the record is read again.
    const { recordFile, manifest } = await readProject(cli);
    if (manifest?.afterPending) writeManifest(recordFile, { ...manifest, afterPending: undefined });
  } finally {
    lock.release();
  }
  return status;
}

function toResult(
  { written, warnings, notWritten, diffs, refusal }: RefreshOutcome,
  dryRun = false,
  afterStatus?: number,
): CommandResult<RefreshOutput> {
  let exitStatus: number = exitCodes.ok;
  let nextStep: string | undefined;
  if (notWritten.length > 0) {
    exitStatus = exitCodes.needsBuild;
    nextStep = refusal ?? 'Build the site to update these pages too.';
  }
  if (afterStatus) {
    exitStatus = exitCodes.failed;
    nextStep = `The pages are written, but the command of --after exited with status ${afterStatus}, so what was made from them may be out of date. Fix the command and refresh with --after again: it is run even if nothing else has changed.`;
  }
  const after = afterStatus === undefined ? undefined : { exitStatus: afterStatus };
  return { exitStatus, dryRun, written, warnings, notWritten, diffs, nextStep, after };
}

/** Plans the refresh, and writes the pages unless some of them need a build or a command of `--after`. */
async function writeChanges(
  cli: Cli,
  changes: FetchedChanges,
  { dryRun = false, skipModified = false, after }: RefreshOptions,
): Promise<RefreshOutcome> {
  const { manifest, imageWarnings } = changes;
  for (const line of warningLines(imageWarnings)) cli.terminal.printError(line);
  // Loaded only here, as a refresh that cannot fetch the snippets does not need this module.
  const { planRefresh } = await import('../../refresh/plan-refresh.ts');
  const plan = await planRefresh(changes);
  const { toBuild, modified } = plan;
  if (modified.length > 0) cli.terminal.printError(describeModified(modified));

  const outdated = after ? [] : listNotRenewed(plan, manifest);
  const isRefused = outdated.length > 0 || (toBuild.length > 0 && !skipModified);
  const pages = isRefused ? [] : plan.pages;
  const isDue = pages.length > 0;
  const warnings = isDue ? [...changes.warnings, ...plan.warnings] : [];
  for (const line of warningLines(warnings)) cli.terminal.printError(line);
  const notWritten = isDue && !dryRun ? await writePages(cli, changes, plan, after) : [];

  const namesNotWritten = new Set(notWritten.map(({ name }) => name));
  const written = pages.filter(({ page }) => !namesNotWritten.has(page.name));
  const namesWritten = new Set(written.map(({ page }) => page.name));
  return {
    written: written.flatMap((page) => toWrittenFiles(changes, page)),
    warnings: toWarnings({ ...manifest, names: changes.names }, warnings, namesWritten),
    notWritten: [...toBuild, ...outdated, ...notWritten],
    diffs: dryRun ? await diffSnippets(changes, plan) : undefined,
    refusal: isRefused ? describeRefusal(plan, outdated, dryRun) : undefined,
    needsAfter: !dryRun && !isRefused && (pages.length > 0 || manifest.afterPending === true),
  };
}

/** Without `--after`: lists what is made from pages, such as a search index, and would be out of date. */
function listNotRenewed({ derivedFiles }: RefreshPlan, { afterPending }: Manifest): NotWritten[] {
  if (derivedFiles.length === 0 && afterPending) return [afterNotSucceeded];
  return derivedFiles.map(({ name, reason }) => ({ name, reason }));
}

/** @returns pages that were changed by another process meanwhile, and left alone */
async function writePages(cli: Cli, changes: FetchedChanges, plan: RefreshPlan, after: string | undefined) {
  const { writeRefresh } = await import('../../refresh/write-refresh.ts');
  const { cwd, recordFile, manifest } = changes;
  if (await readDeployed(recordFile)) {
    // Files that were made from pages are not in the manifest, so they are marked here for the next deploy.
    // Files in an adapter's copy of the output are not part of the output.
    const renewed = plan.derivedFiles
      .filter(({ isCopy }) => !isCopy)
      .map(({ name }) => toShownFile(manifest, name));
    await markForDeploy({ cwd, recordFile, manifest }, renewed);
  }
  const { leftAlone, otherOwners } = await writeRefresh(changes, plan, after !== undefined);
  if (otherOwners.length > 0) cli.terminal.printError(describeOtherOwners(otherOwners));
  return leftAlone;
}

/** A page, and the other names by which the output has it. Compressed files are left out: they have its URL. */
function toWrittenFiles(
  { manifest, names, currentContents }: FetchedChanges,
  { page, changed, copies }: RefreshPlan['pages'][number],
): RefreshOutput['written'] {
  const snippets = changed.flatMap((index) => {
    const { id, params } = manifest.snippets[index] ?? {};
    if (id === undefined) return [];
    const oldHash = displayedHash(manifest, page, index);
    return { id, params, name: names?.[id], oldHash, newHash: shownHash(page.name, currentContents[index]) };
  });
  const copyNames = copies.map(({ name }) => name).filter((name) => page.copies?.includes(name));
  return [page.name, ...copyNames].map((name) => ({ ...toShownFile(manifest, name), snippets }));
}

/** The message that nothing is written, with advice. */
function describeRefusal(
  { toBuild, derivedFiles }: RefreshPlan,
  outdated: readonly NotWritten[],
  dryRun: boolean,
) {
  const advice = `Nothing ${dryRun ? 'would be' : 'was'} written. Build the site`;
  if (outdated.length === 0) return `${advice}, or update the other pages with --skip-modified.`;
  if (toBuild.length > 0) return `${advice}.`;
  if (derivedFiles.length === 0) return `${advice}, or refresh with the same --after again.`;
  // Where no command is known that renews a file, a placeholder names the file.
  const commands = derivedFiles.map(({ name, rebuild }) => rebuild ?? `<the command that writes ${name}>`);
  return `${advice}, or refresh with a command that renews what was made from its pages: --after '${commands.join(' && ')}'`;
}
