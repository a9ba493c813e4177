import { appendFileSync, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { escapeText } from 'entities/escape';
import { describeChanged, lookAtOutput } from '../build/output-state.ts';
import { planRefresh, type RefreshPlan, writeRefresh } from '../build/refresh.ts';
import { cleanLines, count } from '../client/text.ts';
import { shownWarnings } from '../failures/errors.ts';
import type { RecordedImages } from '../images/site-images.ts';
import { contentRecord, hashOf, hashShown, shownOn, usesOf, writeManifest } from '../record/manifest.ts';
import { lockFile, possibleLockFiles, waitForLock, waitUntilFree } from '../record/record-files.ts';
import { cacheFolders } from '../settings/settings.ts';
import type { CheckOutput, NotWritten, RefreshOutput } from './cli-output.ts';
import { openFetcher } from './get.ts';
import {
  manifestPath,
  nameOf,
  notWrittenLines,
  openProject,
  readRecord,
  readSettings,
  shownFile,
  shownSnippet,
  snippetLines,
} from './project.ts';
import { addDue, deploy, isInside, readDeployed, runWithLists, waiting, whileAlone } from './run-command.ts';
import { type Cli, exitCodes, explain, type Result } from './terminal.ts';

export interface RefreshOptions {
  dryRun?: boolean;
  skipModified?: boolean;
  after?: string;
  /** How long to try a service that gives no answer, in milliseconds. @default the build's */
  patience?: number;
}

/** In milliseconds: to fail soon is better than to wait for a service. */
export const checkPatience = 12_000;

type OpenedChanges = Awaited<ReturnType<typeof openChanges>>;

/** Fetches all snippets, and finds what has changed. @throws AstroError if one could not be fetched. */
async function openChanges(cli: Cli, { patience, dryRun }: RefreshOptions, isRefresh: boolean) {
  const { cwd, terminal, signal } = cli;
  const progress = terminal.openProgress();
  const { file, manifest } = await openProject(cli, isRefresh);
  const { rules, snippets } = manifest;
  // Only a build has the sanitizer, which may change what images there are.
  const images = isRefresh && !rules.sanitizes ? rules.images : undefined;
  const assets = images && join(manifest.output, images.assets.folder);
  // Without these folders, the build keeps nothing there.
  const { imageFolder, answerFolder } = cacheFolders(dirname(file));
  const ifKept = (folder = '') => (existsSync(folder) ? folder : undefined);
  const settings = {
    ...(await readSettings(cli, manifest)),
    images,
    imageFolder: ifKept(imageFolder),
    // So that no later build shows older content.
    answerFolder: isRefresh && !dryRun ? ifKept(answerFolder) : undefined,
  };
  // Those of the last build whose files are there.
  const recordedImages: RecordedImages = new Map();
  for (const { url, copy } of snippets.flatMap(({ content }) => content?.images ?? [])) {
    if (!copy) recordedImages.set(url, { flaw: 'it could not be downloaded before' });
    else if (assets && existsSync(join(assets, copy.file))) recordedImages.set(url, { copy });
  }
  const shown = new Set(snippets.map(({ key, content }) => `${content?.hash} ${key}`));
  const fetcher = openFetcher(cli, settings, {
    patience,
    recordedImages,
    // A watch would write all others each time.
    isWorthKeeping: ({ key }, content) => !shown.has(`${hashOf(content)} ${key}`),
  });
  const uses = usesOf(manifest);
  const onSettled = (done: number) => progress(() => `${done} of ${count(uses.length, 'snippet')} fetched`);
  try {
    const fetched = await fetcher.fetch(uses, { signal, onSettled });
    /** As in the manifest; `undefined` for optional snippets that do not exist. */
    const now = snippets.map(({ key }) => {
      const snippet = fetched.get(key);
      return snippet && contentRecord(snippet);
    });
    const changed = shownOn(manifest, now);
    const keys = new Set(changed.map(({ recorded }) => recorded.key));
    const changedUses = uses.filter(({ request }) => keys.has(request.key));
    const warnings = shownWarnings(fetched, changedUses);
    const readImage = (name: string) => fetcher.readImage(name);
    return { cwd, file, manifest, progress, fetched, now, changed, warnings, readImage };
  } finally {
    await fetcher.close();
  }
}

const refreshPending = { name: 'The command of the last refresh --after', reason: 'has not succeeded yet' };
const deployPending = {
  name: 'The last --exec command',
  reason: 'has not succeeded, so the site is still to be deployed',
};

/** With `exec`, runs that command if something has changed, and with each check until it succeeds. */
export async function check(cli: Cli, { exec }: { exec?: string }) {
  const { terminal } = cli;
  // Inside the command of --exec, that this command has not ended is no reason to fail.
  if (!exec) return void (await showChanges(cli, isInside(cli)));
  await whileAlone(cli, async (inner) => {
    const found = await showChanges(inner, false).catch((thrown: unknown) => {
      if (explain(thrown).exitStatus !== exitCodes.needsBuild) throw thrown;
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
    await addDue(inner, isKnown ? changed.flatMap(({ pages }) => pages) : undefined);
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
  const nothing = { toBuild: [], changed: [] };
  const { toBuild, changed: modified } = output === undefined ? nothing : await lookAtOutput(manifest);
  if (modified.length > 0) terminal.printError(describeChanged(modified));
  const interrupted = manifest.files.filter(({ next }) => next);
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

export function checkText({ compared, changed, unfinished }: Result<CheckOutput>) {
  const lines = snippetLines(changed, ' no longer exists, and is optional', ' has changed');
  lines.push(...notWrittenLines(unfinished));
  if (lines.length > 0) return lines.join('\n');
  if (compared === 0) return 'The site shows no snippets.';
  return `Nothing has changed: ${count(compared, 'snippet')} ${compared === 1 ? 'matches' : 'match'} the last build.`;
}

// GitHub refuses more than 1 MiB. A character takes at most six bytes.
const maxSummary = 100_000;

/** Adds to the summary of GitHub Actions. A check does not fail if that fails. */
export function appendStepSummary({ cwd, env, terminal }: Cli, text: string) {
  const file = env['GITHUB_STEP_SUMMARY'];
  if (!file) return;
  const more = text.length > maxSummary ? '\n… The rest is in the log of this step.' : '';
  // In <pre>, nothing is Markdown. Names come from outside.
  const shown = escapeText(cleanLines(text.slice(0, maxSummary) + more));
  try {
    appendFileSync(resolve(cwd, file), `### Snippets\n\n<pre>${shown}</pre>\n\n`);
  } catch (error) {
    terminal.printError(`The step summary could not be written: ${(error as NodeJS.ErrnoException).code}`);
  }
}

export async function refresh(cli: Cli, options: RefreshOptions) {
  const { document } = await refreshSite(cli, options);
  const { dryRun, written, notWritten, diffs = [], after, nextStep = '' } = document;
  if (after?.exitStatus) cli.terminal.printError(nextStep);
  cli.terminal.show(document, () => {
    const lines = [
      ...diffs.flatMap(({ patch, pages, ...request }) => [
        `${nameOf(request)}, on ${count(pages.length, 'page')}`,
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
export async function refreshSite(cli: Cli, options: RefreshOptions) {
  // During a build, which has no record, another one would be found.
  const pinned = { ...cli, manifest: manifestPath(cli) };
  for (const lock of possibleLockFiles(pinned.manifest)) await waitUntilFree(lock, waiting(cli));
  // From before the plan: it must not have what another command is renewing.
  const isAlone = options.after && !options.dryRun;
  return isAlone ? whileAlone(pinned, (inner) => update(inner, options)) : update(pinned, options);
}

type Refreshed = { document: Result<RefreshOutput>; published: string };

async function update(cli: Cli, options: RefreshOptions): Promise<Refreshed> {
  const { after, dryRun } = options;
  const file = manifestPath(cli);
  const readText = () => readFile(file, 'utf8').catch(() => '');
  const before = await readText();
  const changes = await openChanges(cli, options, true);
  const { manifest, now } = changes;
  const outputLock = lockFile(file, manifest.outDir);
  const locked = async <T>(work: () => Promise<T>) => {
    const lock = dryRun ? undefined : await waitForLock(outputLock, 'refresh', waiting(cli));
    return work().finally(() => lock?.release());
  };
  // Another process may have written since, and needs another plan.
  const written = await locked(async () =>
    before === (await readText()) ? writeChanges(cli, changes, options) : undefined,
  );
  if (!written) return update(cli, options);
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
  const plan = await planRefresh(changes);
  const { stale, toBuild, changed: modified } = plan;
  if (modified.length > 0) cli.terminal.printError(describeChanged(modified));
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
    if (await readDeployed(file)) await addDue(cli, renewed);
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
          const oldHash = hashShown(manifest, page, index);
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
  const shown = shownOn({ ...manifest, files, collections: [] }, now);
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
