import { readFile } from 'node:fs/promises';
import { describeChanged } from '../build/output-state.ts';
import {
  type PageToBuild,
  planRefresh,
  type RefreshedPage,
  type RefreshPlan,
  writeRefresh,
} from '../build/refresh.ts';
import type { DerivedFile } from '../build/side-products/derived-files.ts';
import { count } from '../client/format.ts';
import { hashShown } from '../record/changes.ts';
import { readManifest, writeManifest } from '../record/manifest.ts';
import { possibleLockFiles } from '../record/manifest-file.ts';
import { waitForLock, waitUntilFree } from '../record/output-lock.ts';
import type { Progress } from '../record/progress.ts';
import type { RefreshOutput } from './cli-output.ts';
import { waiting, whileAlone } from './command-lock.ts';
import type { CliContext } from './context.ts';
import { exitCodes, nameOf, shownFile } from './output.ts';
import { openProgress } from './progress.ts';
import { manifestPath, type OpenedChanges, openChanges, type ProjectOptions } from './project.ts';
import { type ChangedFiles, runWithLists } from './run-command.ts';

export interface RefreshOptions {
  dryRun?: boolean;
  skipModified?: boolean;
  /** A shell command that is run once after pages were written. */
  after?: string;
  json?: boolean;
}

interface UpdateOptions extends RefreshOptions {
  /** The most that a service which answers no one is tried, in milliseconds. */
  patience?: number | undefined;
  /** Called with how far it is. */
  progress?: Progress | undefined;
  /** Called before pages are written, or the command is run, with the files that change. */
  beforeWrite?: ((changed: ChangedFiles) => Promise<unknown>) | undefined;
  /** When it is aborted, nothing more is begun. */
  signal?: AbortSignal | undefined;
}

/** What a refresh has done, and for what. */
export interface SiteUpdate {
  written: RefreshOutput['written'];
  /**
   * What it could not update. Nothing was written, unless pages are skipped, a command was run, or a page was changed
   * while the others were written.
   */
  toBuild: PageToBuild[];
  /** What of it a command can renew. */
  stale: readonly DerivedFile[];
  /** Tells contents of the service apart: changes with each snippet of the site that is published. */
  published: string;
  /** The exit status of the command, if it was run. */
  afterStatus?: number;
}

/** The command of an earlier refresh was interrupted, or has failed. */
export const commandPending: PageToBuild = {
  name: 'The command of the last refresh --after',
  reason: 'has not succeeded yet',
};

/** `astro-snippets refresh`: updates the built site without building it again. */
export async function refresh(
  context: CliContext,
  project: ProjectOptions,
  options: RefreshOptions,
): Promise<RefreshOutput> {
  const { dryRun = false } = options;
  const progress = openProgress(context, options);
  const { diffs, ...update } = dryRun
    ? await previewRefresh(context, project, { ...options, progress })
    : { ...(await updateSite(context, project, { ...options, progress })), diffs: undefined };
  const { written, toBuild, afterStatus } = update;
  const failure = afterFailure(afterStatus);
  const next = nextStep(update, options);
  if (failure !== undefined) context.terminal.printError(`${failure}\n${next}`);
  const done = toBuild.length > 0 ? exitCodes.needsBuild : exitCodes.ok;
  return {
    version: 1,
    command: 'refresh',
    exitStatus: failure === undefined ? done : exitCodes.failed,
    dryRun,
    written,
    notWritten: toBuild,
    diffs,
    after: afterStatus === undefined ? undefined : { exitStatus: afterStatus },
    nextStep: next,
  };
}

export function refreshText(document: RefreshOutput): string {
  const { dryRun, written, notWritten, diffs = [], after, nextStep } = document;
  const isEmpty = written.length + notWritten.length === 0 && after === undefined;
  return [
    ...diffs.flatMap(({ patch, pages, ...request }) => [
      `${nameOf(request)}, on ${count(pages.length, 'page')}`,
      ...patch.trimEnd().replace(/^/gm, '    ').split('\n'),
    ]),
    ...written.map(({ file }) => (dryRun ? `${file} would be written` : `Updated ${file}`)),
    ...notWritten.map(({ name, reason }) => `${name} ${reason}`),
    ...(isEmpty ? ['Nothing has changed.'] : []),
    // Said with the failure of the command otherwise.
    ...(nextStep === undefined || after?.exitStatus ? [] : [nextStep]),
  ].join('\n');
}

