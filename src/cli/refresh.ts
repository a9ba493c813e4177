import { readFile } from 'node:fs/promises';
import { describeChanged, type PageToBuild } from '../build/output-state.ts';
import { planRefresh, type RefreshPlan, writeRefresh } from '../build/refresh.ts';
import { count } from '../client/format.ts';
import { hashShown, readManifest, shownOn, writeManifest } from '../record/manifest.ts';
import { lockFile, possibleLockFiles, waitForLock, waitUntilFree } from '../record/output-lock.ts';
import type { RefreshOutput } from './cli-output.ts';
import { addDue, readDeployed } from './deployed.ts';
import { exitCodes, nameOf, notWrittenLines, type Result, shownFile } from './output.ts';
import { manifestPath, type OpenedChanges, openChanges } from './project.ts';
import { runWithLists, waiting, whileAlone } from './run-command.ts';
import type { CliContext } from './terminal.ts';

export interface RefreshOptions {
  dryRun?: boolean;
  skipModified?: boolean;
  after?: string;
  /** How long a service that gives no answer is tried, in milliseconds. @default the build's */
  patience?: number;
}

/** The command of an earlier refresh was interrupted, or has failed. */
export const commandPending: PageToBuild = {
  name: 'The command of the last refresh --after',
  reason: 'has not succeeded yet',
};

export function refreshText(document: Result<RefreshOutput>): string {
  const { dryRun, written, notWritten, diffs = [], after, nextStep = '' } = document;
  const isEmpty = written.length + notWritten.length === 0 && after === undefined;
  const lines = [
    ...diffs.flatMap(({ patch, pages, ...request }) => [
      `${nameOf(request)}, on ${count(pages.length, 'page')}`,
      patch.trimEnd().replace(/^/gm, '    '),
    ]),
    ...written.map(({ file }) => (dryRun ? `${file} would be written` : `Updated ${file}`)),
    ...notWrittenLines(notWritten),
    isEmpty ? 'Nothing has changed.' : '',
    // Printed as an error otherwise.
    after?.exitStatus ? '' : nextStep,
  ];
  return lines.filter(Boolean).join('\n');
}

/** @returns with the document, a text that changes with each snippet of the site that is published. */
export async function refresh(context: CliContext, options: RefreshOptions) {
  const { after, dryRun = false, patience } = options;
  const file = manifestPath(context);
  const readRecord = () => readFile(file, 'utf8').catch(() => '');
  const update = async (inner: CliContext) => {
    for (;;) {
      const before = await readRecord();
      const changes = await openChanges({ ...inner, manifest: file }, patience, options);
      const outputLock = lockFile(file, changes.manifest.outDir);
      const locked = async <T>(work: () => Promise<T>) => {
        const lock = dryRun ? undefined : await waitForLock(outputLock, 'refresh', waiting(inner));
        return work().finally(() => lock?.release());
      };
      // Another process may have written since, so the plan has to be made for that.
      const written = await locked(async () =>
        before === (await readRecord()) ? writeChanges(inner, changes, options) : undefined,
      );
      if (written === undefined) continue;
      const { document, runsCommand } = written;
      const published = changes.now.map((content) => content?.hash).join();
      if (after === undefined || !runsCommand) return { document, published };
      // What an earlier command that failed was about is not on record.
      const changed = changes.manifest.pending ? undefined : document.written;
      // Without the lock of the output: the command may be a build, which takes it itself.
      const exitStatus = await runWithLists(inner, after, changed);
      document.after = { exitStatus };
      if (exitStatus === 0) {
        await locked(async () => {
          const { manifest } = await readManifest(file);
          if (manifest?.pending) writeManifest(file, { ...manifest, pending: undefined });
        });
      } else {
        document.exitStatus = exitCodes.failed;
        document.nextStep = `The pages are written, but the command of --after exited with status ${exitStatus}, so what was made from them may be out of date. Fix the command and refresh with --after again: it is run even if nothing else has changed.`;
      }
      return { document, published };
    }
  };
  // A build that is running has removed the record, and writes a new one.
  for (const lock of possibleLockFiles(file)) await waitUntilFree(lock, waiting(context));
  // From before the plan: what one command is renewing must not be in the plan of another refresh.
  return after === undefined || dryRun ? update(context) : whileAlone(context, update);
}

