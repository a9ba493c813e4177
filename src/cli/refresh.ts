import { readFile } from 'node:fs/promises';
import { describeChanged } from '../build/output-state.ts';
import { type PageToBuild, planRefresh, type RefreshPlan, writeRefresh } from '../build/refresh.ts';
import type { DerivedFile } from '../build/side-products/derived-files.ts';
import type { ContentDiff } from '../record/content-diff.ts';
import { type Manifest, readManifest, writeManifest } from '../record/manifest.ts';
import { commandLockFile, possibleLockFiles } from '../record/manifest-file.ts';
import { waitUntilFree } from '../record/output-lock.ts';
import type { Progress } from '../record/progress.ts';
import { commandPending, linesOf } from './after-command.ts';
import { type ChangedFiles, runWithLists } from './changed-files.ts';
import { waiting, whileLocked } from './command-lock.ts';
import type { CliContext } from './context.ts';
import { openProgress } from './progress.ts';
import {
  manifestPath,
  type OpenedChanges,
  openChanges,
  openProject,
  type ProjectOptions,
} from './project.ts';
import { reportRefresh } from './refresh-output.ts';
import { shownFile, type WrittenFile, writtenFiles } from './shown-files.ts';

export interface RefreshOptions {
  dryRun?: boolean;
  skipModified?: boolean;
  /** A shell command that is run once after pages were written. */
  after?: string;
  json?: boolean;
}

interface UpdateOptions extends Pick<RefreshOptions, 'skipModified' | 'after' | 'json'> {
  /** The most that a service which answers no one is tried, in milliseconds. */
  patience?: number | undefined;
  /** Called with how far it is. */
  progress?: Progress | undefined;
  /** Called before pages are written, or the command is run, with the files that change. */
  beforeWrite?: ((changed: ChangedFiles) => Promise<unknown>) | undefined;
}

export interface RefreshResult {
  /** The pages that were written. */
  written: string[];
  /** What changed in each of them. */
  files?: readonly WrittenFile[];
  /** How the text of pages would change, if that is all there is to say. */
  diffs?: readonly ContentDiff[];
  /**
   * What a refresh could not update. Nothing was written, unless pages are skipped, a command was run, or a page was
   * changed while the others were written.
   */
  toBuild: PageToBuild[];
  /** What of it a command can renew. */
  stale?: readonly DerivedFile[];
  /** The exit status of the command, if it was run. */
  afterStatus?: number;
}

/** What a refresh has done, and for what. */
export interface SiteUpdate extends RefreshResult {
  /** Tells contents of the service apart: changes with each snippet of the site that is published. */
  published: string;
  /** Whether a command of `--after` still has to succeed. */
  isUnfinished: boolean;
}

/** `astro-snippets refresh`: updates the built site without building it again. */
export async function refresh(
  context: CliContext,
  project: ProjectOptions,
  options: RefreshOptions,
): Promise<number> {
  const progress = openProgress(context, options);
  const result = options.dryRun
    ? await previewRefresh(context, project, options, progress)
    : await updateSite(context, project, { ...options, progress });
  return reportRefresh(context.terminal, result, options);
}

/**
 * Writes what has changed since the build into the pages of the project, and runs the command that
 * renews what was made from them. Waits while a build, or another refresh, writes to the same output, and while another
 * such command is running.
 *
 * @throws AstroError with one report if a snippet could not be fetched. Nothing was written then.
 */
export async function updateSite(
  context: CliContext,
  project: ProjectOptions,
  options: UpdateOptions,
  signal?: AbortSignal,
): Promise<SiteUpdate> {
  const file = await manifestPath(context, project);
  // A build that is running has removed the record, and writes a new one.
  for (const lock of possibleLockFiles(file)) await waitUntilFree(lock, waiting(context, signal));
  const located = { ...project, manifest: file };
  const update = () => updateRecorded(context, located, options, signal);
  if (options.after === undefined) return update();
  // From before the plan: what one command is renewing must not be in the plan of another refresh.
  const { lock } = await openProject(context, located, { writes: true });
  return whileLocked(context, commandLockFile(lock), update, signal);
}