function nextStep(
  { written, toBuild, stale, afterStatus }: SiteUpdate,
  { dryRun = false, skipModified = false, after }: RefreshOptions,
): string | undefined {
  if (afterStatus) {
    return 'Fix the command and refresh with --after again: it is run even if nothing else has changed.';
  }
  if (toBuild.length === 0) return undefined;
  // The others were changed by something else in the meantime, and are left alone.
  if (!dryRun && !skipModified && written.length > 0) {
    return 'The other pages are written. Build the site to update the rest.';
  }
  const nothing = `Nothing ${dryRun ? 'would be' : 'was'} written. Build the site`;
  if (after === undefined && stale.length > 0) {
    if (toBuild.length > stale.length) return `${nothing}.`;
    return `${nothing}, or refresh with a command that renews what was made from its pages: ${afterOption(stale)}`;
  }
  if (toBuild.includes(commandPending)) return `${nothing}, or refresh with the same --after again.`;
  if (skipModified) return 'Build the site to update these pages too.';
  return `${nothing}, or update the other pages with --skip-modified.`;
}

/** The option that renews these files. A placeholder stands for a command that cannot be known here. */
function afterOption(stale: readonly DerivedFile[]): string {
  const commands = stale.flatMap(({ rebuild }) => rebuild ?? []);
  const names = stale.filter(({ rebuild }) => rebuild === undefined).map(({ name }) => name);
  if (names.length > 0) commands.push(`<the command that writes ${names.join(' and ')}>`);
  return `--after '${commands.join(' && ')}'`;
}

/** That a command has failed; `undefined` if it has not. Without the command, which may contain a key. */
export function afterFailure(status: number | undefined): string | undefined {
  if (!status) return undefined;
  return `The pages are written, but the command of --after exited with status ${status}, so what was made from them may be out of date.`;
}

/**
 * Writes what has changed since the build into the pages of the project, and runs the command that
 * renews what was made from them. Waits while a build, or another refresh, writes to the same output, and while another
 * command is running.
 *
 * @throws AstroError with one report if a snippet could not be fetched. Nothing was written then.
 */
export async function updateSite(
  context: CliContext,
  project: ProjectOptions,
  options: UpdateOptions,
): Promise<SiteUpdate> {
  const { after, signal } = options;
  const file = await manifestPath(context, project);
  // A build that is running has removed the record, and writes a new one.
  for (const lock of possibleLockFiles(file)) await waitUntilFree(lock, waiting(context, signal));
  const located = { ...project, manifest: file };
  if (after === undefined) return updateRecorded(context, located, options);
  // From before the plan: what one command is renewing must not be in the plan of another refresh.
  return whileAlone(context, located, (inner) => updateRecorded(inner, located, options), signal);
}

async function updateRecorded(
  context: CliContext,
  project: ProjectOptions & { manifest: string },
  options: UpdateOptions,
): Promise<SiteUpdate> {
  const { manifest: file } = project;
  const { after, json, signal } = options;
  const readRecord = () => readFile(file, 'utf8').catch(() => '');
  for (;;) {
    const before = await readRecord();
    const changes = await openChanges(context, project, { ...options, writes: true, caches: true });
    const locked = async <T>(work: () => Promise<T>) => {
      const lock = await waitForLock(changes.lock, 'refresh', waiting(context, signal));
      return work().finally(() => lock.release());
    };
    // Another process may have written since, so the plan has to be made for that.
    const update = await locked(async () =>
      before === (await readRecord()) ? writeChanges(context, changes, options) : undefined,
    );
    if (update === undefined) continue;
    const { runsCommand, ...done } = update;
    if (after === undefined || !runsCommand) return done;
    // What an earlier command that failed was about is not on record.
    const changed = changes.manifest.pending === undefined ? done.written : undefined;
    // Without the lock of the output: the command may be a build, which takes it itself.
    const afterStatus = await runWithLists(context, after, changed, { json });
    // Until then, the next refresh runs it again.
    if (afterStatus === 0) {
      await locked(async () => {
        const { manifest } = await readManifest(file);
        if (manifest?.pending) await writeManifest(file, { ...manifest, pending: undefined });
      });
    }
    return { ...done, afterStatus };
  }
}

