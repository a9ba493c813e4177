import { readFile } from 'node:fs/promises';
import { describeModified } from '../../output/compare-output.ts';
import { displayedHash, findChangedSnippets } from '../../record/changes.ts';
import { waitForLock, waitUntilFree } from '../../record/lock.ts';
import { writeManifest } from '../../record/manifest-file.ts';
import { lockFile, possibleLockFiles } from '../../record/record-paths.ts';
import type { RefreshPlan } from '../../refresh/plan-refresh.ts';
import { count } from '../../text/format.ts';
import { waitOptions, withCommandLock } from '../deploy/command-lock.ts';
import { markForDeploy, readDeployed, refreshPending } from '../deploy/deployments.ts';
import { runWithLists } from '../deploy/run-command.ts';
import type { NotWritten, RefreshOutput } from '../json-output.ts';
import { type OpenedChanges, openChanges, type RefreshOptions } from '../project/fetch-changes.ts';
import { describeSnippet, notWrittenLines, shownFile } from '../project/lines.ts';
import { manifestPath, readRecord } from '../project/open-project.ts';
import type { Cli } from '../terminal/cli.ts';
import { exitCodes, type Result } from '../terminal/exit-codes.ts';

export async function refresh(cli: Cli, options: RefreshOptions): Promise<void> {
  const { document } = await refreshSite(cli, options);
  const { dryRun, written, notWritten, diffs = [], after, nextStep = '' } = document;
  if (after?.exitStatus) cli.terminal.printError(nextStep);
  cli.terminal.show(document, () => {
    const lines = [
      ...diffs.flatMap(({ patch, pages, ...request }) => [
        `${describeSnippet(request)}, on ${count(pages.length, 'page')}`,
        patch.trimEnd().replace(/^/gm, '    '),
      ]),
      ...written.map(({ file }) => (dryRun ? `${file} would be written` : `Updated ${file}`)),
      ...notWrittenLines(notWritten),
      after?.exitStatus ? '' : nextStep,
    ];
    return lines.filter(Boolean).join('\n') || (after ? '' : 'Nothing has changed.');
  });
}

/** @returns the document, and a text that changes with each snippet. */
export async function refreshSite(cli: Cli, options: RefreshOptions): Promise<Refreshed> {
  // During a build, which has no record, another one would be found.
  const pinned = { ...cli, manifest: manifestPath(cli) };
  for (const lock of possibleLockFiles(pinned.manifest)) await waitUntilFree(lock, waitOptions(cli));
  // From before the plan: it must not have what another command is renewing.
  const isAlone = options.after && !options.dryRun;
  return isAlone
    ? withCommandLock(pinned, (inner) => planAndWrite(inner, options))
    : planAndWrite(pinned, options);
}

type Refreshed = { document: Result<RefreshOutput>; published: string };

async function planAndWrite(cli: Cli, options: RefreshOptions): Promise<Refreshed> {
  const { after, dryRun } = options;
  const file = manifestPath(cli);
  const readText = () => readFile(file, 'utf8').catch(() => '');
  const before = await readText();
  const changes = await openChanges(cli, options, true);
  const { manifest, now } = changes;
  const outputLock = lockFile(file, manifest.outDir);
  const locked = async <T>(work: () => Promise<T>) => {
    const lock = dryRun ? undefined : await waitForLock(outputLock, 'refresh', waitOptions(cli));
    return work().finally(() => lock?.release());
  };
  // Another process may have written since, and needs another plan.
  const written = await locked(async () =>
    before === (await readText()) ? writeChanges(cli, changes, options) : undefined,
  );
  if (!written) return planAndWrite(cli, options);
  const { document, runsCommand } = written;
  if (after && runsCommand) {
    // Without the lock, as it may be a build. Nothing says what an earlier command was about.
    const exitStatus = await runWithLists(cli, after, manifest.pending ? undefined : document.written);
    document.after = { exitStatus };
    if (exitStatus === 0) {
      await locked(async () => {
        const { manifest: last } = await readRecord(cli);
        if (last?.pending) writeManifest(file, { ...last, pending: undefined });
      });
    } else {
      document.exitStatus = exitCodes.failed;
      document.nextStep = `The pages are written, but the command of --after exited with status ${exitStatus}, so what was made from them may be out of date. Fix the command and refresh with --after again: it is run even if nothing else has changed.`;
    }
  }
  return { document, published: now.map((content) => content?.hash).join() };
}