async function updateRecorded(
  context: CliContext,
  project: ProjectOptions & { manifest: string },
  options: UpdateOptions,
  signal: AbortSignal | undefined,
): Promise<SiteUpdate> {
  const { manifest: file } = project;
  const { after, json = false, patience, progress } = options;
  for (;;) {
    const record = await readRecord(file);
    const changes = await openChanges(context, project, {
      signal,
      patience,
      progress,
      writes: true,
      caches: true,
    });
    const locked = <T>(work: () => Promise<T>) => whileLocked(context, changes.lock, work, signal);
    const done = await locked(async () => {
      // Another process has written since, so the plan has to be made for that.
      if (!isSame(record, await readRecord(file))) return undefined;
      const { runsCommand, ...update } = await writeChanges(context, changes, options);
      return { update, record: after !== undefined && runsCommand ? await readRecord(file) : undefined };
    });
    if (done === undefined) continue;
    const { update, record: written } = done;
    if (after === undefined || written === undefined) return update;
    // Without the lock of the output: the command may be a build, which takes it itself, and whose record is left as it
    // is.
    // What an earlier command that failed was about is not on record.
    const changed = changes.manifest.pending === undefined ? update.files : undefined;
    const afterStatus = await runWithLists(context, after, changed, { stdout: json ? 'stderr' : 'stdout' });
    if (afterStatus === 0) {
      await locked(async () => {
        if (isSame(written, await readRecord(file))) await settle(file);
      });
    }
    return { ...update, isUnfinished: afterStatus !== 0, afterStatus };
  }
}

/** Records that the command has succeeded. Until then, the next refresh runs it again. */
async function settle(file: string): Promise<void> {
  const { manifest } = await readManifest(file);
  if (manifest !== undefined) await writeManifest(file, { ...manifest, pending: undefined });
}

function readRecord(file: string): Promise<Buffer | undefined> {
  return readFile(file).catch(() => undefined);
}

function isSame(before: Buffer | undefined, now: Buffer | undefined): boolean {
  return before !== undefined && now?.equals(before) === true;
}

async function writeChanges(
  context: CliContext,
  changes: OpenedChanges,
  { skipModified = false, after, beforeWrite, progress }: UpdateOptions,
): Promise<SiteUpdate & { runsCommand: boolean }> {
  const { manifest, warnings } = changes;
  const plan = await planChanges(context, changes, progress);
  const { pages, toBuild, stale } = plan;
  const published = changes.hashes.join();
  const refused = [...toBuild, ...(after === undefined ? refusalsOf(plan, manifest) : [])];
  if (refused.length > toBuild.length || (toBuild.length > 0 && !skipModified)) {
    const isUnfinished = manifest.pending !== undefined;
    return { written: [], toBuild: refused, stale, published, isUnfinished, runsCommand: false };
  }
  const runsCommand = pages.length > 0 || manifest.pending !== undefined;
  if (runsCommand) {
    const renewed = stale.filter(({ folder }) => !folder.isCopy);
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
  const renewed = pages.filter(({ page }) => !skipped.has(page.name));
  return {
    written: renewed.map(({ page }) => page.name),
    files: writtenFiles(changes, renewed),
    toBuild: [...toBuild, ...leftAlone],
    stale,
    published,
    isUnfinished: false,
    runsCommand,
  };
}

/** Says which files were changed, too. */
async function planChanges(
  { cwd, terminal }: CliContext,
  changes: OpenedChanges,
  progress: Progress | undefined,
): Promise<RefreshPlan> {
  const plan = await planRefresh({ ...changes, cwd, progress });
  if (plan.changed.length > 0) terminal.printError(describeChanged(plan.changed));
  return plan;
}

/** What is, or would be, out of date without a command that renews it. */
function refusalsOf({ stale }: RefreshPlan, { pending }: Manifest): PageToBuild[] {
  return pending !== undefined && stale.length === 0 ? [commandPending] : linesOf(stale);
}

async function previewRefresh(
  context: CliContext,
  project: ProjectOptions,
  { after }: RefreshOptions,
  progress: Progress,
): Promise<RefreshResult> {
  const changes = await openChanges(context, project, { progress, writes: true });
  const { manifest } = changes;
  const { contentDiffs } = await import('../record/content-diff.ts');
  const plan = await planChanges(context, changes, progress);
  const pages = plan.pages.map(({ page }) => page);
  const refusals = after === undefined ? refusalsOf(plan, manifest) : [];
  return {
    written: pages.map(({ name }) => name),
    files: writtenFiles(changes, plan.pages),
    diffs: contentDiffs(manifest, pages, changes),
    toBuild: [...plan.toBuild, ...refusals],
    stale: plan.stale,
  };
}