async function writeChanges(
  context: CliContext,
  changes: OpenedChanges,
  options: UpdateOptions,
): Promise<SiteUpdate & { runsCommand: boolean }> {
  const { manifest, warnings } = changes;
  const { skipModified = false, after, beforeWrite, progress } = options;
  const { plan, refused } = await planChanges(context, changes, options);
  const { pages, toBuild, stale } = plan;
  const update = { stale, published: changes.hashes.join() };
  if (refused.length > 0 || (toBuild.length > 0 && !skipModified)) {
    return { ...update, written: [], toBuild: [...toBuild, ...refused], runsCommand: false };
  }
  const runsCommand = pages.length > 0 || manifest.pending !== undefined;
  if (runsCommand) {
    const renewed = stale.filter(({ isCopy }) => !isCopy);
    const names = new Set([...pages.map(({ page }) => page.name), ...renewed.map(({ name }) => name)]);
    await beforeWrite?.([...names].map((name) => shownFile(manifest, name)));
  }
  let leftAlone: PageToBuild[] = [];
  if (pages.length > 0) {
    for (const warning of warnings) context.terminal.printError(warning);
    const site = { ...changes, cwd: context.cwd, progress };
    leftAlone = await writeRefresh(site, plan, after !== undefined);
  }
  const skipped = new Set(leftAlone.map(({ name }) => name));
  const written = pages.filter(({ page }) => !skipped.has(page.name));
  return {
    ...update,
    written: writtenFiles(changes, written),
    toBuild: [...toBuild, ...leftAlone],
    runsCommand,
  };
}

/** Says which files were changed, too. */
async function planChanges(
  { cwd, terminal }: CliContext,
  changes: OpenedChanges,
  { after, progress }: UpdateOptions,
): Promise<{ plan: RefreshPlan; refused: PageToBuild[] }> {
  const { manifest } = changes;
  const plan = await planRefresh({ ...changes, cwd, progress });
  if (plan.changed.length > 0) terminal.printError(describeChanged(plan.changed));
  // What is, or would be, out of date without a command that renews it.
  const outdated = plan.stale.map(({ name, reason }) => ({ name, reason }));
  const isPending = manifest.pending !== undefined && outdated.length === 0;
  return { plan, refused: after === undefined ? (isPending ? [commandPending] : outdated) : [] };
}

async function previewRefresh(
  context: CliContext,
  project: ProjectOptions,
  options: UpdateOptions,
): Promise<SiteUpdate & Pick<RefreshOutput, 'diffs'>> {
  const changes = await openChanges(context, project, { ...options, writes: true });
  const { contentDiffs } = await import('../record/content-diff.ts');
  const { manifest } = changes;
  const { plan, refused } = await planChanges(context, changes, options);
  const pages = plan.pages.map(({ page }) => page);
  return {
    written: writtenFiles(changes, plan.pages),
    diffs: contentDiffs(manifest, pages, changes).map(({ request: { id, params }, pages, patch }) => ({
      id,
      params,
      pages: pages.map((name) => shownFile(manifest, name)),
      patch,
    })),
    toBuild: [...plan.toBuild, ...refused],
    stale: plan.stale,
    published: changes.hashes.join(),
  };
}

/** What changes in files, in each of them every snippet once. */
function writtenFiles(
  { manifest, hashes }: Pick<OpenedChanges, 'manifest' | 'hashes'>,
  pages: readonly RefreshedPage[],
): RefreshOutput['written'] {
  return pages.map(({ page, changed }) => ({
    ...shownFile(manifest, page.name),
    snippets: changed.flatMap((index) => {
      const { id, params } = manifest.snippets[index] ?? {};
      const oldHash = hashShown(manifest, page, index);
      return id === undefined ? [] : [{ id, params, oldHash, newHash: hashes[index] }];
    }),
  }));
}