async function writeChanges(cli: Cli, changes: OpenedChanges, options: RefreshOptions) {
  const { file, manifest, now, warnings } = changes;
  const { dryRun = false, skipModified = false, after } = options;
  // A check does without it.
  const { planRefresh } = await import('../../refresh/plan-refresh.ts');
  const { writeRefresh } = await import('../../refresh/write-refresh.ts');
  const plan = await planRefresh(changes);
  const { stale, toBuild, modified } = plan;
  if (modified.length > 0) cli.terminal.printError(describeModified(modified));
  // Out of date unless a command renews it.
  const outdated: NotWritten[] = stale.map(({ name, reason }) => ({ name, reason }));
  if (manifest.pending && outdated.length === 0) outdated.push(refreshPending);
  const refused = after ? [] : outdated;
  const isRefused = refused.length > 0 || (toBuild.length > 0 && !skipModified);
  const pages = isRefused ? [] : plan.pages;
  let leftAlone: NotWritten[] = [];
  if (pages.length > 0 && !dryRun) {
    // These are in no record.
    const renewed = stale.filter(({ isCopy }) => !isCopy).map(({ name }) => shownFile(manifest, name));
    if (await readDeployed(file)) await markForDeploy(cli, renewed);
    for (const warning of warnings) cli.terminal.printError(warning);
    leftAlone = await writeRefresh(changes, plan, after !== undefined);
  }
  const notWritten = [...toBuild, ...refused, ...leftAlone];
  const refusal = `Nothing ${dryRun ? 'would be' : 'was'} written. Build the site${otherWay(plan, refused)}`;
  const advice = notWritten.length > 0 ? 'Build the site to update these pages too.' : undefined;
  const document: Result<RefreshOutput> = {
    exitStatus: notWritten.length > 0 ? exitCodes.needsBuild : exitCodes.ok,
    dryRun,
    written: pages
      .filter(({ page }) => !leftAlone.some(({ name }) => name === page.name))
      .map(({ page, changed }) => ({
        ...shownFile(manifest, page.name),
        snippets: changed.flatMap((index) => {
          const { id, params } = manifest.snippets[index] ?? {};
          const oldHash = displayedHash(manifest, page, index);
          return id === undefined ? [] : [{ id, params, oldHash, newHash: now[index]?.hash }];
        }),
      })),
    notWritten,
    diffs: dryRun ? await diffsOf(changes, plan) : undefined,
    nextStep: isRefused ? refusal : advice,
  };
  return { document, runsCommand: !dryRun && !isRefused && (pages.length > 0 || manifest.pending === true) };
}

function otherWay({ toBuild, stale }: RefreshPlan, refused: readonly NotWritten[]) {
  if (refused.length === 0) return ', or update the other pages with --skip-modified.';
  if (toBuild.length > 0) return '.';
  if (stale.length === 0) return ', or refresh with the same --after again.';
  const commands = stale.map(({ name, rebuild }) => rebuild ?? `<the command that writes ${name}>`);
  return `, or refresh with a command that renews what was made from its pages: --after '${commands.join(' && ')}'`;
}

async function diffsOf({ manifest, fetched, now }: OpenedChanges, { pages: planned }: RefreshPlan) {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY: headerOptions } = await import('diff');
  const files = planned.map(({ page }) => page);
  const shown = findChangedSnippets({ ...manifest, files, collections: [] }, now);
  const linesOf = (text: string) => count(text.replace(/\n$/, '').split('\n').length, 'line');
  return shown.flatMap(({ recorded: { id, params, key, content }, pages }) => {
    const before = content?.text ?? '';
    const after = fetched.get(key)?.content ?? '';
    // What a page shows that the last refresh left out is not recorded.
    if (before === after) return [];
    // In lines. The time grows with the square.
    const limits = { context: 2, headerOptions, maxEditLength: 1_000 };
    const patch =
      createTwoFilesPatch('on the site', 'published', before, after, '', '', limits) ??
      `--- on the site\n+++ published\nToo different to compare line by line: ${linesOf(before)} before, ${linesOf(after)} after.\n`;
    const shownPages = pages.map((name) => shownFile(manifest, name));
    // Content need not end with a line break.
    return { id, params, pages: shownPages, patch: patch.replaceAll('\n\\ No newline at end of file', '') };
  });
}