async function writeChanges(context: CliContext, changes: OpenedChanges, options: RefreshOptions) {
  const { file, manifest, now, warnings } = changes;
  const { dryRun = false, skipModified = false, after } = options;
  const { terminal, cwd } = context;
  const site = { ...changes, cwd };
  const plan = await planRefresh(site);
  const { stale, toBuild } = plan;
  if (plan.changed.length > 0) terminal.printError(describeChanged(plan.changed));
  // What is, or would be, out of date without a command that renews it.
  const outdated = stale.map(({ name, reason }) => ({ name, reason }));
  if (manifest.pending && outdated.length === 0) outdated.push(commandPending);
  const refused = after === undefined ? outdated : [];
  const isRefused = refused.length > 0 || (toBuild.length > 0 && !skipModified);
  const pages = isRefused ? [] : plan.pages;
  const leftAlone: PageToBuild[] = [];
  if (pages.length > 0 && !dryRun) {
    // They are in no record.
    const renewed = stale.filter(({ isCopy }) => !isCopy).map(({ name }) => shownFile(manifest, name));
    if (await readDeployed(file)) await addDue(file, renewed);
    for (const warning of warnings) terminal.printError(warning);
    leftAlone.push(...(await writeRefresh(site, plan, after !== undefined)));
  }
  const written = pages.filter(({ page }) => !leftAlone.some(({ name }) => name === page.name));
  const notWritten = [...toBuild, ...refused, ...leftAlone];
  let nextStep: string | undefined;
  if (isRefused)
    nextStep = `Nothing ${dryRun ? 'would be' : 'was'} written. Build the site${otherWay(plan, refused)}`;
  else if (notWritten.length > 0) nextStep = 'Build the site to update these pages too.';
  const document: Result<RefreshOutput> = {
    exitStatus: notWritten.length > 0 ? exitCodes.needsBuild : exitCodes.ok,
    dryRun,
    written: written.map(({ page, changed }) => ({
      ...shownFile(manifest, page.name),
      snippets: changed.flatMap((index) => {
        const { id, params } = manifest.snippets[index] ?? {};
        const oldHash = hashShown(manifest, page, index);
        return id === undefined ? [] : [{ id, params, oldHash, newHash: now[index]?.hash }];
      }),
    })),
    notWritten,
    diffs: dryRun ? await diffsOf(changes, plan) : undefined,
    nextStep,
  };
  return { document, runsCommand: !dryRun && !isRefused && (pages.length > 0 || manifest.pending === true) };
}

/** The end of a sentence about what helps: besides a build, there may be another way. */
function otherWay({ toBuild, stale }: RefreshPlan, refused: readonly PageToBuild[]): string {
  if (refused.length === 0) return ', or update the other pages with --skip-modified.';
  if (toBuild.length > 0) return '.';
  if (stale.length === 0) return ', or refresh with the same --after again.';
  // A placeholder stands for a command that cannot be known here.
  const commands = stale.map(({ name, rebuild }) => rebuild ?? `<the command that writes ${name}>`);
  return `, or refresh with a command that renews what was made from its pages: --after '${commands.join(' && ')}'`;
}

// In lines that are removed or added. The time for a comparison grows with its square.
const maxEdits = 1_000;

/** For each way that a snippet changes on these pages, a unified diff of its content. */
async function diffsOf({ manifest, fetched, now }: OpenedChanges, plan: RefreshPlan) {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import('diff');
  const files = plan.pages.map(({ page }) => page);
  const shown = shownOn({ ...manifest, files, collections: [] }, now);
  return shown.flatMap(({ recorded: { id, params, key, content }, pages }) => {
    const [before, after] = [content?.text ?? '', fetched.get(key)?.content ?? ''] as const;
    // What a page shows that the last refresh left out is not recorded.
    if (before === after) return [];
    const [was, is] = [before, after].map((text) =>
      count(text.replace(/\n$/, '').split('\n').length, 'line'),
    );
    const patch =
      createTwoFilesPatch('on the site', 'published', before, after, '', '', {
        context: 2,
        headerOptions: FILE_HEADERS_ONLY,
        maxEditLength: maxEdits,
      }) ??
      `--- on the site\n+++ published\nToo different to compare line by line: ${was} before, ${is} after.\n`;
    return {
      id,
      params,
      pages: pages.map((name) => shownFile(manifest, name)),
      // Content is not a file: whether it ends with a line break does not matter.
      patch: patch.replaceAll('\n\\ No newline at end of file', ''),
    };
  });
}
